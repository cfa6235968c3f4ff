// bench-queue drain | claims  sqlite | postgres | URL  [NAME=VALUE…]: what the job store takes, through Store, as
// workers use it. `sqlite` is a file in the temporary folder, `postgres` a private server that is started for it; a
// store by URL should be empty. Prints one line of JSON.
//   drain   tasks=100000 jobs=100 workers=4 batch=64: no-op read tasks, claimed and committed in batches; durable
//   claims  backlog=1000000 tenants=10 batch=64 claims=100: how long a claim takes while nothing else waits, and while
//           so many other tasks are ready
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/timers.h"
#include "job/ids.h"
#include "job/request.h"
#include "job/store.h"
#include "servers/postgres_server.h"
#include "temp_folder.h"

namespace {

using namespace lectern;
using namespace lectern::job;
using Seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

struct Options {
  std::map<std::string, int> values;
  int operator[](const std::string& name) const { return values.at(name); }
};

template <class T>
T sure(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().for_log);
  return std::move(*result);
}

// Runs the coroutines together until all have ended.
void run_all(boost::asio::io_context& loop, std::vector<boost::asio::awaitable<void>> coroutines) {
  std::exception_ptr failure;
  for (auto& one : coroutines) {
    boost::asio::co_spawn(loop, std::move(one), [&](std::exception_ptr error) {
      if (error) failure = error;
    });
  }
  loop.restart();
  loop.run();
  if (failure) std::rethrow_exception(failure);
}

void run_one(boost::asio::io_context& loop, boost::asio::awaitable<void> coroutine) {
  std::vector<boost::asio::awaitable<void>> only;
  only.push_back(std::move(coroutine));
  run_all(loop, std::move(only));
}

// A job whose pages 1..pages are ready.
boost::asio::awaitable<void> add_job(Store* store, std::string tenant, int pages) {
  SystemRandom random;
  NewJob request{.id = new_job_id(system_clock(), random), .tenant = std::move(tenant), .document = "document.pdf"};
  request.source = original_key(request.id);
  sure(co_await store->submit(request));
  ClaimRequest wanted{.worker = "splitter", .kinds = {StepKind::split}, .room = 1};
  const auto split = sure(co_await store->claim(wanted));
  Outcome outcome{.task = split.at(0).id, .token = split.at(0).token, .pages_total = pages};
  for (int page = 1; page <= pages; ++page) outcome.pages.push_back(page);
  std::vector<Outcome> outcomes{outcome};
  sure(co_await store->commit(std::move(outcomes)));
}

std::vector<Outcome> done(const std::vector<Task>& tasks) {
  std::vector<Outcome> outcomes;
  for (const Task& task : tasks) {
    outcomes.push_back({.task = task.id,
                        .token = task.token,
                        .page = PageOutcome::ok,
                        .result = page_key(task.job, task.number, task.token),
                        .detail = R"({"reader":"none","ms":{"total":0}})"});
  }
  return outcomes;
}

struct Progress {
  int left = 0;
  std::vector<double> claim_ms;
  std::vector<double> commit_ms;
};

double since(steady_clock::time_point begin) {
  return Seconds(steady_clock::now() - begin).count() * 1000;
}

boost::asio::awaitable<void> work(Store* store, std::string name, int batch, Progress* progress) {
  while (progress->left > 0) {
    ClaimRequest wanted{.worker = name, .kinds = {StepKind::read}, .room = batch};
    auto begin = steady_clock::now();
    const auto tasks = sure(co_await store->claim(std::move(wanted)));
    progress->claim_ms.push_back(since(begin));
    if (tasks.empty()) continue;  // the others have the last ones
    begin = steady_clock::now();
    auto outcomes = done(tasks);
    for (const Verdict verdict : sure(co_await store->commit(std::move(outcomes)))) {
      if (verdict != Verdict::accepted) throw std::runtime_error("a commit was refused");
      --progress->left;
    }
    progress->commit_ms.push_back(since(begin));
  }
}

double middle(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void drain(Store& store, boost::asio::io_context& loop, const Options& options) {
  for (int i = 0; i < options["jobs"]; ++i) {
    run_one(loop, add_job(&store, "tenant" + std::to_string(i % 4), options["tasks"] / options["jobs"]));
  }
  Progress progress{.left = options["tasks"] / options["jobs"] * options["jobs"]};
  const int tasks = progress.left;
  const double cpu = cpu_seconds();
  const auto begin = steady_clock::now();
  std::vector<boost::asio::awaitable<void>> workers;
  for (int i = 0; i < options["workers"]; ++i) {
    workers.push_back(work(&store, "worker" + std::to_string(i), options["batch"], &progress));
  }
  run_all(loop, std::move(workers));
  const double seconds = since(begin) / 1000;
  fmt::print(R"({{"tasks": {}, "seconds": {:.2f}, "per_second": {:.0f}, "cpu_seconds": {:.2f}, "claim_ms": {:.2f}, )"
             R"("claim_ms_p99": {:.2f}, "commit_ms": {:.2f}, "commit_ms_p99": {:.2f}}})"
             "\n",
             tasks, seconds, tasks / seconds, cpu_seconds() - cpu, middle(progress.claim_ms, 0.5),
             middle(progress.claim_ms, 0.99), middle(progress.commit_ms, 0.5), middle(progress.commit_ms, 0.99));
}

boost::asio::awaitable<void> claim_some(Store* store, int claims, int batch, std::vector<double>* times) {
  for (int i = 0; i < claims; ++i) {
    ClaimRequest wanted{.worker = "worker", .kinds = {StepKind::read}, .room = batch};
    const auto begin = steady_clock::now();
    const auto tasks = sure(co_await store->claim(std::move(wanted)));
    times->push_back(since(begin));
    if (static_cast<int>(tasks.size()) != batch) throw std::runtime_error("there were too few tasks to claim");
    auto outcomes = done(tasks);
    sure(co_await store->commit(std::move(outcomes)));
  }
}

// Both in one run: only their ratio means anything on a machine with other things to do.
void claims(Store& store, boost::asio::io_context& loop, const Options& options) {
  constexpr int warm_up = 10;
  constexpr int pages = 10'000;
  const int tenants = options["tenants"];
  const int needed = (options["claims"] + warm_up) * options["batch"];
  const auto measure = [&] {
    // Just what is claimed here; each tenant has its share of every claim.
    for (int i = 0; i < tenants; ++i)
      run_one(loop, add_job(&store, "tenant" + std::to_string(i), needed / tenants + 1));
    std::vector<double> times;
    run_one(loop, claim_some(&store, warm_up, options["batch"], &times));
    times.clear();
    run_one(loop, claim_some(&store, options["claims"], options["batch"], &times));
    return times;
  };
  const auto empty = measure();
  for (int i = 0; i < options["backlog"] / pages; ++i) {
    run_one(loop, add_job(&store, "tenant" + std::to_string(i % tenants), pages));
  }
  const auto full = measure();
  fmt::print(
      R"({{"backlog": {}, "empty_ms": {:.3f}, "empty_ms_p90": {:.3f}, "full_ms": {:.3f}, "full_ms_p90": {:.3f}}})"
      "\n",
      options["backlog"], middle(empty, 0.5), middle(empty, 0.9), middle(full, 0.5), middle(full, 0.9));
}

int run(const std::vector<std::string_view>& arguments) {
  Options options{{{"tasks", 100'000},
                   {"jobs", 100},
                   {"workers", 4},
                   {"batch", 64},
                   {"backlog", 1'000'000},
                   {"tenants", 10},
                   {"claims", 100}}};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto equals = arguments[i].find('=');
    const auto known = options.values.find(std::string(arguments[i].substr(0, equals)));
    if (equals == std::string_view::npos || known == options.values.end()) return 2;
    std::from_chars(arguments[i].data() + equals + 1, arguments[i].data() + arguments[i].size(), known->second);
  }
  if (arguments.size() < 2 || (arguments[0] != "drain" && arguments[0] != "claims")) return 2;
  std::unique_ptr<test::PostgresServer> server;
  const TempFolder folder;
  std::string url(arguments[1] == "sqlite" ? "" : arguments[1]);
  if (url == "postgres") {
    server = std::make_unique<test::PostgresServer>(std::vector<std::string>{"shared_buffers=256MB"});
    url = server->url("postgres");
  }
  boost::asio::io_context loop;
  SystemTimers timers;
  Policy policy;
  policy.lease = 600'000;  // nobody renews here
  Store store(sure(open_database(url, folder.path().string())), policy, timers);
  arguments[0] == "drain" ? drain(store, loop, options) : claims(store, loop, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run({argv + 1, argv + argc});
    if (code == 2) fmt::print(stderr, "Usage: bench-queue drain|claims sqlite|postgres|URL [tasks=N] [workers=N] …\n");
    return code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench-queue: {}\n", error.what());
    return 1;
  }
}
