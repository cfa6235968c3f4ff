// The lectern program: parses the command line and hands over to the command.
#include <malloc.h>

#include <cstdio>
#include <variant>

#include "cli/command_line.h"
#include "cli/commands.h"

namespace {

// Pages come through in buffers of the same few megabytes; see keep_page_buffers() of lectern-render. Smaller here:
// there is one heap for each thread.
void keep_page_buffers() {
  constexpr int largest_kept = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, largest_kept);
  mallopt(M_TRIM_THRESHOLD, 2 * largest_kept);
  mallopt(M_ARENA_MAX, 2);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lectern::cli;
  keep_page_buffers();
  const auto parsed = parse_command_line(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(exit->text.c_str(), exit->code == 0 ? stdout : stderr);
    return exit->code;
  }
  return run_command(std::get<CommandLine>(parsed));
}
