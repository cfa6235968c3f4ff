// What a process and all below it use of the machine, as /proc tells.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace lectern::cli {

struct TreeUse {
  double cpu_s = 0;               // user and system, of those that ended too
  std::int64_t memory_bytes = 0;  // proportional set size: shared pages count once
};

// `without` and what is below it is left out. Processes that end meanwhile are as good as absent.
TreeUse tree_use(pid_t root, const std::vector<pid_t>& without = {});

}  // namespace lectern::cli
