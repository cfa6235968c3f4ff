#include "document/wire.h"

namespace lectern::document::wire {
namespace {

// The length of the well-formed UTF-8 sequence at the start of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (at(i) & 0xC0) == 0x80; };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;   // overlong
    if (lead == 0xED && at(1) >= 0xA0) return 0;  // a surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (lead == 0xF0 && at(1) < 0x90) return 0;   // overlong
    if (lead == 0xF4 && at(1) >= 0x90) return 0;  // beyond U+10FFFF
    return 4;
  }
  return 0;
}

// C0, DEL, and C1 (U+0080…U+009F, which some terminals obey too).
bool is_control(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (lead < 0x20 || lead == 0x7F) return true;
  return sequence.size() == 2 && lead == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

bool is_clean_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  std::string clean;
  clean.reserve(std::min(text.size(), bytes_max));
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    std::string_view piece = length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
    if (is_control(piece)) piece = " ";
    if (clean.size() + piece.size() > bytes_max) break;
    clean += piece;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

void Writer::bytes(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  append(value.data(), value.size());
}

void Writer::text(std::string_view value, std::size_t bytes_max) {
  bytes(clean_text(value, bytes_max));
}

std::int32_t Reader::i32_between(std::int32_t min, std::int32_t max, const char* what) {
  const std::int32_t value = i32();
  require(value >= min && value <= max, what);
  return ok() ? value : 0;
}

bool Reader::boolean() {
  const std::uint8_t value = u8();
  require(value <= 1, "a truth value that is neither 0 nor 1");
  return value == 1;
}

std::string Reader::bytes(std::size_t bytes_max) {
  const std::uint32_t size = count(bytes_max, 1);
  std::string value(size, '\0');
  take(value.data(), size);
  return value;
}

std::string Reader::text(std::size_t bytes_max) {
  std::string value = bytes(bytes_max);
  require(is_clean_text(value), "a text that is not clean UTF-8");
  return ok() ? value : std::string();
}

std::uint32_t Reader::count(std::size_t max, std::size_t bytes_each) {
  const std::uint32_t value = u32();
  require(value <= max, "a count above its limit");
  require(value <= rest_.size() / bytes_each, "a count larger than the message");
  return ok() ? value : 0;
}

Status Reader::finish(std::string_view message_name) {
  require(rest_.empty(), "bytes after the end");
  if (ok()) return {};
  return fail(ErrorKind::corrupt, "the renderer sent a broken '{}' message: {}", message_name, violation_);
}

}  // namespace lectern::document::wire
