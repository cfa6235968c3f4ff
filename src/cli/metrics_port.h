// The figures of a process that serves nothing else: GET /metrics and GET /health/live.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/random.h"
#include "base/timers.h"

namespace lectern::cli {

class MetricsPort {
 public:
  using Figures = std::function<boost::asio::awaitable<std::string>()>;  // as Prometheus wants them
  // Port 0 = any free one. Timers and random are borrowed; `metrics` is called on the loop's thread.
  MetricsPort(int port, Figures metrics, Timers& timers, Random& random);
  ~MetricsPort();

  Status open();     // errors: unavailable (the port is taken)
  int port() const;  // REQUIRES: open() went well
  boost::asio::awaitable<void> run(Cancellation stop);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::cli
