// The adaptive arithmetic decoder of JBIG2 (ITU-T T.88 annex E): yes-no decisions, each with the context that it is
// made in. Any bytes decode to something; past their end come ones, as the standard wants it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace lectern::image {

class ArithmeticDecoder {
 public:
  // What has been learned in one context: twice the index of the estimate, plus the more probable answer.
  using Context = std::uint8_t;

  explicit ArithmeticDecoder(std::span<const std::uint8_t> bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {
    code_ = static_cast<std::uint32_t>(peek(0)) << 16;
    take_byte();
    code_ <<= 7;
    bits_ -= 7;
  }

  [[gnu::always_inline]] bool decode(Context& context) {
    const Step& step = steps[context];
    const std::uint32_t less = step.probability;
    bool answer = (context & 1) != 0;
    interval_ -= less;
    if (code_ >= less) {  // the upper part of the interval: as a rule the more probable answer
      code_ -= less;
      if (interval_ >= half) [[likely]]
        return answer;
      if (interval_ < less) {  // the two parts have changed places
        answer = !answer;
        context = step.after_less;
      } else {
        context = step.after_more;
      }
    } else {
      if (interval_ < less) {
        context = step.after_more;
      } else {
        answer = !answer;
        context = step.after_less;
      }
      interval_ = less;
    }
    do {
      if (bits_ == 0) take_byte();
      interval_ <<= 1;
      code_ <<= 1;
      --bits_;
    } while (interval_ < half);
    return answer;
  }

  // How many decisions in a row, at most `count_max`, surely have the more probable answer in this context without
  // changing it; they are taken. Empty paper is decoded so, hundreds of pixels at a time.
  int skip(Context context, int count_max) {
    const std::uint32_t less = steps[context].probability;
    const auto sure = static_cast<int>(std::min(code_, interval_ - half) / less);
    const int count = std::min(sure, count_max);
    code_ -= static_cast<std::uint32_t>(count) * less;
    interval_ -= static_cast<std::uint32_t>(count) * less;
    return count;
  }

 private:
  // The standard's registers A and Qe, sixteen bits up, so that they can be compared with all of C.
  static constexpr std::uint32_t half = 0x8000'0000;
  struct Step {
    std::uint32_t probability = 0;  // of the less probable answer
    Context after_more = 0;
    Context after_less = 0;
  };
  static const std::array<Step, 94> steps;

  std::uint8_t peek(std::ptrdiff_t ahead) const { return end_ - next_ > ahead ? next_[ahead] : std::uint8_t{0xFF}; }

  // BYTEIN: after 0xFF a byte has seven bits, or is a marker that ends the data.
  [[gnu::always_inline]] void take_byte() {
    if (peek(0) != 0xFF) {
      ++next_;
      code_ += static_cast<std::uint32_t>(peek(0)) << 8;
      bits_ = 8;
    } else if (peek(1) > 0x8F) {
      code_ += 0xFF00;
      bits_ = 8;
    } else {
      ++next_;
      code_ += static_cast<std::uint32_t>(peek(0)) << 9;
      bits_ = 7;
    }
  }

  std::uint32_t interval_ = half;
  std::uint32_t code_ = 0;
  int bits_ = 0;  // of the last byte that are still to come
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

}  // namespace lectern::image
