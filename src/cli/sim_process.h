// The simulated engine as a child of ours: started for a bench, gone with it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace lectern::cli {

class SimProcess {
 public:
  // Starts lectern-sim-engine, which lies beside this program, with `arguments` and a port of its own choice; returns
  // when it listens. Errors say what it said.
  static Result<SimProcess> start(const std::vector<std::string>& arguments);
  ~SimProcess();
  SimProcess(SimProcess&& other) noexcept;
  SimProcess& operator=(SimProcess&&) = delete;

  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }

 private:
  SimProcess(pid_t pid, UniqueFd output) : pid_(pid), output_(std::move(output)) {}

  pid_t pid_;
  UniqueFd output_;  // kept open: it may say more
  std::string address_;
};

}  // namespace lectern::cli
