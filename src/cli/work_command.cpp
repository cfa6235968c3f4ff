// lectern work: a worker, and its figures where they are wanted.
#include <memory>
#include <vector>

#include "base/run_all.h"
#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/job_process.h"
#include "cli/metrics_port.h"
#include "cli/page_worker.h"
#include "cli/renderer_check.h"
#include "cli/web_setup.h"
#include "service/queue_watch.h"
#include "telemetry/metrics.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> work(PageWorker* worker, JobProcess* process, Cancellation over) {
  co_await worker->run(process->stop(), process->stop_now());
  over.request();
}

asio::awaitable<std::string> figures(PageWorker* worker, service::QueueWatch* watch) {
  co_await watch->look();
  telemetry::MetricsText text;
  watch->write(text);
  text.raw(worker->metrics());
  co_return text.take();
}

asio::awaitable<bool> work_and_tell(PageWorker* worker, JobProcess* process, MetricsPort* metrics) {
  Cancellation over;
  std::vector<asio::awaitable<void>> all;
  all.push_back(work(worker, process, over));
  if (metrics != nullptr) all.push_back(metrics->run(over));
  co_await run_all(std::move(all), [over]() mutable { over.request(); });
  co_return true;
}

}  // namespace

int work_command(const CommandLine&, const Config& config) {
  // A worker that can open nothing is not let near the jobs of others.
  if (auto sound = check_renderer(config); !sound) return fail_early(sound.error());
  JobProcess process(config);
  if (auto opened = process.open(work_grace(config)); !opened) return fail_early(opened.error());
  const auto deliverer = make_deliverer(config, process.http(), process.timers().clock());
  if (!deliverer) return fail_early(deliverer.error());
  const auto worker = PageWorker::create(worker_parts(process, config, deliverer->get()));
  if (!worker) return fail_early(worker.error());
  service::QueueWatch watch(process.store(), process.timers().clock());
  std::unique_ptr<MetricsPort> metrics;
  if (config.is_set("work.metrics_port")) {
    auto where =
        metrics_address(config.text("work.metrics_address"), static_cast<int>(config.integer("work.metrics_port")));
    if (!where) return fail_early(where.error());
    metrics = std::make_unique<MetricsPort>(
        std::move(*where), [&] { return figures(worker->get(), &watch); }, process.timers(), process.random());
    if (auto opened = metrics->open(); !opened) return fail_early(opened.error());
  }
  fmt::print("lectern work: {} works for {} and {}{}\n", (*worker)->name(), process.store().description(),
             process.blobs().description(), metrics ? ", figures at " + metrics->url() : "");
  std::fflush(stdout);
  run_on(process.loop(), work_and_tell(worker->get(), &process, metrics.get()));
  process.ignore_signals();
  return exit_all_read;
}

}  // namespace lectern::cli
