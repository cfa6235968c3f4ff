// A team's set-up as processes: lectern serve, lectern work, and where they keep jobs and bytes. Tests speak HTTP to it
// and wait for what happens; nothing here sleeps.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program.h"
#include "sim_engine.h"

namespace lectern::e2e {

using Json = nlohmann::json;

// Where jobs and bytes are kept: what serve, work, jobs and keys are told.
struct Place {
  std::vector<std::string> store;  // flags of all of them
  std::vector<std::string> blobs;  // flags of serve and work
  std::map<std::string, std::string> environment;
};

struct HttpReply {
  int status = 0;
  std::string head;
  std::string body;
  Json json() const { return Json::parse(body, nullptr, false); }
};

// lectern serve, on a free port. Ready when it is constructed.
class Service {
 public:
  // Without a worker, unless `more` says otherwise.
  explicit Service(const Place& place, std::vector<std::string> more = {"--workers", "none"});

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  Program& program() { return program_; }

  HttpReply request(const std::string& method, const std::string& path, const std::string& body = "",
                    const std::vector<std::string>& headers = {}) const;
  // Uploads a file under its own name; `fields` are those of the form. Returns the job.
  Json submit(const std::string& file, const std::map<std::string, std::string>& fields = {}) const;
  Json job(const std::string& id) const { return request("GET", "/v1/jobs/" + id).json(); }
  std::string result(const std::string& id, const std::string& format) const;
  std::vector<Json> events(const std::string& id) const;  // all of them so far
  // Reads the job's event stream until `count` events of the kind have come.
  void wait_for(const std::string& id, const std::string& kind, int count = 1) const;
  Json wait_until_over(const std::string& id) const;  // the job

 private:
  Program program_;
  int port_ = 0;
};

// lectern work. It works when it is constructed.
class WorkerProgram {
 public:
  explicit WorkerProgram(const Place& place, std::vector<std::string> more = {});

  const std::string& name() const { return name_; }  // as events call it
  const std::string& said() const { return said_; }  // when it began
  Program& program() { return program_; }

 private:
  Program program_;
  std::string said_;
  std::string name_;
};

// `lectern read FILE --format FORMAT` with these flags.
std::string read_prints(const std::string& file, const std::string& format, std::vector<std::string> more = {});
// Times differ from run to run; everything else must not.
std::string without_times(const std::string& json);

// Resident memory of a process and all its descendants, in KiB.
struct Memory {
  long rss_kib = 0;
  long pss_kib = 0;
  int processes = 0;
};
Memory memory_of(pid_t pid);

}  // namespace lectern::e2e
