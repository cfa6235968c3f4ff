// Answers that decline instead of reading.
#pragma once

#include <string_view>

namespace lectern::reading {

// Short answers in which the model speaks of what it cannot do. A page may hold such words too: who has the page's own
// words should compare first.
bool is_refusal(std::string_view text);

}  // namespace lectern::reading
