// lectern read and lectern ocr: wires inputs, reader, renderers, signals and progress together.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <optional>

#include "base/async.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/run_setup.h"
#include "cli/standard_output.h"
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

// The first signal asks the run to stop, the second ends the process where it stands.
class StopSignals {
 public:
  StopSignals(asio::io_context& loop, Cancellation cancellation, Progress& progress, bool resumable)
      : signals_(loop, SIGINT, SIGTERM) {
    signals_.async_wait(
        [this, cancellation, &progress, resumable](const boost::system::error_code& error, int) mutable {
          if (error) return;
          progress.stopping(resumable);
          cancellation.request();
          signals_.async_wait([](const boost::system::error_code& second, int) {
            if (!second) ::_exit(exit_stopped);
          });
        });
  }
  // The loop ends only when nothing waits any more.
  void ignore() { signals_.cancel(); }

 private:
  asio::signal_set signals_;
};

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

// Runs the event loop until the run is over.
Result<reading::RunReport> run_to_end(asio::io_context& loop, StopSignals& signals, reading::RunServices services,
                                      reading::RunOptions options) {
  Result<reading::RunReport> result;
  std::exception_ptr failure;
  asio::co_spawn(loop, reading::read_documents(std::move(services), std::move(options)),
                 [&](std::exception_ptr error, Result<reading::RunReport> report) {
                   failure = error;
                   result = std::move(report);
                   signals.ignore();
                   loop.stop();
                 });
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace

int read_command(const CommandLine& line, const Config& config) {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of write(), not the end of us
  const bool kept = !line.output_folder.empty();
  const auto progress = make_progress({.style = progress_style(line), .kept = kept}, system_clock(), stderr);
  reading::PageSelection pages;
  if (!line.pages.empty()) {
    auto parsed = reading::PageSelection::parse(line.pages);
    if (!parsed) {
      progress->error(fmt::format("--pages: {}", parsed.error().for_caller));
      return exit_usage;
    }
    pages = std::move(*parsed);
  }

  CpuPool cpu(parallel_pages(config));
  auto reader = reading::make_builtin_reader(reader_options(config, line.command == Command::ocr), cpu);
  if (!reader) return fail_early(*progress, reader.error());
  auto inputs = collect_inputs({.arguments = line.inputs, .temporary_folder = config.text("read.temporary_folder")});
  if (!inputs) return fail_early(*progress, inputs.error());

  const auto problems = inputs->problems.size();
  progress->run_started(static_cast<int>(inputs->documents.size() + problems));
  for (const InputProblem& problem : inputs->problems) progress->problem(problem.name, problem.reason);

  asio::io_context loop(1);
  reading::RunOptions options = run_options(line, config, *inputs);
  options.pages = std::move(pages);
  const Cancellation cancellation = options.cancellation;
  StandardOutput output(STDOUT_FILENO, cancellation);
  document::RendererPool renderers(loop.get_executor(), renderer_options(config));
  StopSignals signals(loop, cancellation, *progress, kept);
  const auto report = run_to_end(
      loop, signals,
      {.open = [&renderers](auto file, auto password) { return renderers.open(std::move(file), std::move(password)); },
       .reader = **reader,
       .cpu = cpu,
       .disk = real_disk(),
       .clock = system_clock(),
       .observer = *progress,
       .output = [&output](std::string_view bytes) { return output.write(bytes); }},
      std::move(options));
  if (!report) {
    if (output.closed()) return exit_output_closed;
    progress->error(report.error().for_caller);
    return exit_run_ended;
  }
  const int code = exit_code(*report, problems);
  progress->run_done(*report, static_cast<int>(problems), code);
  return code;
}

}  // namespace lectern::cli
