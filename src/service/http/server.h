// HTTP/1.1 on sockets: listens, accepts, keeps count, lets go of slow clients, stops gracefully. Knows routes, and
// nothing of what they do.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/random.h"
#include "base/timers.h"
#include "service/http/connection.h"
#include "service/http/listener.h"
#include "service/http/router.h"

namespace lectern::service::http {

struct HttpOptions {
  std::vector<ListenAddress> listen;
  std::string tls_certificate;  // PEM files; both or none. For TCP only
  std::string tls_key;
  int connections_max = 8'192;
  ConnectionLimits limits;
  std::chrono::nanoseconds stop_grace = std::chrono::seconds(20);
};

class HttpServer {
 public:
  // The router, the timers and the random are borrowed.
  HttpServer(HttpOptions options, const Router& router, Timers& timers, Random& random,
             std::function<void(const ExchangeRecord&)> observer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Errors: invalid_input (the TLS files), unavailable (an address is taken).
  Status open();
  const std::vector<ListenAddress>& addresses() const;  // with the ports that were chosen
  // Serves until `stop` is requested; then no more is accepted, and what is under way is finished, or cut when the
  // grace is over. REQUIRES: open() went well; one thread runs the loop.
  boost::asio::awaitable<void> run(Cancellation stop);

  int connections() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::service::http
