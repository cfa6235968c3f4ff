// A real S3 server for tests: SeaweedFS, in one process, on private ports and in a private folder. Why this one:
// docs/decisions/0009-s3-server-for-tests.md. ./dev test fetches its program; each test takes a prefix of its own.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "servers/own_port.h"
#include "temp_folder.h"

namespace lectern::test {

class S3Server {
 public:
  // Returns when it takes writes. Throws with the server's log when it does not start.
  S3Server();
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  std::uint16_t port() const { return ports_[0].number(); }
  const std::string& bucket() const { return bucket_; }
  // For open_blobs; `port` where something stands in between.
  std::string url(const std::string& prefix, std::uint16_t port = 0) const;
  std::string new_prefix();  // that nobody has used
  // Its credentials, as Config::Environment wants them.
  std::optional<std::string> environment(const std::string& name) const;

  void start();   // after kill(); returns when it takes writes
  void kill();    // SIGKILL
  void pause();   // SIGSTOP
  void resume();  // SIGCONT
  std::string log() const;

 private:
  void spawn();
  bool takes_writes();

  TempFolder folder_;
  const std::string bucket_ = "lectern-test";
  const std::array<OwnPort, 8> ports_;  // S3 first
  pid_t pid_ = -1;
  int prefixes_ = 0;
};

// One for the whole program, started when it is first asked for and killed at its end.
S3Server& shared_s3();

}  // namespace lectern::test
