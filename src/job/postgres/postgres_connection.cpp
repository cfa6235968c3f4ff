#include "job/postgres/postgres_connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <tuple>

namespace lectern::job {
namespace {

// Every statement of ours is served by an index that was made for it. The planner does not know how the tables will
// look in an hour, and a plan that suits an empty queue must not stay when there are a million tasks in it: so it is
// left no choice, and plans are made once. JIT would compile statements that run for a fraction of a millisecond.
// Whoever holds locks and says nothing (a stopped process) is thrown out, so that others can go on.
constexpr std::string_view session = R"(
SET search_path = lectern;
SET jit = off;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_sort = off;
SET idle_in_transaction_session_timeout = {0};
SET statement_timeout = {1};
SET lock_timeout = {2};
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), pg_is_in_recovery()::int
)";
constexpr int oldest_server = 120000;

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::ranges::find(states, state) != states.end();
}

// SQLSTATE classes and codes, appendix A of PostgreSQL's manual.
bool ends_connection(std::string_view state) {
  return state.starts_with("08") ||                                      // connection exceptions
         is_one_of(state, {"57P01", "57P02", "57P03", "57P05", "25P03",  // shut down, starting up, thrown out
                           "53300"});                                    // too many connections
}
bool passes_by_itself(std::string_view state) {
  return is_one_of(state, {"40001", "40P01", "55P03"});  // serialisation, deadlock, a lock that was not given
}

ErrorKind kind_of(std::string_view state) {
  if (ends_connection(state) || passes_by_itself(state)) return ErrorKind::unavailable;
  if (state.starts_with("53")) return ErrorKind::overloaded;  // its disk, its memory
  if (state == "57014") return ErrorKind::timeout;
  if (state == "23505") return ErrorKind::conflict;
  if (state == "42501") return ErrorKind::invalid_input;  // no right to it
  return ErrorKind::internal;
}

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

}  // namespace

PostgresConnection::PostgresConnection(pg_conn* handle, const PostgresAddress& address, const PostgresOptions& options)
    : handle_(handle), address_(address), answer_timeout_(options.answer_timeout) {}

PostgresConnection::~PostgresConnection() {
  PQfinish(handle_);
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const PostgresAddress& address,
                                                                     const PostgresOptions& options) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : address.settings) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PostgresConnection> made(
      new PostgresConnection(PQconnectStartParams(names.data(), values.data(), 0), address, options));
  if (auto connected = made->connect(options.connect_timeout); !connected) return std::unexpected(connected.error());
  if (auto ready = made->set_up(); !ready) return std::unexpected(ready.error());
  return made;
}

Status PostgresConnection::connect(std::chrono::milliseconds timeout) {
  if (handle_ == nullptr) return fail(ErrorKind::overloaded, "no memory is left for a connection to PostgreSQL");
  const Deadline deadline = Deadline::after(timeout, system_clock());
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (PQstatus(handle_) != CONNECTION_BAD) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left(system_clock().now()));
    pollfd descriptor{.fd = PQsocket(handle_),
                      .events = static_cast<short>(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT)};
    const int ready = ::poll(&descriptor, 1, static_cast<int>(left.count()) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::unexpected(lost("it does not answer"));
    wanted = PQconnectPoll(handle_);
    if (wanted == PGRES_POLLING_OK) break;
    if (wanted == PGRES_POLLING_FAILED) break;
  }
  if (PQstatus(handle_) != CONNECTION_OK) return std::unexpected(lost(PQerrorMessage(handle_)));
  PQsetnonblocking(handle_, 1);
  PQsetNoticeProcessor(handle_, [](void*, const char*) {}, nullptr);  // it would print them
  return {};
}

Status PostgresConnection::set_up() {
  const auto millis = answer_timeout_.count();
  auto answer = execute(fmt::format(session, millis, millis * 8 / 10, millis / 2));
  if (!answer) return std::unexpected(answer.error());
  answer->next();
  const auto version = answer->number();
  const std::string encoding = answer->text();
  if (version < oldest_server) {
    return fail(ErrorKind::invalid_input, "{} has version {}.{}; Lectern needs 12 or newer", address_.description,
                version / 10000, version % 10000);
  }
  if (encoding != "UTF8") {
    return fail(ErrorKind::invalid_input, "{} keeps text as {}; make a database with ENCODING 'UTF8'",
                address_.description, encoding);
  }
  if (answer->number() != 0) return std::unexpected(lost("it is a standby and takes no changes"));
  return {};
}

bool PostgresConnection::enter_pipeline(bool on) {
  if ((PQpipelineStatus(handle_) != PQ_PIPELINE_OFF) == on) return true;
  return (on ? PQenterPipelineMode(handle_) : PQexitPipelineMode(handle_)) == 1;
}

// What follows a statement that was not sent must not be sent either: a COMMIT would keep half a transaction. flush()
// tells.
bool PostgresConnection::sent(int answer) {
  if (answer != 1) std::ignore = lost(PQerrorMessage(handle_));
  return answer == 1;
}

const std::string& PostgresConnection::prepare(const char* sql) {
  const auto [found, fresh] = prepared_.try_emplace(sql);
  if (fresh) {
    found->second.name = fmt::format("s{}", ++names_);
    sent(PQsendPrepare(handle_, found->second.name.c_str(), sql, 0, nullptr));
    queued_.push_back({.sql = sql, .preparation = true});
  }
  return found->second.name;
}

void PostgresConnection::queue(const char* sql, const PostgresParameters& parameters) {
  if (broken_ || !sent(enter_pipeline(true) ? 1 : 0)) return;
  const std::string& name = prepare(sql);
  if (broken_) return;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
  for (const auto& one : parameters.all()) {
    values.push_back(one.null ? nullptr : one.bytes.c_str());
    lengths.push_back(static_cast<int>(one.bytes.size()));
    formats.push_back(one.binary ? 1 : 0);
  }
  sent(PQsendQueryPrepared(handle_, name.c_str(), static_cast<int>(values.size()), values.data(), lengths.data(),
                           formats.data(), 0));
  queued_.push_back({.sql = sql});
}

Result<std::vector<PostgresRows>> PostgresConnection::flush() {
  worth_again_ = false;
  if (broken_ || PQpipelineSync(handle_) != 1) return std::unexpected(lost(PQerrorMessage(handle_)));
  std::vector<PostgresRows> answers;
  std::optional<Error> failed;
  for (const Queued& one : std::exchange(queued_, {})) {
    bool well = false;
    for (;;) {
      auto answer = next_answer();
      if (!answer) return std::unexpected(answer.error());
      if (*answer == nullptr) break;
      PostgresRows rows(*answer);
      const ExecStatusType status = PQresultStatus(*answer);
      well = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
      if (!well && !failed) failed = failure(*answer);
      if (well && !one.preparation) answers.push_back(std::move(rows));
    }
    if (one.preparation && !well) prepared_.erase(one.sql);
  }
  auto sync = next_answer();
  if (!sync) return std::unexpected(sync.error());
  PQclear(*sync);
  if (failed) return std::unexpected(*failed);
  return answers;
}

Result<PostgresRows> PostgresConnection::ask(const char* sql, const PostgresParameters& parameters) {
  queue(sql, parameters);
  auto answers = flush();
  if (!answers) return std::unexpected(answers.error());
  return std::move(answers->back());
}

Result<PostgresRows> PostgresConnection::execute(const std::string& sql) {
  worth_again_ = false;
  if (broken_ || !enter_pipeline(false) || PQsendQuery(handle_, sql.c_str()) != 1) {
    return std::unexpected(lost(PQerrorMessage(handle_)));
  }
  std::optional<PostgresRows> last;
  std::optional<Error> failed;
  for (;;) {
    auto answer = next_answer();
    if (!answer) return std::unexpected(answer.error());
    if (*answer == nullptr) break;
    last.emplace(*answer);
    const ExecStatusType status = PQresultStatus(*answer);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && !failed) failed = failure(*answer);
  }
  if (failed) return std::unexpected(*failed);
  return std::move(*last);
}

Result<pg_result*> PostgresConnection::next_answer() {
  for (;;) {
    const int unsent = PQflush(handle_);
    if (unsent < 0) return std::unexpected(lost(PQerrorMessage(handle_)));
    if (unsent == 0 && PQisBusy(handle_) == 0) break;
    if (auto ready = await(unsent > 0); !ready) return std::unexpected(ready.error());
    if (PQconsumeInput(handle_) != 1) return std::unexpected(lost(PQerrorMessage(handle_)));
  }
  pg_result* answer = PQgetResult(handle_);
  if (PQstatus(handle_) != CONNECTION_OK) {
    // The server may have said why, for instance that it is shutting down.
    const std::string why = answer == nullptr ? PQerrorMessage(handle_) : PQresultErrorMessage(answer);
    PQclear(answer);
    return std::unexpected(lost(why));
  }
  return answer;
}

Status PostgresConnection::await(bool writing) {
  for (;;) {
    pollfd descriptor{.fd = PQsocket(handle_), .events = static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN)};
    const int ready = ::poll(&descriptor, 1, static_cast<int>(answer_timeout_.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno == EINTR) continue;
    return std::unexpected(lost("it does not answer any more"));
  }
}

Error PostgresConnection::failure(const pg_result* result) {
  const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view state = code == nullptr ? "" : code;
  const std::string why = one_line(PQresultErrorMessage(result));
  if (ends_connection(state)) return lost(why);
  worth_again_ = passes_by_itself(state);
  return fail(kind_of(state), address_.discreet(fmt::format("{}: {} ({})", address_.description, why, state))).error();
}

Error PostgresConnection::lost(std::string_view why) {
  broken_ = true;
  return fail(ErrorKind::unavailable,
              address_.discreet(fmt::format("{}: {}", address_.description, one_line(std::string(why)))))
      .error();
}

int PostgresConnection::socket() const {
  return PQsocket(handle_);
}

int PostgresConnection::server_process() const {
  return PQbackendPID(handle_);
}

std::vector<PostgresConnection::Notice> PostgresConnection::take_notices() {
  if (PQconsumeInput(handle_) != 1) std::ignore = lost(PQerrorMessage(handle_));
  std::vector<Notice> all;
  while (PGnotify* one = PQnotifies(handle_)) {
    all.push_back({.channel = one->relname, .text = one->extra, .sender = one->be_pid});
    PQfreemem(one);
  }
  return all;
}

}  // namespace lectern::job
