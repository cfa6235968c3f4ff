// Documents made to harm their reader: cycles, bombs, lies about sizes, endless drawing, garbage where a codec expects
// data. Used in a small form by the tests and in full by bench/renderers.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lectern::document {

struct HostileFile {
  std::string name;
  std::function<std::string()> make;  // the file's bytes; some are large, so they are made one at a time
};

enum class HostileScale {
  quick,  // every kind, sized so that the whole list takes a few seconds
  full,   // 10 GB of inflated zeros, a million page objects, pages that draw until somebody stops them
};

std::vector<HostileFile> hostile_files(HostileScale scale);

// Zlib data of a few kilobytes that inflates, filter by filter, to `bytes` of zeros. Two filters reach 10 GB.
std::string zlib_bomb(std::size_t bytes, int filters);

}  // namespace lectern::document
