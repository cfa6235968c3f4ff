// Everything that doing tasks takes, wired together: renderers, readers, handlers, the worker loop. What costs memory
// is made when the first task needs it and let go when there has been nothing to do for a while.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/config.h"
#include "base/random.h"
#include "base/timers.h"
#include "job/blobs.h"
#include "job/handlers/page_images.h"
#include "job/store.h"
#include "job/worker.h"

namespace lectern::cli {

// work.grace_s: what tasks in hand have to end in after a stop.
std::chrono::milliseconds work_grace(const Config& config);

// Borrowed, but for the values; they must outlive the worker.
struct PageWorkerParts {
  boost::asio::any_io_executor executor;
  const Config& config;
  job::Store& store;
  job::Blobs& blobs;
  Timers& timers;
  Random& random;
  job::Handler* deliver = nullptr;  // null: webhooks are left to others
  std::filesystem::path scratch;
};

// Lives on one event loop.
class PageWorker {
 public:
  // Errors (invalid_input): the settings of engines or languages.
  static Result<std::unique_ptr<PageWorker>> create(PageWorkerParts parts);
  ~PageWorker();
  PageWorker(const PageWorker&) = delete;
  PageWorker& operator=(const PageWorker&) = delete;

  // Until `stop`, and then as long as WorkerOptions::grace allows; `stop_now` ends the grace.
  boost::asio::awaitable<void> run(Cancellation stop, Cancellation stop_now);

  const std::string& name() const;
  job::PageImages& images();    // also without run()
  std::string metrics() const;  // as Prometheus wants them
  // Lets go of what has not been used for a while; run() does so by itself.
  void close_idle();

 private:
  struct Impl;
  explicit PageWorker(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::cli
