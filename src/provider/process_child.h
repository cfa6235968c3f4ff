// One running program with its standard streams in our hands: started in a process group of its own, killed with all
// that it started when this object goes, or by the kernel when the thread that started it ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace lectern::provider {

// Where `name` is, as a shell would look for it. Errors: not_found, saying what to do.
Result<std::string> find_program(const std::string& name);

class ProcessChild {
 public:
  // Must be called on the thread that shall keep it alive. `environment` joins ours ("NAME=value").
  static Result<ProcessChild> start(const std::string& program, const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment);
  ~ProcessChild();  // kills and waits
  ProcessChild(ProcessChild&& other) noexcept;
  ProcessChild& operator=(ProcessChild&&) = delete;
  ProcessChild(const ProcessChild&) = delete;

  // Ours to take: input is a socket (writing to a dead program is then an error and not a signal), the others pipes
  // that do not block; `exited` becomes readable when the program has ended (none where the kernel is too old for it).
  UniqueFd input;
  UniqueFd output;
  UniqueFd errors;
  UniqueFd exited;

  void kill() const;  // with its whole group
  bool ended() const;
  // Kills it if it still runs and waits for it. "exit status 3", "SIGSEGV".
  std::string reap();

 private:
  ProcessChild() = default;
  pid_t pid_ = -1;  // -1 = reaped: the number may belong to a stranger
};

}  // namespace lectern::provider
