// API keys: "lct_" and 32 random bytes in hex, shown once when they are made. The store keeps their SHA-256: a key has
// 256 bits of chance in it, so nobody finds it by trying, and looking it up by its hash compares nothing in
// secret-dependent time.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "job/model.h"
#include "job/store.h"

namespace lectern::service {

struct Scopes {
  bool submit = false;  // make, cancel, retry and remove jobs
  bool read = false;    // look at jobs and results
  bool admin = false;   // both, of every tenant; jobs from blobs
  bool operator==(const Scopes&) const = default;
};
// "submit read admin", any of them, separated by blanks or commas. Errors (invalid_input) name the word.
Result<Scopes> parse_scopes(std::string_view text);
std::string to_string(Scopes scopes);

struct NewKey {
  std::string name;
  std::string tenant = "default";
  std::string scopes = "submit read";
};
struct CreatedKey {
  job::ApiKey key;
  std::string secret;  // "lct_…": what the client sends; not kept anywhere
};
// Errors (invalid_input): the scopes, the tenant or the name.
Result<CreatedKey> make_key(const NewKey& wanted, Random& random);

// 1 to 64 letters, digits, '-', '_' or '.'.
bool is_tenant_name(std::string_view text);
// Whether it looks like a key at all.
bool is_key_secret(std::string_view text);
std::string key_sha256(std::string_view secret);

// For the commands. The store is borrowed for the call.
boost::asio::awaitable<Result<CreatedKey>> create_key(job::Store* store, NewKey wanted);
boost::asio::awaitable<Result<std::vector<job::ApiKey>>> list_keys(job::Store* store);
// By its id. Errors: not_found. It stops working everywhere within ServiceOptions::key_cache.
boost::asio::awaitable<Status> revoke_key(job::Store* store, std::string id);

}  // namespace lectern::service
