// The prompts that pages are read with when the user gives none: the files of prompts/, built in.
#pragma once

#include <string_view>

#include "reading/model/sizing.h"

namespace lectern::reading {

std::string_view reading_prompt(ModelFamily family);

// Members that a request of this family needs beside the usual ones, as the text of a JSON object; empty = none.
// Servers that do not know them ignore them.
std::string_view request_extras(ModelFamily family);

}  // namespace lectern::reading
