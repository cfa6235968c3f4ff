// Pieces that several messages are made of. For protocol*.cpp only.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "document/protocol.h"
#include "document/wire.h"

namespace lectern::document::protocol {

using wire::Reader;
using wire::Writer;

inline constexpr int side_px_max = 1'000'000;  // of any picture; larger ones are lies
inline constexpr std::int32_t int_max = std::numeric_limits<std::int32_t>::max();

inline void put_rect(Writer& out, const RectPt& rect) {
  out.f32(rect.x0);
  out.f32(rect.y0);
  out.f32(rect.x1);
  out.f32(rect.y1);
}

inline RectPt take_rect(Reader& in) {
  RectPt rect;
  rect.x0 = in.f32();
  rect.y0 = in.f32();
  rect.x1 = in.f32();
  rect.y1 = in.f32();
  return rect;
}

// At most `max` elements; true when some had to stay behind.
template <class T, class Put>
bool put_list(Writer& out, const std::vector<T>& list, std::size_t max, Put put_one) {
  const std::size_t size = std::min(list.size(), max);
  out.u32(static_cast<std::uint32_t>(size));
  for (std::size_t i = 0; i < size; ++i) put_one(out, list[i]);
  return size < list.size();
}

template <class Take>
auto take_list(Reader& in, std::size_t max, std::size_t bytes_each, Take take_one) {
  std::vector<decltype(take_one(in))> list;
  const std::uint32_t size = in.count(max, bytes_each);
  list.reserve(size);
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) list.push_back(take_one(in));
  return list;
}

// The value, if the reader saw nothing wrong and used everything up.
template <class T>
Result<T> finished(Reader& in, T value, MessageType type) {
  if (auto status = in.finish(to_string(type)); !status) return std::unexpected(std::move(status.error()));
  return value;
}

}  // namespace lectern::document::protocol
