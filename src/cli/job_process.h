// What lectern serve and lectern work have in common: a loop, signals, store and blobs, and an end in good order.
#pragma once

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/config.h"
#include "base/random.h"
#include "base/timers.h"
#include "cli/page_worker.h"
#include "cli/stop_signals.h"
#include "job/blobs.h"
#include "job/store.h"
#include "provider/http_client.h"

namespace lectern::cli {

class JobProcess {
 public:
  // The config is borrowed.
  explicit JobProcess(const Config& config);
  ~JobProcess();
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  // Opens store and blobs; waits for a database that is not up yet. `grace` after a stop, and at once when there is no
  // time to wait for anything, calls of the blobs end as cancelled: a server that does not answer must not hold up the
  // end. Errors: see open_store(); cancelled (a signal).
  Status open(std::chrono::nanoseconds grace);

  // The first signal stops, the second does not wait for anything, the third ends the process where it stands.
  Cancellation stop() const { return stop_; }
  Cancellation stop_now() const { return stop_now_; }
  void ignore_signals() { signals_.ignore(); }

  boost::asio::io_context& loop() { return loop_; }
  Timers& timers() { return timers_; }
  Random& random() { return random_; }
  std::shared_ptr<provider::HttpClient> http() const { return http_; }
  // REQUIRES: open() went well.
  job::Store& store() { return *store_; }
  job::Blobs& blobs() { return *blobs_; }
  const std::filesystem::path& scratch() const { return scratch_; }

 private:
  const Config& config_;
  boost::asio::io_context loop_{1};
  SystemTimers timers_;
  SystemRandom random_;
  Cancellation stop_;
  Cancellation stop_now_;
  StopSignals signals_;
  std::shared_ptr<provider::HttpClient> http_;
  std::filesystem::path scratch_;
  std::unique_ptr<job::Store> store_;
  std::unique_ptr<job::Blobs> blobs_;
};

// What a worker of this process is made of. `deliver` is borrowed.
PageWorkerParts worker_parts(JobProcess& process, const Config& config, job::Handler* deliver);

// Prints the error; the exit code.
int fail_early(const Error& error);

}  // namespace lectern::cli
