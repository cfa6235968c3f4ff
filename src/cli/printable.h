// Text of others (names of files, answers of servers) on a terminal, which takes control characters for commands.
#pragma once

#include <string>
#include <string_view>

namespace lectern::cli {

// One line without control characters: line ends and tabs become blanks, all others '?'.
std::string printable(std::string_view text);

}  // namespace lectern::cli
