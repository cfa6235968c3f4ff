#include "base/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace lectern {
namespace {

constexpr rlim_t enough = 65'536;  // where there is no limit at all, some programs that we start would count up to it

}  // namespace

void allow_many_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, enough));
  ::setrlimit(RLIMIT_NOFILE, &limit);  // else it stays as it was, which open_files_max() tells
}

int open_files_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1'000'000));
}

}  // namespace lectern
