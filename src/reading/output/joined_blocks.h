// The blocks of a page as a reader wants them: what breaks off at the end of a column is joined with where it goes on.
#pragma once

#include <vector>

#include "reading/page_result.h"

namespace lectern::reading {

std::vector<Block> joined_blocks(const std::vector<Block>& blocks);

}  // namespace lectern::reading
