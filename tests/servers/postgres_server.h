// A real PostgreSQL for tests, on a private folder, port and socket, with fsync on. Started by the test itself; every
// test that wants an empty database makes its own in it. PostgreSQL does not run as root: then it runs as the user
// postgres.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "servers/own_port.h"
#include "temp_folder.h"

namespace lectern::test {

class PostgresServer {
 public:
  // `settings`: "name=value", besides those that make it private. Throws with the server's log when it does not start.
  explicit PostgresServer(std::vector<std::string> settings = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::uint16_t port() const { return port_.number(); }
  const std::string& password() const { return password_; }
  // By TCP, with user and password; `port` where something stands in between.
  std::string url(const std::string& database, std::uint16_t port = 0) const;
  std::string socket_url(const std::string& database) const;
  // An empty database; returns its name.
  std::string new_database();
  // As superuser, over the socket. The first value of the first row, or nothing.
  std::string run(const std::string& sql, const std::string& database = "postgres");

  void start();   // after one of the next two; returns when it answers
  void stop();    // politely, as an administrator would: connections are ended
  void kill();    // SIGKILL to all its processes at once, as if the power went
  void pause();   // SIGSTOP to all of them
  void resume();  // SIGCONT
  std::string log() const;

 private:
  void make_cluster();
  std::vector<pid_t> processes() const;  // the server first
  void signal_all(int number) const;
  void reap();

  TempFolder folder_;
  const std::vector<std::string> settings_;
  std::string password_ = "hush-7261";
  const OwnPort port_;
  pid_t pid_ = -1;
  int databases_ = 0;
};

// One for the whole program, started when it is first asked for and stopped at its end.
PostgresServer& shared_postgres();

}  // namespace lectern::test
