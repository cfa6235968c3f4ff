#include "job/postgres/postgres_address.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <memory>

namespace lectern::job {
namespace {

using Settings = std::map<std::string, std::string>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;

Settings values(const Options& options) {
  Settings found;
  for (const PQconninfoOption* one = options.get(); one != nullptr && one->keyword != nullptr; ++one) {
    if (one->val != nullptr) found.emplace(one->keyword, one->val);
  }
  return found;
}

// libpq quotes what it complains about, and that may be the password or the whole URL.
std::string without_quotes(std::string_view message) {
  std::string kept;
  bool quoted = false;
  for (const char c : message) {
    if (c == '"') {
      quoted = !quoted;
      kept += quoted ? "\"…" : "\"";
    } else if (!quoted && c != '\n') {
      kept += c;
    }
  }
  return kept;
}

std::string describe(const Settings& given) {
  Settings all = values(Options(PQconndefaults()));  // the environment counts, too
  for (const auto& [name, value] : given) all[name] = value;
  const std::string host = !all["host"].empty() ? all["host"] : !all["hostaddr"].empty() ? all["hostaddr"] : "socket";
  const std::string database = !all["dbname"].empty() ? all["dbname"] : all["user"];
  return fmt::format("PostgreSQL, {}@{}:{}/{}", all["user"], host, all["port"], database);
}

// A connection whose other end is gone is noticed within about ten seconds, also when nothing is being sent.
const Settings defaults = {{"application_name", "lectern"}, {"keepalives", "1"},       {"keepalives_idle", "5"},
                           {"keepalives_interval", "2"},    {"keepalives_count", "2"}, {"tcp_user_timeout", "9000"}};

}  // namespace

std::string PostgresAddress::discreet(std::string text) const {
  if (password.size() < 3) return text;  // nothing would be left of a text without every "a"
  for (auto at = text.find(password); at != std::string::npos; at = text.find(password, at)) {
    text.replace(at, password.size(), "***");
  }
  return text;
}

Result<PostgresAddress> parse_postgres_url(const std::string& url) {
  char* complaint = nullptr;
  const Options options(PQconninfoParse(url.c_str(), &complaint));
  if (!options) {
    const std::string why = complaint == nullptr ? "out of memory" : without_quotes(complaint);
    PQfreemem(complaint);
    return fail(ErrorKind::invalid_input, "the URL of the PostgreSQL store cannot be understood: {}", why);
  }
  Settings settings = values(options);
  PostgresAddress address{.description = describe(settings)};
  if (const auto found = settings.find("password"); found != settings.end()) address.password = found->second;
  settings.insert(defaults.begin(), defaults.end());
  settings["client_encoding"] = "UTF8";
  address.settings.assign(settings.begin(), settings.end());
  return address;
}

}  // namespace lectern::job
