// lectern jobs: list, show, watch, retry, cancel.
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>

#include "base/timers.h"
#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/job_process.h"
#include "cli/job_setup.h"
#include "cli/jobs_desk.h"
#include "cli/jobs_table.h"
#include "cli/stop_signals.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds look_interval{1'000};
constexpr int plain_width = 160;
constexpr int watched_max = 200;

int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : plain_width;
}
int terminal_height() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 2 ? size.ws_row : 24;
}

class JobsRun {
 public:
  JobsRun(const CommandLine& line, JobsDesk& desk, Timers& timers) : line_(line), desk_(desk), timers_(timers) {}

  asio::awaitable<Result<int>> list() {
    JobsWanted wanted = filter();
    wanted.limit = line_.jobs.limit;
    auto json = co_await desk_.list(std::move(wanted));
    if (!json) co_return std::unexpected(json.error());
    if (line_.json) {
      fmt::print("{}\n", *json);
      co_return exit_all_read;
    }
    const auto page = job_page(*json);
    if (!page) co_return std::unexpected(page.error());
    fmt::print("{}", jobs_table(page->rows, ::isatty(STDOUT_FILENO) != 0 ? terminal_width() : plain_width));
    if (!page->next.empty()) fmt::print(stderr, "There are more: --limit N, --status STATUS\n");
    co_return exit_all_read;
  }

  asio::awaitable<Result<int>> show() {
    for (const std::string& id : line_.jobs.ids) {
      auto json = co_await desk_.job(id);
      if (!json) co_return std::unexpected(json.error());
      if (line_.json) {
        fmt::print("{}\n", *json);
        continue;
      }
      auto events = co_await all_events(id);
      if (!events) co_return std::unexpected(events.error());
      const auto story = job_story(*json, *events);
      if (!story) co_return std::unexpected(story.error());
      fmt::print("{}", *story);
    }
    co_return exit_all_read;
  }

  // retry and cancel: all of them, whatever becomes of the others.
  asio::awaitable<Result<int>> change() {
    std::optional<Error> failure;
    for (const std::string& id : line_.jobs.ids) {
      auto json = line_.jobs.action == "retry" ? co_await desk_.retry(id) : co_await desk_.cancel(id);
      if (!json) {
        fmt::print(stderr, "lectern: {}\n", json.error().for_caller);
        if (!failure) failure = json.error();
        continue;
      }
      const auto row = job_row(*json);
      if (!row) co_return std::unexpected(row.error());
      fmt::print("{}\n", line_.json ? *json : job_line(*row));
    }
    co_return failure ? exit_code(*failure) : exit_all_read;
  }

  // Until those named are over, or for ever.
  asio::awaitable<Result<int>> watch(Cancellation stop) {
    const bool live = !line_.json && ::isatty(STDOUT_FILENO) != 0;
    while (!stop.requested()) {
      auto rows = co_await watched();
      if (!rows) {
        // A store or server that is away comes back; what is wrong otherwise stays wrong.
        if (exit_code(rows.error()) != exit_run_ended) co_return std::unexpected(rows.error());
        if (!std::exchange(away_, true)) fmt::print(stderr, "lectern: {}\n", rows.error().for_caller);
      } else {
        away_ = false;
        live ? draw(*rows) : tell(*rows);
        std::fflush(stdout);
        const bool over = std::ranges::all_of(*rows, &JobRow::over);
        if (!line_.jobs.ids.empty() && over) {
          const bool good = std::ranges::all_of(*rows, [](const JobRow& row) { return row.status == "succeeded"; });
          co_return good ? exit_all_read : exit_some_failed;
        }
      }
      co_await timers_.wait_for(look_interval, stop);
    }
    co_return exit_stopped;
  }

 private:
  JobsWanted filter() const { return {.status = line_.jobs.status, .tenant = line_.jobs.tenant}; }

  asio::awaitable<Result<std::vector<std::string>>> all_events(std::string id) {
    std::vector<std::string> pages;
    for (std::int64_t after = 0;;) {
      auto json = co_await desk_.events(id, after);
      if (!json) co_return std::unexpected(json.error());
      const auto page = nlohmann::json::parse(*json, nullptr, false);
      pages.push_back(std::move(*json));
      if (!page.is_object() || !page.contains("next") || !page["next"].is_number_integer()) co_return pages;
      after = page["next"].get<std::int64_t>();
    }
  }

  asio::awaitable<Result<std::vector<JobRow>>> watched() {
    std::vector<JobRow> rows;
    for (const std::string& id : line_.jobs.ids) {
      auto json = co_await desk_.job(id);
      if (!json) co_return std::unexpected(json.error());
      texts_[id] = *json;
      auto row = job_row(*json);
      if (!row) co_return std::unexpected(row.error());
      rows.push_back(std::move(*row));
    }
    if (!line_.jobs.ids.empty()) co_return rows;
    JobsWanted wanted = filter();
    wanted.limit = watched_max;
    const auto json = co_await desk_.list(std::move(wanted));
    if (!json) co_return std::unexpected(json.error());
    auto page = job_page(*json);
    if (!page) co_return std::unexpected(page.error());
    const auto parsed = nlohmann::ordered_json::parse(*json, nullptr, false);
    for (const auto& one : parsed["jobs"]) texts_[one.value("id", "")] = one.dump();
    co_return std::move(page->rows);
  }

  // The same place on the screen again.
  void draw(const std::vector<JobRow>& rows) {
    std::vector<JobRow> shown(rows.begin(),
                              rows.begin() + std::min<std::ptrdiff_t>(std::ssize(rows), terminal_height() - 2));
    if (drawn_ > 0) fmt::print("\x1b[{}A\x1b[J", drawn_);
    const std::string table = jobs_table(shown, terminal_width());
    drawn_ = static_cast<int>(std::ranges::count(table, '\n'));
    fmt::print("{}", table);
  }

  // What has changed, a line each.
  void tell(const std::vector<JobRow>& rows) {
    for (const JobRow& row : rows) {
      const auto before = told_.find(row.id);
      if (before != told_.end() && before->second == row) continue;
      const bool news = before != told_.end() || !row.over() || !line_.jobs.ids.empty();
      told_[row.id] = row;
      if (news) fmt::print("{}\n", line_.json ? texts_[row.id] : job_line(row));
    }
  }

  const CommandLine& line_;
  JobsDesk& desk_;
  Timers& timers_;
  std::map<std::string, JobRow> told_;
  std::map<std::string, std::string> texts_;
  int drawn_ = 0;
  bool away_ = false;
};

}  // namespace

int jobs_command(const CommandLine& line, const Config& config) {
  const JobsLine& wanted = line.jobs;
  const bool needs_id = wanted.action != "list" && wanted.action != "watch";
  if (needs_id && wanted.ids.empty()) {
    return fail_with({ErrorKind::invalid_input, "", fmt::format("lectern jobs {}: name a job", wanted.action)});
  }
  asio::io_context loop(1);
  SystemTimers timers;
  std::unique_ptr<job::Store> store;
  std::unique_ptr<JobsDesk> desk;
  if (config.is_set("jobs.server") && config.value("jobs.store").origin != Origin::flag) {
    desk = make_server_desk(std::make_shared<provider::HttpClient>(loop.get_executor()),
                            {.server = config.text("jobs.server"),
                             .key = config.text("jobs.key"),
                             .ca_file = config.text("engines.ca_file"),
                             .proxy = config.text("engines.proxy"),
                             .verify_tls = !config.boolean("engines.insecure")});
  } else {
    auto opened = open_existing_store(config, timers);
    if (!opened) return fail_early(opened.error());
    store = std::move(*opened);
    desk = make_store_desk(*store);
  }
  JobsRun run(line, *desk, timers);
  Cancellation stop;
  StopSignals signals(loop, [stop](int) mutable { stop.request(); });
  auto work = wanted.action == "list"    ? run.list()
              : wanted.action == "show"  ? run.show()
              : wanted.action == "watch" ? run.watch(stop)
                                         : run.change();
  const auto code = run_on(loop, std::move(work));
  signals.ignore();
  return code ? *code : fail_with(code.error());
}

}  // namespace lectern::cli
