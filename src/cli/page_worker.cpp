#include "cli/page_worker.h"

#include <malloc.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/disk.h"
#include "base/run_all.h"
#include "cli/job_readers.h"
#include "cli/model_settings.h"
#include "cli/run_setup.h"
#include "document/renderer_pool.h"
#include "job/handlers/assemble_handler.h"
#include "job/handlers/job_documents.h"
#include "job/handlers/read_handler.h"
#include "job/handlers/split_handler.h"
#include "job/ids.h"
#include "telemetry/metrics.h"
#include "vision/ocr.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
using job::StepKind;

constexpr std::chrono::seconds tidy_interval{5};

}  // namespace

std::chrono::milliseconds work_grace(const Config& config) {
  return std::chrono::milliseconds(std::llround(config.number("work.grace_s") * 1000));
}

struct PageWorker::Impl {
  Impl(PageWorkerParts p, std::optional<ModelSettings> models)
      : parts(std::move(p)),
        threads(cpu_threads(parts.config, models.has_value())),
        cpu(threads),
        readers({.executor = parts.executor,
                 .config = parts.config,
                 .cpu = cpu,
                 .timers = parts.timers,
                 .models = std::move(models)}),
        documents(parts.blobs, parts.timers,
                  [this](UniqueFd fd, std::string called, std::string password) {
                    return pool().open(std::move(fd), std::move(called), std::move(password));
                  },
                  {.scratch = parts.scratch}),
        images(parts.blobs, documents, cpu),
        split(job::make_split_handler({.blobs = parts.blobs,
                                       .documents = documents,
                                       .readers = readers,
                                       .cpu = cpu,
                                       .scratch = parts.scratch,
                                       .pages_max = static_cast<int>(parts.config.integer("read.pages_max"))})),
        read(job::make_read_handler({.blobs = parts.blobs,
                                     .documents = documents,
                                     .readers = readers,
                                     .cpu = cpu,
                                     .clock = parts.timers.clock()})),
        assemble(job::make_assemble_handler({.store = parts.store,
                                             .blobs = parts.blobs,
                                             .cpu = cpu,
                                             .disk = real_disk(),
                                             .clock = parts.timers.clock(),
                                             .scratch = parts.scratch})),
        name(job::new_worker_name(parts.random)) {}

  document::RendererPool& pool() {
    if (!renderers) renderers.emplace(parts.executor, renderer_options(parts.config, threads));
    return *renderers;
  }
  void tidy();
  asio::awaitable<void> tidy_now_and_then(Cancellation over);
  asio::awaitable<void> work(Cancellation stop, Cancellation stop_now, Cancellation over);

  const PageWorkerParts parts;
  const int threads;
  CpuPool cpu;
  std::optional<document::RendererPool> renderers;  // processes: none while there is nothing to do
  JobReaders readers;
  job::JobDocuments documents;
  job::PageImages images;
  const std::unique_ptr<job::Handler> split;
  const std::unique_ptr<job::Handler> read;
  const std::unique_ptr<job::Handler> assemble;
  const std::string name;
  std::unique_ptr<job::Worker> worker;
};

PageWorker::PageWorker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageWorker::~PageWorker() = default;

Result<std::unique_ptr<PageWorker>> PageWorker::create(PageWorkerParts parts) {
  auto models = model_settings(parts.config, process_environment());
  if (!models) return std::unexpected(models.error());
  return std::unique_ptr<PageWorker>(new PageWorker(std::make_unique<Impl>(std::move(parts), std::move(*models))));
}

asio::awaitable<void> PageWorker::run(Cancellation stop, Cancellation stop_now) {
  Cancellation over;
  std::vector<asio::awaitable<void>> all;
  all.push_back(impl_->work(std::move(stop), std::move(stop_now), over));
  all.push_back(impl_->tidy_now_and_then(over));
  co_await run_all(std::move(all), [over]() mutable { over.request(); });
}

asio::awaitable<void> PageWorker::Impl::work(Cancellation stop, Cancellation stop_now, Cancellation over) {
  job::WorkerOptions options{
      .name = name,
      .handlers = {{StepKind::split, split.get()}, {StepKind::read, read.get()}, {StepKind::assemble, assemble.get()}},
      .room = [this] { return readers.room(); },
      .timers = &parts.timers,
      .random = &parts.random,
      .stop = std::move(stop),
      .grace = work_grace(parts.config),
      .stop_now = std::move(stop_now)};
  if (parts.deliver != nullptr) options.handlers[StepKind::deliver] = parts.deliver;
  worker = std::make_unique<job::Worker>(parts.store, std::move(options));
  co_await worker->run();
  over.request();
}

asio::awaitable<void> PageWorker::Impl::tidy_now_and_then(Cancellation over) {
  while (!over.requested()) {
    co_await parts.timers.wait_for(tidy_interval, over);
    tidy();
  }
}

void PageWorker::Impl::tidy() {
  const bool had_something = renderers || !readers.empty();
  documents.close_idle();
  readers.close_idle();
  const bool idle = documents.empty() && readers.empty() && (!worker || worker->figures().in_hand == 0);
  if (!idle || !had_something) return;
  renderers.reset();
  vision::forget_dictionaries();
  ::malloc_trim(0);  // what pages needed is kept between pages, not between working days
}

const std::string& PageWorker::name() const {
  return impl_->name;
}

job::PageImages& PageWorker::images() {
  return impl_->images;
}

void PageWorker::close_idle() {
  impl_->tidy();
}

std::string PageWorker::metrics() const {
  const job::WorkerFigures figures = impl_->worker ? impl_->worker->figures() : job::WorkerFigures{};
  const ModelLoad load = impl_->readers.load();
  telemetry::MetricsText text;
  const auto counter = [&text](std::string_view metric, std::string_view help, double value) {
    text.family(metric, help, "counter");
    text.value(metric, {}, value);
  };
  counter("lectern_worker_claimed_total", "Tasks that were leased", static_cast<double>(figures.claimed));
  counter("lectern_worker_committed_total", "Outcomes that were accepted", static_cast<double>(figures.committed));
  counter("lectern_worker_late_total", "Outcomes that were refused: somebody else had the task",
          static_cast<double>(figures.late));
  counter("lectern_worker_cancelled_total", "Outcomes that were refused: the job was cancelled",
          static_cast<double>(figures.cancelled));
  counter("lectern_worker_lost_total", "Leases that could not be renewed", static_cast<double>(figures.lost));
  text.gauge("lectern_worker_tasks_in_hand", "Tasks being worked on", figures.in_hand);
  text.gauge("lectern_worker_room", "Tasks that may be in hand", impl_->readers.room());
  text.gauge("lectern_model_requests_in_flight", "Questions at the engines", load.in_flight);
  text.gauge("lectern_model_requests_limit", "Questions that may be at the engines", load.limit);
  text.gauge("lectern_model_requests_waiting", "Questions that wait for an engine", load.waiting);
  counter("lectern_model_retries_total", "Questions asked again", static_cast<double>(load.retries));
  text.family("lectern_model_tokens_total", "Tokens of prompts and answers", "counter");
  text.value("lectern_model_tokens_total", {{"kind", "prompt"}}, static_cast<double>(load.prompt_tokens));
  text.value("lectern_model_tokens_total", {{"kind", "completion"}}, static_cast<double>(load.completion_tokens));
  text.family("lectern_engine_up", "Whether an engine answers", "gauge");
  std::map<std::string, bool> up;  // an engine may serve several models
  for (const EngineLoad& engine : load.engines) up[engine.name] = !engine.away;
  for (const auto& [engine, answers] : up) text.value("lectern_engine_up", {{"engine", engine}}, answers ? 1 : 0);
  return text.take();
}

}  // namespace lectern::cli
