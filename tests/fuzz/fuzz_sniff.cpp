// Any first bytes of a file get an answer for people.
#include <cstdint>
#include <cstdlib>

#include "document/render/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto sniffed = lectern::document::sniff({data, size});
  if (sniffed.looks_like.empty()) std::abort();
  return 0;
}
