// lectern keys: create, list, revoke.
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "base/timers.h"
#include "cli/commands.h"
#include "cli/event_loop.h"
#include "cli/job_process.h"
#include "cli/job_setup.h"
#include "service/keys.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

std::string time_text(job::Millis time) {
  return to_iso8601(WallTime{} + std::chrono::milliseconds(time));
}

Json to_json(const job::ApiKey& key) {
  Json json{{"id", key.id},
            {"name", key.name},
            {"tenant", key.tenant},
            {"scopes", key.scopes},
            {"created_at", time_text(key.created_at)}};
  if (key.revoked_at) json["revoked_at"] = time_text(*key.revoked_at);
  return json;
}

int create(asio::io_context& loop, job::Store& store, const CommandLine& line) {
  const service::NewKey wanted{.name = line.keys.name, .tenant = line.keys.tenant, .scopes = line.keys.scopes};
  const auto made = run_on(loop, service::create_key(&store, wanted));
  if (!made) return fail_with(made.error());
  if (line.json) {
    Json json = to_json(made->key);
    json["key"] = made->secret;
    fmt::print("{}\n", json.dump());
    return exit_all_read;
  }
  fmt::print("{}\n", made->secret);
  fmt::print(stderr, "This is the only time that the key is shown. To revoke it: lectern keys revoke {}\n",
             made->key.id);
  return exit_all_read;
}

int list(asio::io_context& loop, job::Store& store, const CommandLine& line) {
  const auto keys = run_on(loop, service::list_keys(&store));
  if (!keys) return fail_with(keys.error());
  if (!line.json && !keys->empty()) {
    fmt::print("{:<20} {:<20} {:<12} {:<18} {:<24} {}\n", "KEY", "NAME", "TENANT", "SCOPES", "CREATED", "REVOKED");
  }
  for (const job::ApiKey& key : *keys) {
    if (line.json) {
      fmt::print("{}\n", to_json(key).dump());
      continue;
    }
    fmt::print("{:<20} {:<20} {:<12} {:<18} {:<24} {}\n", key.id, key.name, key.tenant, key.scopes,
               time_text(key.created_at), key.revoked_at ? time_text(*key.revoked_at) : "");
  }
  return exit_all_read;
}

int revoke(asio::io_context& loop, job::Store& store, const CommandLine& line) {
  if (line.keys.id.empty()) {
    return fail_with({ErrorKind::invalid_input, "", "name the key to revoke, as `lectern keys list` shows it"});
  }
  const Status gone = run_on(loop, service::revoke_key(&store, line.keys.id));
  return gone ? exit_all_read : fail_with(gone.error());
}

}  // namespace

int keys_command(const CommandLine& line, const Config& config) {
  asio::io_context loop(1);
  SystemTimers timers;
  const auto store = open_existing_store(config, timers);
  if (!store) return fail_early(store.error());
  if (line.keys.action == "create") return create(loop, **store, line);
  if (line.keys.action == "list") return list(loop, **store, line);
  return revoke(loop, **store, line);
}

}  // namespace lectern::cli
