// The prompts that pages are read with when the user gives none: the files of prompts/, built in.
#pragma once

#include <string_view>

#include "reading/model/sizing.h"

namespace lectern::reading {

std::string_view reading_prompt(ModelFamily family);

}  // namespace lectern::reading
