// Who sends a request and what they may do.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "job/store.h"
#include "service/http/message.h"
#include "service/keys.h"
#include "service/problem.h"

namespace lectern::service {

enum class Scope : std::uint8_t { submit, read, admin };

struct Caller {
  std::string key;  // its id; empty = nobody in particular, on this machine
  std::string tenant = "default";
  Scopes scopes;

  bool may(Scope scope) const;
  bool sees(const std::string& other_tenant) const { return scopes.admin || other_tenant == tenant; }
};

// --- pure ----------------------------------------------------------------------------------------------------------

// The key that the request carries; nothing = none. Errors: unauthorized (an Authorization that is not one of ours).
std::expected<std::optional<std::string>, Problem> bearer_of(const http::Fields& fields);
// Who that is. `found`: what the store has under the key's hash.
std::expected<Caller, Problem> caller_of(const std::optional<job::ApiKey>& found);
// A request without a key, where the store has none: welcome only from this machine, and from no web page of another
// site (a page can make a browser send requests here, and rename itself to an address of ours).
std::expected<Caller, Problem> nobody_of(const http::Request& request);

// --- with the store --------------------------------------------------------------------------------------------------

// Looks keys up, and remembers what it found for a short time: a revoked key works no longer than that. One thread.
class Auth {
 public:
  Auth(job::Store& store, const Clock& clock, std::chrono::nanoseconds memory)
      : store_(store), clock_(clock), memory_(memory) {}

  // Errors: unauthorized, forbidden, unavailable.
  boost::asio::awaitable<std::expected<Caller, Problem>> caller(http::ExchangePtr exchange, Scope scope);
  // Whether the store has any key that works. Errors: of the store.
  boost::asio::awaitable<Result<bool>> has_working_key();

 private:
  struct Known {
    std::optional<job::ApiKey> key;
    TimePoint until;
  };

  boost::asio::awaitable<Result<std::optional<job::ApiKey>>> look_up(std::string secret);
  boost::asio::awaitable<Result<bool>> has_key();

  job::Store& store_;
  const Clock& clock_;
  const std::chrono::nanoseconds memory_;
  std::unordered_map<std::string, Known> known_;  // by hash; bounded
  std::optional<bool> any_key_;
  TimePoint any_key_until_{};
};

}  // namespace lectern::service
