#include "service/auth.h"

#include <arpa/inet.h>

#include <algorithm>

#include "service/http/fields.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;

constexpr std::size_t known_max = 4096;

Problem needs_key(std::string detail) {
  return {.code = ProblemCode::unauthorized, .detail = std::move(detail)};
}

std::string_view host_only(std::string_view authority) {
  const std::size_t colon = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0);
  return authority.substr(0, colon);
}

// Only what is an address all through: "127.evil.example" begins like one and is a name of somebody else's.
bool is_this_machine(std::string_view host) {
  in_addr address{};
  const bool is_address = ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
  return http::same_name(host, "localhost") || host == "[::1]" || (is_address && (ntohl(address.s_addr) >> 24U) == 127);
}

}  // namespace

bool Caller::may(Scope scope) const {
  switch (scope) {
    case Scope::submit:
      return scopes.submit || scopes.admin;
    case Scope::read:
      return scopes.read || scopes.admin;
    case Scope::admin:
      return scopes.admin;
  }
  return false;
}

std::expected<std::optional<std::string>, Problem> bearer_of(const http::Fields& fields) {
  const auto value = fields.find("authorization");
  if (!value) return std::nullopt;
  if (fields.count("authorization") > 1) return std::unexpected(needs_key("Authorization is there more than once"));
  if (!http::same_name(value->substr(0, 7), "bearer ")) {
    return std::unexpected(needs_key("write 'Authorization: Bearer lct_…'"));
  }
  const std::string_view secret = http::trimmed(value->substr(7));
  if (!is_key_secret(secret)) return std::unexpected(needs_key("this is not a key of Lectern"));
  return std::string(secret);
}

std::expected<Caller, Problem> caller_of(const std::optional<job::ApiKey>& found) {
  if (!found) return std::unexpected(needs_key("the key is not known"));
  if (found->revoked_at) return std::unexpected(needs_key("the key was revoked"));
  const auto scopes = parse_scopes(found->scopes);
  if (!scopes) return std::unexpected(Problem{.code = ProblemCode::internal_error});
  return Caller{.key = found->id, .tenant = found->tenant, .scopes = *scopes};
}

std::expected<Caller, Problem> nobody_of(const http::Request& request) {
  const bool passed_on = request.fields.find("forwarded") || request.fields.find("x-forwarded-for");
  if (!request.local || passed_on) {
    return std::unexpected(
        needs_key("make a key with 'lectern keys create' and send it as 'Authorization: Bearer lct_…'"));
  }
  const std::string_view host = request.fields.find("host").value_or("localhost");
  if (request.peer != "unix" && !is_this_machine(host_only(host))) {
    return std::unexpected(needs_key("without a key this server answers only to the name localhost"));
  }
  if (const auto origin = request.fields.find("origin")) {
    const std::string_view authority = origin->substr(std::min(origin->size(), origin->find("//") + 2));
    if (!http::same_name(authority, host)) {
      return std::unexpected(
          Problem{.code = ProblemCode::forbidden, .detail = "without a key, pages of other sites are refused"});
    }
  }
  return Caller{.key = {}, .tenant = "default", .scopes = {.submit = true, .read = true, .admin = true}};
}

asio::awaitable<Result<std::optional<job::ApiKey>>> Auth::look_up(std::string secret) {
  const std::string hash = key_sha256(secret);
  const TimePoint now = clock_.now();
  if (const auto found = known_.find(hash); found != known_.end() && now < found->second.until) {
    co_return found->second.key;
  }
  auto key = co_await store_.key_by_sha256(hash);
  if (!key) co_return key;
  if (known_.size() >= known_max) std::erase_if(known_, [now](const auto& one) { return one.second.until <= now; });
  if (known_.size() >= known_max) known_.clear();  // somebody tries keys: forget them
  known_.insert_or_assign(hash, Known{*key, now + std::chrono::duration_cast<TimePoint::duration>(memory_)});
  co_return key;
}

asio::awaitable<Result<bool>> Auth::has_key() {
  const TimePoint now = clock_.now();
  if (any_key_ && now < any_key_until_) co_return *any_key_;
  const auto keys = co_await store_.keys();
  if (!keys) co_return std::unexpected(keys.error());
  any_key_ = !keys->empty();
  any_key_until_ = now + std::chrono::duration_cast<TimePoint::duration>(memory_);
  co_return *any_key_;
}

asio::awaitable<Result<bool>> Auth::has_working_key() {
  const auto keys = co_await store_.keys();
  if (!keys) co_return std::unexpected(keys.error());
  co_return std::ranges::any_of(*keys, [](const job::ApiKey& key) { return !key.revoked_at; });
}

asio::awaitable<std::expected<Caller, Problem>> Auth::caller(http::ExchangePtr exchange, Scope scope) {
  const http::Request& request = exchange->request();
  const auto secret = bearer_of(request.fields);
  if (!secret) co_return std::unexpected(secret.error());
  std::expected<Caller, Problem> caller;
  if (*secret) {
    const auto found = co_await look_up(**secret);
    if (!found) co_return std::unexpected(problem_of(found.error()));
    caller = caller_of(*found);
  } else {
    // Also revoked keys count: a store that had keys does not open up when the last one is gone.
    const auto any = co_await has_key();
    if (!any) co_return std::unexpected(problem_of(any.error()));
    caller = *any ? std::unexpected(needs_key("send a key as 'Authorization: Bearer lct_…'")) : nobody_of(request);
  }
  if (!caller) co_return caller;
  exchange->set_user(caller->key);
  if (!caller->may(scope)) {
    const std::string_view word = scope == Scope::submit ? "submit" : scope == Scope::read ? "read" : "admin";
    co_return std::unexpected(
        Problem{.code = ProblemCode::forbidden, .detail = "this needs a key with the scope " + std::string(word)});
  }
  co_return caller;
}

}  // namespace lectern::service
