// lectern read and lectern ocr: wires inputs, reader, renderers, signals and progress together.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/async.h"
#include "base/timers.h"
#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/inputs.h"
#include "cli/model_setup.h"
#include "cli/progress.h"
#include "cli/renderer_check.h"
#include "cli/run_setup.h"
#include "cli/standard_output.h"
#include "cli/stop_signals.h"
#include "document/renderer_pool.h"
#include "reading/output_format.h"
#include "reading/read_run.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr int pages_in_flight_extra = 2;  // one being prepared and one being journalled beside those being read

ProgressStyle progress_style(const CommandLine& line) {
  if (line.json) return ProgressStyle::json;
  if (line.quiet) return ProgressStyle::quiet;
  return ::isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
}

int exit_code(const reading::RunReport& report, std::size_t problems) {
  if (report.stopped) return report.budget_spent ? exit_budget_spent : exit_stopped;
  if (report.pages_ok + report.pages_fallback == 0) return exit_none_read;
  return report.pages_failed > 0 || report.documents_failed > 0 || problems > 0 ? exit_some_failed : exit_all_read;
}

reading::RunOptions run_options(const CommandLine& line, const Config& config, Inputs& inputs) {
  reading::RunOptions options;
  options.documents = std::move(inputs.documents);
  options.output_folder = line.output_folder;
  options.temporary_folder = config.text("read.temporary_folder");
  options.format = *reading::format_from_name(config.text("read.format"));  // the table of settings allows no other
  options.password = config.text("read.password");
  options.stream = line.stream;
  options.retry_failed = line.retry_failed;
  options.from_scratch = line.no_cache;
  options.pages_max = static_cast<int>(config.integer("read.pages_max"));
  options.pages_in_flight_max = parallel_pages(config) == 1 ? 1 : parallel_pages(config) + pages_in_flight_extra;
  return options;
}

int fail_early(Progress& progress, const Error& error) {
  progress.error(error.for_caller);
  // A language that is not installed was asked for, too.
  const bool usage = error.kind == ErrorKind::invalid_input || error.kind == ErrorKind::not_found;
  return usage ? exit_usage : exit_run_ended;
}

// Shows how busy the models are, a few times a second.
asio::awaitable<void> watch_load(const ModelSetup* setup, Progress* progress, Cancellation over) {
  constexpr std::chrono::milliseconds interval{250};
  SystemTimers timers;
  while (!over.requested()) {
    progress->load(setup->load());
    co_await timers.wait_for(interval, over);
  }
}

asio::awaitable<Result<reading::RunReport>> read_and_watch(reading::RunServices services, reading::RunOptions options,
                                                           const ModelSetup* models, Progress* progress) {
  Cancellation over;
  if (models != nullptr) {
    asio::co_spawn(co_await asio::this_coro::executor, watch_load(models, progress, over), asio::detached);
  }
  auto report = co_await reading::read_documents(std::move(services), std::move(options));
  if (models != nullptr) progress->load(models->load());
  over.request();
  co_return report;
}

Result<reading::PageSelection> selected_pages(const CommandLine& line) {
  if (line.pages.empty()) return reading::PageSelection();
  auto pages = reading::PageSelection::parse(line.pages);
  if (!pages) return fail(ErrorKind::invalid_input, "--pages: {}", pages.error().for_caller);
  return pages;
}

ModelSetupOptions model_options(const CommandLine& line, const Config& config, ModelSettings settings) {
  ModelSetupOptions options{.settings = std::move(settings),
                            .auto_rotate = config.boolean("read.auto_rotate"),
                            .languages = config.text("read.lang"),
                            .tessdata_folder = config.text("read.tessdata")};
  options.cache_folder = reply_folder(options.settings, line.output_folder, line.no_cache);
  options.models_file = known_models_file(line.output_folder);
  return options;
}

// A refusal of the models ends the run, but what was read by then is kept.
int end_refused(Progress& progress, const Error& error, bool kept) {
  progress.error(fmt::format("{}{}", error.for_caller,
                             kept ? "; what was read is kept, and the same command goes on from there" : ""));
  return exit_run_ended;
}

}  // namespace

int read_command(const CommandLine& line, const Config& config) {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of write(), not the end of us
  const bool kept = !line.output_folder.empty();
  auto models = line.command == Command::ocr ? std::nullopt : model_settings(config, process_environment());
  const bool with_models = models && *models;
  const auto progress =
      make_progress({.style = progress_style(line), .kept = kept, .models = with_models}, system_clock(), stderr);
  if (!models) return fail_early(*progress, models.error());
  auto pages = selected_pages(line);
  if (!pages) return fail_early(*progress, pages.error());

  const int threads = cpu_threads(config, with_models);
  CpuPool cpu(threads);
  std::unique_ptr<reading::PageReader> builtin;
  if (!with_models || (*models)->builtin_fallback) {
    auto made = reading::make_builtin_reader(reader_options(config, line.command == Command::ocr), cpu);
    if (!made) return fail_early(*progress, made.error());
    builtin = std::move(*made);
  }
  auto inputs = collect_inputs({.arguments = line.inputs, .temporary_folder = config.text("read.temporary_folder")});
  if (!inputs) return fail_early(*progress, inputs.error());

  asio::io_context loop(1);
  reading::RunOptions options = run_options(line, config, *inputs);
  options.pages = std::move(*pages);
  const Cancellation cancellation = options.cancellation;
  StandardOutput output(STDOUT_FILENO, cancellation);
  document::RendererPool renderers(loop.get_executor(), renderer_options(config, threads));
  // The first signal asks the run to stop, the second ends the process where it stands.
  StopSignals signals(loop, [&progress, kept, stop = cancellation](int count) mutable {
    if (count > 1) ::_exit(exit_stopped);
    progress->stopping(kept);
    stop.request();
  });
  // It is ready for the first document then: nothing is started twice.
  if (auto sound = run_on(loop, renderers.check()); !sound) {
    return fail_early(*progress, broken_installation(sound.error()));
  }
  std::unique_ptr<ModelSetup> setup;
  if (with_models) {
    options.budget = (*models)->budget;
    ModelSetupOptions wanted = model_options(line, config, std::move(**models));
    wanted.builtin = builtin.get();
    wanted.cancellation = cancellation;
    wanted.warn = [&progress](const std::string& text) { progress->warning(text); };
    setup = std::make_unique<ModelSetup>(loop.get_executor(), cpu, std::move(wanted));
    const Status connected = run_on(loop, setup->connect());
    if (cancellation.requested()) return exit_stopped;
    if (!connected) return fail_early(*progress, connected.error());
    options.unsure = setup->unsure();
    options.pages_in_flight_max = setup->pages_in_flight_max();
    options.pages_in_flight = [&setup] { return setup->pages_in_flight(); };
  }

  const auto problems = inputs->problems.size();
  progress->run_started(static_cast<int>(options.documents.size() + problems));
  for (const InputProblem& one : inputs->passed_over) {
    progress->warning(fmt::format("{} {}; it was passed over", one.name, one.reason));
  }
  for (const InputProblem& problem : inputs->problems) progress->problem(problem.name, problem.reason);
  reading::RunServices services{
      .open = [&renderers](auto file, auto password) { return renderers.open(std::move(file), std::move(password)); },
      .reader = setup ? setup->reader() : *builtin,
      .cpu = cpu,
      .disk = real_disk(),
      .clock = system_clock(),
      .observer = *progress,
      .output = [&output](std::string_view bytes) { return output.write(bytes); }};
  if (setup) services.spent = [&setup] { return setup->spent(); };
  const auto report =
      run_on(loop, read_and_watch(std::move(services), std::move(options), setup.get(), progress.get()));
  signals.ignore();
  if (!report) {
    if (output.closed()) return exit_output_closed;
    progress->error(report.error().for_caller);
    return exit_run_ended;
  }
  if (setup && setup->refused()) return end_refused(*progress, *setup->refused(), kept);
  const int code = exit_code(*report, problems);
  progress->run_done(*report, static_cast<int>(problems), code);
  return code;
}

}  // namespace lectern::cli
