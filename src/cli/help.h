// Help pages, made from the options as they are declared: nothing is said twice.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lectern::cli {

// Usage, description, the options by group in aligned columns, and the footer (examples).
std::string render_help(const CLI::App& command, const std::string& name);

}  // namespace lectern::cli
