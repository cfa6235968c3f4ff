// What the handlers of the API share, and the way a handler is made a route: who asks is settled first, and a problem
// becomes its response in one place.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "job/store.h"
#include "service/api/health.h"
#include "service/auth.h"
#include "service/http/message.h"
#include "service/http/router.h"
#include "service/limits.h"
#include "service/problem.h"
#include "service/queue_watch.h"
#include "service/server.h"
#include "telemetry/metrics.h"

namespace lectern::service {

// How many jobs wait, without asking the store for every submit.
class QueueLength {
 public:
  // Asks at most once a second; in between counts what was submitted here. Errors of the store: the last known figure.
  boost::asio::awaitable<std::int64_t> jobs_open(job::Store* store, const Clock* clock);
  void submitted() { ++since_; }

 private:
  std::int64_t known_ = 0;
  std::int64_t since_ = 0;  // submitted since `known_` was asked for
  std::optional<TimePoint> asked_;
};

struct ApiContext {
  ApiContext(ServiceOptions wanted, ServiceParts given);

  const ServiceOptions options;
  const ServiceParts parts;
  Auth auth;
  SubmitGate gate;
  Room waits;
  Room streams;
  Room lists;
  QueueLength queue;
  Readiness readiness;
  QueueWatch watch;
  telemetry::Metrics metrics;
  std::function<int()> connections;  // how many clients are there

  TimePoint now() const { return parts.timers.clock().now(); }
};

using Answer = std::expected<http::Response, Problem>;
using ApiHandler = boost::asio::awaitable<Answer> (*)(ApiContext* api, Caller caller, http::ExchangePtr exchange);

// A handler for callers with this scope. `query`: the parameters that it knows, separated by blanks; others are
// refused, because a typing mistake must not pass silently.
http::Handler guarded(ApiContext* api, Scope scope, ApiHandler handler, std::string_view query);

// The job of the route's {id}, where the caller may see it. Errors: not_found, whatever the reason.
boost::asio::awaitable<std::expected<job::JobView, Problem>> job_of_path(ApiContext* api, Caller caller,
                                                                         http::ExchangePtr exchange);
// With the state of its webhook.
boost::asio::awaitable<http::Response> job_response(ApiContext* api, int status, job::JobView view);

// A place among those who ask for lists; dropping it makes room. Lists are long to make: so many at a time, and off the
// loop. Errors: rate_limited.
std::expected<std::shared_ptr<void>, Problem> list_place(ApiContext& api);

// "?name=": a whole number within these bounds; absent = `otherwise`. Errors: invalid_parameter.
std::expected<std::int64_t, Problem> number_parameter(const http::Request& request, std::string_view name,
                                                      std::int64_t least, std::int64_t most, std::int64_t otherwise);
// "?name" and "?name=true" are true, "?name=false" and none are false.
std::expected<bool, Problem> flag_parameter(const http::Request& request, std::string_view name);

}  // namespace lectern::service
