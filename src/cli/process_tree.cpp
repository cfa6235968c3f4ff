#include "cli/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace lectern::cli {
namespace {

std::string slurp(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();  // does not throw when the process goes away meanwhile, as iterators would
  return out.str();
}

// Each thread of a process lists the processes that it started.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (auto it = std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone);
       !gone && it != std::filesystem::directory_iterator(); it.increment(gone)) {
    std::istringstream list(slurp((it->path() / "children").string()));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

// utime, stime, cutime and cstime: fields 14 to 17, counted after the name, which may hold blanks.
double cpu_seconds(pid_t pid) {
  const std::string stat = slurp(fmt::format("/proc/{}/stat", pid));
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double ticks = 0;
  for (int field = 14; field <= 17; ++field) {
    double one = 0;
    if (fields >> one) ticks += one;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::int64_t memory_bytes(pid_t pid) {
  std::istringstream lines(slurp(fmt::format("/proc/{}/smaps_rollup", pid)));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Pss:")) continue;
    std::int64_t kib = 0;
    std::istringstream(line.substr(4)) >> kib;
    return kib * 1024;
  }
  return 0;
}

}  // namespace

TreeUse tree_use(pid_t root, const std::vector<pid_t>& without) {
  TreeUse use;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    if (std::ranges::find(without, pid) != without.end()) continue;
    use.cpu_s += cpu_seconds(pid);
    use.memory_bytes += memory_bytes(pid);
    for (const pid_t child : children_of(pid)) open.push_back(child);
  }
  return use;
}

}  // namespace lectern::cli
