// The host's decoders of what a renderer says. Any bytes give a value or an error; a value that was accepted keeps the
// promises of its type, so sending it on and decoding it again gives the same.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "document/protocol.h"

namespace {

using namespace lectern::document;

template <class Decode>
void check(protocol::Bytes bytes, Decode decode) {
  const auto value = decode(bytes);
  if (!value) return;
  const auto again = decode(protocol::encode(*value));
  if (!again || *again != *value) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const protocol::Bytes bytes(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      check(bytes, protocol::decode_content);
      break;
    case 1:
      check(bytes, protocol::decode_opened);
      break;
    case 2:
      check(bytes, [](protocol::Bytes b) { return protocol::decode_rendered(b, 1 << 20, 1 << 18); });
      break;
    case 3:
      check(bytes, protocol::decode_error);
      break;
    case 4:
      check(bytes, protocol::decode_hello);
      break;
    default:
      if (bytes.size() >= protocol::header_bytes) {
        const auto header = protocol::decode_header(bytes.first<protocol::header_bytes>());
        if (header && header->payload_bytes > protocol::payload_bytes_max(header->type)) std::abort();
      }
  }
  return 0;
}
