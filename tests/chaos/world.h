// A small team's installation, all of it real processes: PostgreSQL, an S3 server, the API, workers, a simulated
// engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chaos/victim.h"
#include "servers/fault_proxy.h"
#include "servers/own_port.h"
#include "servers/postgres_server.h"
#include "servers/s3_server.h"
#include "sim_engine.h"
#include "temp_folder.h"

namespace lectern::test {

struct WorldOptions {
  int workers = 2;
  std::vector<std::string> settings;  // "key=value" for API and workers
  bool proxied = false;               // API and workers reach PostgreSQL and S3 through proxies that can misbehave
};

class World {
 public:
  explicit World(const WorldOptions& options);

  std::uint16_t port() const { return port_.number(); }  // of the API
  PostgresServer& postgres() { return postgres_; }
  S3Server& s3() { return s3_; }
  FaultProxy& postgres_proxy() { return postgres_proxy_; }
  FaultProxy& s3_proxy() { return s3_proxy_; }
  testing_sim::SimEngine& engine() { return engine_; }
  ProgramVictim& api() { return *api_; }
  ProgramVictim& worker(int index) { return *workers_.at(static_cast<std::size_t>(index)); }
  int workers() const { return static_cast<int>(workers_.size()); }
  const std::filesystem::path& folder() const { return folder_.path(); }
  // What API and workers wrote, for the message of a failing test.
  std::string logs() const;
  // Waits until the API says that it is ready.
  void await_ready();

 private:
  TempFolder folder_;
  PostgresServer postgres_;
  S3Server s3_;
  FaultProxy postgres_proxy_{postgres_.port()};
  FaultProxy s3_proxy_{s3_.port()};
  testing_sim::SimEngine engine_;
  const OwnPort port_;
  std::unique_ptr<ProgramVictim> api_;
  std::vector<std::unique_ptr<ProgramVictim>> workers_;
};

}  // namespace lectern::test
