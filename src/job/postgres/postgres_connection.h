// One connection to PostgreSQL. Statements are prepared once and sent without waiting (libpq's pipeline mode); flush()
// waits for all their answers. Every wait has an end: a server that says nothing is given up. Used by one thread at a
// time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "job/postgres/postgres_address.h"
#include "job/postgres/postgres_database.h"
#include "job/postgres/postgres_values.h"

struct pg_conn;
struct pg_result;

namespace lectern::job {

class PostgresConnection {
 public:
  // Connects and sets what every session of ours wants. Errors: unavailable, invalid_input.
  static Result<std::unique_ptr<PostgresConnection>> open(const PostgresAddress& address,
                                                          const PostgresOptions& options);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Sends a statement; its answer comes with the next flush(). `sql` is a literal: it is prepared under its address.
  // One that cannot be sent breaks the connection, so that nothing after it is.
  void queue(const char* sql, const PostgresParameters& parameters);
  // Sends what is queued and waits for the answers, in order. Errors: that of the first statement that failed; those
  // after it were not run.
  Result<std::vector<PostgresRows>> flush();
  // queue() and flush(): the answer to this statement.
  Result<PostgresRows> ask(const char* sql, const PostgresParameters& parameters);
  // Any statements, without parameters, while nothing is queued. The answer to the last one.
  Result<PostgresRows> execute(const std::string& sql);

  // What the last error was, beside what it says.
  bool broken() const { return broken_; }            // the connection is of no use any more
  bool worth_again() const { return worth_again_; }  // a deadlock or the like: the same transaction may go well now

  // --- for the one that listens
  int socket() const;
  int server_process() const;
  struct Notice {
    std::string channel;
    std::string text;
    int sender = 0;  // its server_process()
  };
  // What has come by now, without waiting. Sets broken().
  std::vector<Notice> take_notices();

 private:
  struct Queued {
    const char* sql = nullptr;
    bool preparation = false;
  };
  struct Prepared {
    std::string name;
    bool certain = false;  // the server has said so
  };
  PostgresConnection(pg_conn* handle, const PostgresAddress& address, const PostgresOptions& options);
  Status connect(std::chrono::milliseconds timeout);
  Status set_up();
  Status await(bool writing);        // until there is something to read, or room to write
  Result<pg_result*> next_answer();  // null: the end of one statement's answers
  Error failure(const pg_result* result);
  Error lost(std::string_view why);
  const std::string& prepare(const char* sql);
  bool enter_pipeline(bool on);
  bool sent(int answer);  // of libpq: 1 = it went well

  pg_conn* const handle_;
  const PostgresAddress address_;
  const std::chrono::milliseconds answer_timeout_;
  std::unordered_map<const char*, Prepared> prepared_;
  std::vector<Queued> queued_;
  int names_ = 0;
  bool broken_ = false;
  bool worth_again_ = false;
};

}  // namespace lectern::job
