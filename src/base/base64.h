// Base64 (RFC 4648, with padding), fast enough to happen while bytes go out: no copy of a picture is ever kept encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lectern {

constexpr std::size_t base64_size(std::size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

// Writes base64_size(bytes.size()) characters to `out` and returns how many. Encoding piece by piece gives the same as
// encoding at once when every piece but the last is a multiple of three bytes.
std::size_t base64_encode(std::span<const std::uint8_t> bytes, char* out);
std::string base64_encode(std::span<const std::uint8_t> bytes);

// Strict: the alphabet, padding where it belongs, no unused bits set; padding may be left out. nullopt = it is none.
std::optional<std::string> base64_decode(std::string_view text);

// The ways to do it that this processor can run, slowest first; base64_encode takes the last. For tests and bench/.
struct Base64Encoder {
  std::string_view name;
  std::size_t (*encode)(std::span<const std::uint8_t> bytes, char* out);
};
std::vector<Base64Encoder> base64_encoders();

}  // namespace lectern
