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
#include "service/http/listener.h"

namespace lectern::cli {

// Of the settings work.metrics_address and work.metrics_port. Errors (invalid_input): it is no address.
Result<service::http::ListenAddress> metrics_address(const std::string& host, int port);

class MetricsPort {
 public:
  using Figures = std::function<boost::asio::awaitable<std::string>()>;  // as Prometheus wants them
  // Timers and random are borrowed; `metrics` is called on the loop's thread.
  MetricsPort(service::http::ListenAddress where, Figures metrics, Timers& timers, Random& random);
  ~MetricsPort();

  Status open();            // errors: unavailable (the port is taken)
  std::string url() const;  // "http://127.0.0.1:9000/metrics". REQUIRES: open() went well
  boost::asio::awaitable<void> run(Cancellation stop);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::cli
