// A stream cut into events: the same events whatever the sizes in which the bytes arrive.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "provider/sse.h"

namespace {

std::vector<std::string> events_of(std::string_view bytes, std::size_t step) {
  lectern::provider::SseParser parser;
  std::vector<std::string> events;
  const auto collect = [&](std::string_view event) {
    events.emplace_back(event);
    return true;
  };
  for (std::size_t at = 0; at < bytes.size(); at += step) parser.feed(bytes.substr(at, step), collect);
  parser.finish(collect);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = events_of(bytes, size + 1);
  if (whole != events_of(bytes, 1) || whole != events_of(bytes, 3)) std::abort();
  return 0;
}
