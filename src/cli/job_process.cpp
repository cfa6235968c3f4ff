#include "cli/job_process.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/job_setup.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> end_later(Timers* timers, std::chrono::nanoseconds grace, Cancellation stop,
                                Cancellation stop_now, Cancellation over) {
  co_await timers->wait_until(TimePoint::max(), std::move(stop));
  co_await timers->wait_for(grace, std::move(stop_now));
  over.request();
}

}  // namespace

JobProcess::JobProcess(const Config& config)
    : config_(config),
      signals_(
          loop_,
          [stop = stop_, now = stop_now_](int count) mutable {
            if (count > 2) ::_exit(exit_stopped);
            fmt::print(
                stderr, "{}\n",
                count == 1
                    ? "stopping: what is under way is finished or handed back; a second signal hands it back at once"
                    : "stopping at once: what is under way is handed back");
            (count == 1 ? stop : now).request();
          }),
      http_(std::make_shared<provider::HttpClient>(loop_.get_executor())) {
  ::signal(SIGPIPE, SIG_IGN);  // a client that goes away is an error of write(), not the end of us
}

JobProcess::~JobProcess() = default;

Status JobProcess::open(std::chrono::nanoseconds grace) {
  auto scratch = scratch_folder(config_);
  if (!scratch) return std::unexpected(scratch.error());
  scratch_ = std::move(*scratch);
  auto store = run_on(loop_, open_store_patiently(&config_, &timers_, stop_));
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);
  const Cancellation over;
  auto blobs = open_blobs(config_, {.executor = loop_.get_executor(), .http = http_, .timers = &timers_, .over = over});
  if (!blobs) return std::unexpected(blobs.error());
  asio::co_spawn(loop_, end_later(&timers_, grace, stop_, stop_now_, over), asio::detached);
  blobs_ = std::move(*blobs);
  return {};
}

PageWorkerParts worker_parts(JobProcess& process, const Config& config, job::Handler* deliver) {
  return {.executor = process.loop().get_executor(),
          .config = config,
          .store = process.store(),
          .blobs = process.blobs(),
          .timers = process.timers(),
          .random = process.random(),
          .deliver = deliver,
          .scratch = process.scratch()};
}

int fail_early(const Error& error) {
  if (error.kind == ErrorKind::cancelled) return exit_stopped;
  fmt::print(stderr, "lectern: {}\n", error.for_caller);
  return error.kind == ErrorKind::invalid_input || error.kind == ErrorKind::not_found ? exit_usage : exit_run_ended;
}

}  // namespace lectern::cli
