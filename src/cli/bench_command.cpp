// lectern bench: drives an engine, or the simulated one, with real pages, and prints what it found.
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <signal.h>

#include <optional>

#include "base/async.h"
#include "cli/bench_run.h"
#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/inputs.h"
#include "cli/run_setup.h"
#include "cli/sim_process.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr int pages_default = 200;
constexpr int tiny_default = 5000;

struct Driven {
  ModelSettings settings;
  std::optional<SimProcess> sim;
};

// The configured engine, or a simulated one of our own.
Result<Driven> driven_engine(const CommandLine& line, const Config& config) {
  auto settings = model_settings(config, process_environment());
  if (!settings) return std::unexpected(settings.error());
  Driven driven;
  if (*settings) {
    driven.settings = std::move(**settings);
  } else {
    auto sim = SimProcess::start({"--slots", fmt::format("{}", line.bench.slots), "--latency",
                                  line.bench.tiny ? "fixed:0s" : line.bench.latency});
    if (!sim) return std::unexpected(sim.error());
    driven.settings.first.engines = {{.address = sim->address()}};
    driven.sim.emplace(std::move(*sim));
  }
  driven.settings.builtin_fallback = false;  // a page that the engine did not read has failed
  return driven;
}

Result<std::vector<BenchPage>> open_pages(const CommandLine& line, const Config& config, asio::io_context& loop,
                                          document::RendererPool& renderers) {
  std::vector<BenchPage> pages;
  if (line.bench.tiny) return pages;
  const std::vector<std::string> arguments = line.inputs.empty() ? std::vector<std::string>{"samples"} : line.inputs;
  auto inputs = collect_inputs({.arguments = arguments, .temporary_folder = config.text("read.temporary_folder")});
  if (!inputs) return std::unexpected(inputs.error());
  for (const InputProblem& problem : inputs->problems) {
    return fail(ErrorKind::invalid_input, "{}: {}{}", problem.name, problem.reason,
                line.inputs.empty() ? "; name some documents, or use --tiny" : "");
  }
  for (const reading::RunDocument& document : inputs->documents) {
    auto opened = run_on(loop, renderers.open(document.file, config.text("read.password")));
    if (!opened) {
      fmt::print(stderr, "lectern: {}; left out\n", opened.error().for_caller);
      continue;
    }
    for (int page = 1; page <= (*opened)->info().pages; ++page) pages.push_back({*opened, page});
  }
  if (pages.empty()) return fail(ErrorKind::invalid_input, "there is no page to ask about");
  return pages;
}

int complain(const Error& error) {
  fmt::print(stderr, "lectern: {}\n", error.for_caller);
  if (error.kind == ErrorKind::cancelled) return exit_stopped;
  return error.kind == ErrorKind::invalid_input || error.kind == ErrorKind::not_found ? exit_usage : exit_run_ended;
}

// A row takes a while: each is shown when it is there.
void show(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

ModelSetupOptions setup_options(const Config& config, const Driven& driven, Cancellation cancellation) {
  return {.settings = driven.settings,
          .auto_rotate = config.boolean("read.auto_rotate"),
          .languages = config.text("read.lang"),
          .tessdata_folder = config.text("read.tessdata"),
          .cancellation = std::move(cancellation),
          .warn = [](const std::string& text) { fmt::print(stderr, "lectern: {}\n", text); }};
}

}  // namespace

int bench_command(const CommandLine& line, const Config& config) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto parallel = parse_parallel_list(line.bench.parallel);
  if (!parallel) return complain(parallel.error());
  auto driven = driven_engine(line, config);
  if (!driven) return complain(driven.error());

  asio::io_context loop(1);
  CpuPool cpu(parallel_pages(config));
  document::RendererPool renderers(loop.get_executor(), renderer_options(config, parallel_pages(config)));
  Cancellation cancellation;
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([cancellation](const boost::system::error_code& error, int) mutable {
    if (!error) cancellation.request();
  });
  const auto pages = open_pages(line, config, loop, renderers);
  if (!pages) return complain(pages.error());

  std::vector<BenchRow> rows;
  if (!line.json) show(bench_head(line.bench.tiny));
  for (const int value : *parallel) {
    BenchJob job{.models = setup_options(config, *driven, cancellation),
                 .pages = *pages,
                 .requests = line.bench.requests > 0 ? line.bench.requests
                             : line.bench.tiny       ? tiny_default
                                                     : pages_default};
    job.models.settings.parallel = value;
    if (driven->sim) {
      job.slots = line.bench.slots;
      job.not_our_doing = {driven->sim->pid()};
    }
    auto row = run_on(loop, run_bench(std::move(job), &cpu));
    if (!row) return complain(row.error());
    rows.push_back(std::move(*row));
    if (!line.json) show(bench_line(rows.back()));
  }
  if (line.json) show(bench_json(rows, line.bench.tiny));
  const bool all_failed = std::ranges::all_of(rows, [](const BenchRow& row) { return row.failed == row.requests; });
  return all_failed ? exit_none_read : exit_all_read;
}

}  // namespace lectern::cli
