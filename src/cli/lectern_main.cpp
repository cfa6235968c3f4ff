// The lectern program: parses the command line and hands over to the command.
#include <cstdio>
#include <variant>

#include "base/open_files.h"
#include "base/page_buffers.h"
#include "cli/command_line.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace lectern::cli;
  lectern::keep_page_buffers();
  lectern::allow_many_open_files();
  const auto parsed = parse_command_line(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(exit->text.c_str(), exit->code == 0 ? stdout : stderr);
    return exit->code;
  }
  return run_command(std::get<CommandLine>(parsed));
}
