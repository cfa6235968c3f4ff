// Whatever a client sends to the simulated engine is a request or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/sim/chat_request.h"
#include "engine/sim/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto head = lectern::sim::parse_head(bytes);
  if (head && *head && (*head)->chunked) (void)lectern::sim::parse_chunked(bytes.substr((*head)->size));
  (void)lectern::sim::scan_chat_request(bytes);
  return 0;
}
