// Base64 as it stands in data URIs: strict alphabet, padding only at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lectern::sim {

// Decodes into `out` and returns how many bytes that made; nullopt when the text is not base64.
// REQUIRES: out holds at least text.size() / 4 * 3 bytes.
std::optional<std::size_t> decode_base64(std::string_view text, std::span<std::uint8_t> out);

}  // namespace lectern::sim
