// Numbers and texts as bytes, in the machine's own order: both ends run on one machine.
// The Reader is made for bytes from an enemy: every step is bounds-checked, the first violation is remembered, and all
// reads after it give zero. So a decoder can be written straight on and ask once, at the end, whether all was well.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace lectern::document::wire {

// Valid UTF-8 without control characters: what may reach a terminal, a log or a JSON writer.
bool is_clean_text(std::string_view text);
// The same text with every offending byte replaced (U+FFFD, or a blank for control characters), cut to `bytes_max`.
std::string clean_text(std::string_view text, std::size_t bytes_max);

class Writer {
 public:
  void u8(std::uint8_t value) { number(value); }
  void u16(std::uint16_t value) { number(value); }
  void u32(std::uint32_t value) { number(value); }
  void u64(std::uint64_t value) { number(value); }
  void i32(std::int32_t value) { number(value); }
  void i64(std::int64_t value) { number(value); }
  void boolean(bool value) { number(static_cast<std::uint8_t>(value)); }
  void f32(float value) { number(std::isfinite(value) ? value : 0.0F); }  // what is not finite is written as 0
  void bytes(std::string_view value);                                     // as it is
  void text(std::string_view value, std::size_t bytes_max);               // cleaned and cut
  template <class E>
    requires std::is_enum_v<E>
  void enumerator(E value) {
    number(static_cast<std::uint8_t>(value));
  }

  std::vector<std::uint8_t> take() {
    bytes_.resize(used_);
    used_ = 0;
    return std::move(bytes_);
  }

 private:
  template <class T>
  void number(T value) {
    append(&value, sizeof value);
  }
  // A page has thousands of characters of a dozen numbers each, so this is all inline and grows by doubling.
  void append(const void* from, std::size_t size) {
    if (bytes_.size() - used_ < size) bytes_.resize(std::max<std::size_t>(2 * bytes_.size(), used_ + size + 256));
    if (size > 0) std::memcpy(bytes_.data() + used_, from, size);
    used_ += size;
  }
  std::vector<std::uint8_t> bytes_;
  std::size_t used_ = 0;  // of them
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::int32_t i32() { return number<std::int32_t>(); }
  std::int64_t i64() { return number<std::int64_t>(); }
  std::int32_t i32_between(std::int32_t min, std::int32_t max, const char* what);
  bool boolean();
  float f32() {  // finite, or a violation
    const auto value = number<float>();
    require(std::isfinite(value), "a number that is not finite");
    return ok() ? value : 0.0F;
  }
  std::string bytes(std::size_t bytes_max);
  std::string text(std::size_t bytes_max);  // clean, or a violation
  // How many elements follow: at most `max`, and no more than the rest can hold at `bytes_each` each, so that a lie
  // about the count cannot make us reserve memory.
  std::uint32_t count(std::size_t max, std::size_t bytes_each);
  // An enumerator from `first` to `last`; the enumeration must have no holes there.
  template <class E>
  E enumerator(E first, E last) {
    const auto value = u8();
    require(value >= static_cast<std::uint8_t>(first) && value <= static_cast<std::uint8_t>(last),
            "an unknown enumerator");
    return ok() ? static_cast<E>(value) : first;
  }

  void require(bool holds, const char* violation) {
    if (!holds && violation_ == nullptr) violation_ = violation;
  }
  bool ok() const { return violation_ == nullptr; }
  // Success when nothing was violated and every byte was used; ErrorKind::corrupt otherwise.
  Status finish(std::string_view message_name);

 private:
  template <class T>
  T number() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  void take(void* to, std::size_t size) {
    require(size <= rest_.size(), "fewer bytes than announced");
    if (!ok() || size == 0) return;
    std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  std::span<const std::uint8_t> rest_;
  const char* violation_ = nullptr;
};

}  // namespace lectern::document::wire
