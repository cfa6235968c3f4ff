// The chunks of a RIFF file (WebP). Bounded: never leaves the bytes given.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lectern::image {

// The body of the first chunk of that name (four letters); empty when there is none.
std::span<const std::uint8_t> find_riff_chunk(std::span<const std::uint8_t> file, std::string_view name);

}  // namespace lectern::image
