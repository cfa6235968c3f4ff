#include "image/jbig2_encoder.h"

#include <algorithm>
#include <array>
#include <vector>

namespace lectern::image {
namespace {

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

// 7.2: number, type, no segments referred to, page (0 = all), length.
struct Segment {
  std::uint32_t number = 0;
  std::uint8_t type = 0;
  std::uint8_t page = 1;
};
void put_segment(std::string& out, const Segment& segment, std::string_view data) {
  put(out, segment.number, 4);
  put(out, segment.type, 1);
  put(out, 0, 1);
  put(out, segment.page, 1);
  put(out, data.size(), 4);
  out += data;
}

// Table E.1: the probability of the less probable symbol, and where to go after either.
struct State {
  std::uint16_t qe;
  std::uint8_t after_more_probable;
  std::uint8_t after_less_probable;
  bool switches;
};
constexpr std::array<State, 47> states{
    {{0x5601, 1, 1, true},    {0x3401, 2, 6, false},   {0x1801, 3, 9, false},   {0x0AC1, 4, 12, false},
     {0x0521, 5, 29, false},  {0x0221, 38, 33, false}, {0x5601, 7, 6, true},    {0x5401, 8, 14, false},
     {0x4801, 9, 14, false},  {0x3801, 10, 14, false}, {0x3001, 11, 17, false}, {0x2401, 12, 18, false},
     {0x1C01, 13, 20, false}, {0x1601, 29, 21, false}, {0x5601, 15, 14, true},  {0x5401, 16, 14, false},
     {0x5101, 17, 15, false}, {0x4801, 18, 16, false}, {0x3801, 19, 17, false}, {0x3401, 20, 18, false},
     {0x3001, 21, 19, false}, {0x2801, 22, 19, false}, {0x2401, 23, 20, false}, {0x2201, 24, 21, false},
     {0x1C01, 25, 22, false}, {0x1801, 26, 23, false}, {0x1601, 27, 24, false}, {0x1401, 28, 25, false},
     {0x1201, 29, 26, false}, {0x1101, 30, 27, false}, {0x0AC1, 31, 28, false}, {0x09C1, 32, 29, false},
     {0x08A1, 33, 30, false}, {0x0521, 34, 31, false}, {0x0441, 35, 32, false}, {0x02A1, 36, 33, false},
     {0x0221, 37, 34, false}, {0x0141, 38, 35, false}, {0x0111, 39, 36, false}, {0x0085, 40, 37, false},
     {0x0049, 41, 38, false}, {0x0025, 42, 39, false}, {0x0015, 43, 40, false}, {0x0009, 44, 41, false},
     {0x0005, 45, 42, false}, {0x0001, 45, 43, false}, {0x5601, 46, 46, false}}};

// The arithmetic coder of annex E. The names of its registers are the standard's: A is the interval, C the code.
class ArithmeticEncoder {
 public:
  void code(std::uint32_t context, bool bit) {
    Context& now = contexts_[context];
    const State& state = states[now.state];
    a_ -= state.qe;
    if (bit == now.more_probable) {
      if ((a_ & 0x8000) != 0) {
        c_ += state.qe;
        return;
      }
      if (a_ < state.qe) {
        a_ = state.qe;
      } else {
        c_ += state.qe;
      }
      now.state = state.after_more_probable;
    } else {
      if (a_ < state.qe) {
        c_ += state.qe;
      } else {
        a_ = state.qe;
      }
      if (state.switches) now.more_probable = !now.more_probable;
      now.state = state.after_less_probable;
    }
    do {
      a_ <<= 1;
      c_ <<= 1;
      if (--bits_until_byte_ == 0) byte_out();
    } while ((a_ & 0x8000) == 0);
  }

  // What was coded, with the marker that ends it.
  std::string finish() {
    const std::uint32_t end = c_ + a_;
    c_ |= 0xFFFF;
    if (c_ >= end) c_ -= 0x8000;
    for (int i = 0; i < 2; ++i) {
      c_ <<= bits_until_byte_;
      byte_out();
    }
    if (bytes_.back() != 0xFF) bytes_.push_back(0xFF);
    bytes_.push_back(0xAC);
    return {bytes_.begin() + 1, bytes_.end()};
  }

 private:
  struct Context {
    std::uint8_t state = 0;
    bool more_probable = false;
  };

  void byte_out() {
    constexpr std::uint32_t carry = 0x8000000;
    if (bytes_.back() != 0xFF && c_ >= carry) {
      ++bytes_.back();
      c_ &= carry - 1;
    }
    // After 0xFF a byte has seven bits only: room for a carry, so that it need not go further back.
    const int bits = bytes_.back() == 0xFF ? 7 : 8;
    const int shift = 27 - bits;
    bytes_.push_back(static_cast<std::uint8_t>(c_ >> shift));
    c_ &= (1U << shift) - 1;
    bits_until_byte_ = bits;
  }

  std::uint32_t a_ = 0x8000;
  std::uint32_t c_ = 0;
  int bits_until_byte_ = 12;
  std::vector<Context> contexts_ = std::vector<Context>(1U << 16);
  std::vector<std::uint8_t> bytes_ = {0};  // the first only takes a carry
};

// A row as one byte a pixel, with white around it where contexts reach over the edges.
class Row {
 public:
  explicit Row(int width_px) : pixels_(static_cast<std::size_t>(width_px) + left + right) {}
  void unpack(const std::uint8_t* bits, int width_px) {
    for (int x = 0; x < width_px; ++x) {
      pixels_[static_cast<std::size_t>(x) + left] = (bits[x / 8] >> (7 - x % 8)) & 1;
    }
  }
  std::uint32_t at(int x) const { return pixels_[static_cast<std::size_t>(x + left)]; }
  bool operator==(const Row&) const = default;

 private:
  static constexpr int left = 4;
  static constexpr int right = 4;
  std::vector<std::uint8_t> pixels_;
};

// 6.2.5, template 0 with its adaptive pixels where the standard suggests them: 5 pixels two rows above, 7 of the row
// above, 4 to the left.
std::string code_region(const BilevelPicture& picture, bool typical_prediction) {
  constexpr std::uint32_t same_row_context = 0x9B25;  // figure 8
  ArithmeticEncoder coder;
  const int width = picture.width_px;
  Row above2(width);
  Row above(width);
  Row row(width);
  bool was_same = false;
  for (int y = 0; y < picture.height_px; ++y) {
    const auto stride = static_cast<std::size_t>((width + 7) / 8);
    row.unpack(picture.rows.data() + stride * static_cast<std::size_t>(y), width);
    const bool same = typical_prediction && row == above;
    if (typical_prediction) coder.code(same_row_context, same != was_same);
    was_same = same;
    if (!same) {
      std::uint32_t two_up = above2.at(0) << 1 | above2.at(1);
      std::uint32_t one_up = above.at(0) << 2 | above.at(1) << 1 | above.at(2);
      std::uint32_t before = 0;
      for (int x = 0; x < width; ++x) {
        two_up = (two_up << 1 | above2.at(x + 2)) & 0x1F;
        one_up = (one_up << 1 | above.at(x + 3)) & 0x7F;
        coder.code(two_up << 11 | one_up << 4 | before, row.at(x) != 0);
        before = (before << 1 | row.at(x)) & 0xF;
      }
    }
    std::swap(above2, above);
    std::swap(above, row);
  }
  return coder.finish();
}

}  // namespace

std::string encode_jbig2(const BilevelPicture& picture, const Jbig2Options& options) {
  constexpr std::uint8_t lossless_generic_region = 39;
  constexpr std::uint8_t page_information = 48;
  constexpr std::uint8_t end_of_stripe = 50;
  const bool striped = options.stripe_rows > 0;
  const auto width = static_cast<std::uint32_t>(picture.width_px);
  const auto height = static_cast<std::uint32_t>(picture.height_px);
  const std::uint32_t step = striped ? static_cast<std::uint32_t>(options.stripe_rows) : height;

  std::string page;
  put(page, width, 4);
  put(page, striped ? 0xFFFF'FFFF : height, 4);
  put(page, 0, 8);                            // resolution: not told
  put(page, 1, 1);                            // lossless; white to begin with
  put(page, striped ? 0x8000 | step : 0, 2);  // in stripes of at most so many rows
  std::string out;
  std::uint32_t number = 0;
  put_segment(out, {.number = number++, .type = page_information}, page);

  for (std::uint32_t y = 0; y < height; y += step) {
    const std::uint32_t rows = std::min(step, height - y);
    const std::size_t stride = (std::size_t{width} + 7) / 8;
    std::string region;
    put(region, width, 4);
    put(region, rows, 4);
    put(region, 0, 4);  // where it stands
    put(region, y, 4);
    put(region, 0, 1);                                         // added to what is there
    put(region, options.typical_prediction ? 0x08 : 0x00, 1);  // arithmetic coding, template 0
    put(region, 0x03FF'FDFF'02FE'FEFE, 8);                     // adaptive pixels: (3,-1) (-3,-1) (2,-2) (-2,-2)
    region += code_region({picture.width_px, static_cast<int>(rows), picture.rows.subspan(stride * y, stride * rows)},
                          options.typical_prediction);
    put_segment(out, {.number = number++, .type = lossless_generic_region}, region);
    if (!striped) continue;
    std::string end;
    put(end, y + rows - 1, 4);
    put_segment(out, {.number = number++, .type = end_of_stripe}, end);
  }
  return out;
}

std::string jbig2_globals(std::string_view comment) {
  constexpr std::uint8_t extension = 62;
  std::string data;
  put(data, 0x2000'0000, 4);  // a comment of single bytes, which nothing depends on: pairs of name and value
  data += "Comment";
  put(data, 0, 1);
  data += comment;
  put(data, 0, 2);
  std::string out;
  put_segment(out, {.number = 2, .type = extension, .page = 0}, data);
  return out;
}

}  // namespace lectern::image
