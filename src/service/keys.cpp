#include "service/keys.h"

#include <algorithm>

#include "base/hash.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;

constexpr std::string_view prefix = "lct_";
constexpr int secret_bytes = 32;
constexpr std::size_t name_bytes_max = 100;

}  // namespace

bool is_tenant_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
}

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" ,"));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    bool* const scope = word == "submit"  ? &scopes.submit
                        : word == "read"  ? &scopes.read
                        : word == "admin" ? &scopes.admin
                                          : nullptr;
    if (scope == nullptr) {
      return fail(ErrorKind::invalid_input, "'{}' is not a scope; there are submit, read and admin", word);
    }
    *scope = true;
  }
  if (scopes == Scopes{}) return fail(ErrorKind::invalid_input, "a key needs at least one of submit, read and admin");
  return scopes;
}

std::string to_string(Scopes scopes) {
  std::string text;
  const auto add = [&text](bool has, std::string_view word) {
    if (has) text += (text.empty() ? "" : " ") + std::string(word);
  };
  add(scopes.submit, "submit");
  add(scopes.read, "read");
  add(scopes.admin, "admin");
  return text;
}

Result<CreatedKey> make_key(const NewKey& wanted, Random& random) {
  const auto scopes = parse_scopes(wanted.scopes);
  if (!scopes) return std::unexpected(scopes.error());
  if (!is_tenant_name(wanted.tenant)) {
    return fail(ErrorKind::invalid_input,
                "'{}' is not the name of a tenant; write 1 to 64 letters, digits, '-', '_' or '.'", wanted.tenant);
  }
  if (wanted.name.size() > name_bytes_max)
    return fail(ErrorKind::invalid_input, "the name of a key has at most 100 bytes");
  CreatedKey made;
  made.secret = std::string(prefix) + random_hex(random, secret_bytes);
  made.key = {.id = "key_" + random_hex(random, 8),
              .name = wanted.name,
              .tenant = wanted.tenant,
              .sha256 = key_sha256(made.secret),
              .scopes = to_string(*scopes)};
  return made;
}

bool is_key_secret(std::string_view text) {
  return text.size() == prefix.size() + 2 * secret_bytes && text.starts_with(prefix) &&
         std::ranges::all_of(text.substr(prefix.size()),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string key_sha256(std::string_view secret) {
  return sha256_hex(secret);
}

asio::awaitable<Result<CreatedKey>> create_key(job::Store* store, NewKey wanted) {
  SystemRandom random;
  auto made = make_key(wanted, random);
  if (!made) co_return made;
  auto added = co_await store->add_key(made->key);
  if (!added) co_return std::unexpected(added.error());
  made->key = std::move(*added);
  co_return made;
}

asio::awaitable<Result<std::vector<job::ApiKey>>> list_keys(job::Store* store) {
  return store->keys();
}

asio::awaitable<Status> revoke_key(job::Store* store, std::string id) {
  const auto revoked = co_await store->revoke_key(id);
  if (!revoked) co_return std::unexpected(revoked.error());
  if (!*revoked) co_return fail(ErrorKind::not_found, "there is no key {}; lectern keys list shows them", id);
  co_return Status{};
}

}  // namespace lectern::service
