#include "image/jbig2.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "image/arithmetic_decoder.h"

namespace lectern::image {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Reads big-endian numbers; past the end there is nothing, and `short_of` stays set.
class Reader {
 public:
  explicit Reader(Bytes bytes) : left_(bytes) {}
  std::uint32_t number(std::size_t size) {
    std::uint32_t value = 0;
    for (const std::uint8_t byte : take(size)) value = value << 8 | byte;
    return value;
  }
  Bytes take(std::size_t size) {
    if (size > left_.size()) {
      short_of_ = true;
      size = 0;
    }
    const Bytes taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  Bytes left() const { return left_; }
  bool short_of() const { return short_of_; }

 private:
  Bytes left_;
  bool short_of_ = false;
};

constexpr std::uint32_t unknown = 0xFFFF'FFFF;

enum SegmentType : std::uint8_t {
  generic_region = 38,
  lossless_generic_region = 39,
  page_information = 48,
  end_of_page = 49,
  end_of_stripe = 50,
  end_of_file = 51,
  extension = 62,
};

struct Segment {
  std::uint8_t type = 0;
  Bytes data;
};

struct Segments {
  std::vector<Segment> all;
  bool cut_off = false;
  bool unreadable = false;  // a header of unusual form: what follows cannot be told
};

// 7.2. Writers may leave padding behind the last segment.
Segments split(Bytes stream) {
  constexpr std::size_t segments_max = 10'000;
  Segments found;
  Reader in(stream);
  const auto is_padding = [](std::uint8_t byte) { return byte == 0 || byte == '\n' || byte == '\r' || byte == ' '; };
  const auto last = std::find_if_not(stream.rbegin(), stream.rend(), is_padding);
  const auto padding = static_cast<std::size_t>(last - stream.rbegin());
  while (in.left().size() > padding) {
    const std::uint32_t number = in.number(4);
    const std::uint32_t flags = in.number(1);
    const std::uint32_t referred = in.number(1) >> 5;
    constexpr std::uint32_t referred_short_max = 4;  // 7: many, counted in another way
    if (referred > referred_short_max || found.all.size() == segments_max) {
      found.unreadable = true;
      break;
    }
    in.take(referred * (number <= 0x100 ? 1 : number <= 0x1'0000 ? 2 : 4));
    in.take((flags & 0x40) != 0 ? 4 : 1);  // its page
    const std::uint32_t size = in.number(4);
    if (size == unknown && !in.short_of()) {
      found.unreadable = true;
      break;
    }
    const Segment segment{.type = static_cast<std::uint8_t>(flags & 0x3F), .data = in.take(size)};
    if (in.short_of()) break;
    found.all.push_back(segment);
    if (segment.type == end_of_page || segment.type == end_of_file) break;
  }
  // Even an empty page is coded as a region: a page without any has lost it.
  const bool empty = std::ranges::none_of(found.all, [](const Segment& s) { return s.type < page_information; });
  found.cut_off = in.short_of() || (empty && !found.unreadable);
  return found;
}

// A stripe of the page's full width.
struct Region {
  int y = 0;
  int height_px = 0;
  bool typical_prediction = false;
  Bytes coded;
};

bool is_plain_page(Bytes data, const Jbig2Picture& picture) {
  Reader in(data);
  const bool wide = in.number(4) == static_cast<std::uint32_t>(picture.width_px);
  const std::uint32_t height = in.number(4);
  in.take(8);  // resolution
  const bool black = (in.number(1) & 0x04) != 0;
  return !in.short_of() && wide && !black &&
         (height == static_cast<std::uint32_t>(picture.height_px) || height == unknown);
}

std::optional<Region> plain_region(Bytes data, const Jbig2Picture& picture) {
  Reader in(data);
  const bool wide = in.number(4) == static_cast<std::uint32_t>(picture.width_px);
  const std::uint32_t height = in.number(4);
  const std::uint32_t x = in.number(4);
  const std::uint32_t y = in.number(4);
  const std::uint32_t combined = in.number(1);
  const std::uint32_t flags = in.number(1);
  static constexpr std::uint8_t usual_pixels[] = {3, 0xFF, 0xFD, 0xFF, 2, 0xFE, 0xFE, 0xFE};
  const bool usual = std::ranges::equal(in.take(sizeof(usual_pixels)), usual_pixels);
  // On white, which nothing has touched yet, OR, XOR and REPLACE come to the same.
  const bool copied = combined == 0 || combined == 2 || combined == 4;
  constexpr std::uint32_t typical_prediction = 0x08;
  const auto rows = static_cast<std::uint32_t>(picture.height_px);
  if (in.short_of() || !wide || x != 0 || y > rows || height > rows - y || !copied || !usual ||
      (flags & ~typical_prediction) != 0) {
    return std::nullopt;
  }
  return Region{static_cast<int>(y), static_cast<int>(height), flags != 0, in.left()};
}

// The regions from top to bottom; nothing when they, or what is between them, are of another kind.
std::optional<std::vector<Region>> plain_regions(const Segments& segments, const Jbig2Picture& picture) {
  std::vector<Region> regions;
  int bottom = 0;
  bool page_seen = false;
  for (const Segment& segment : segments.all) {
    switch (segment.type) {
      case page_information:
        if (page_seen || !is_plain_page(segment.data, picture)) return std::nullopt;
        page_seen = true;
        break;
      case generic_region:
      case lossless_generic_region: {
        const auto region = plain_region(segment.data, picture);
        if (!page_seen || !region || region->y < bottom) return std::nullopt;
        bottom = region->y + region->height_px;
        regions.push_back(*region);
        break;
      }
      case end_of_page:
      case end_of_stripe:
      case end_of_file:
      case extension:
        break;
      default:
        return std::nullopt;
    }
  }
  if (!page_seen) return std::nullopt;
  return regions;
}

// A row as one byte a pixel, with white on both sides where contexts reach over the edges.
class Row {
 public:
  explicit Row(int width_px) : width_px_(width_px), bytes_(static_cast<std::size_t>(width_px) + 2 * margin) {}
  std::uint8_t* pixels() { return bytes_.data() + margin; }
  const std::uint8_t* pixels() const { return bytes_.data() + margin; }
  void clear() { std::ranges::fill(bytes_, std::uint8_t{0}); }
  // The first black pixel from here on; the width when there is none.
  int next_black(int x) const {
    if (x >= width_px_) return width_px_;
    const void* found = std::memchr(pixels() + x, 1, static_cast<std::size_t>(width_px_ - x));
    return found == nullptr ? width_px_ : static_cast<int>(static_cast<const std::uint8_t*>(found) - pixels());
  }

 private:
  static constexpr std::size_t margin = 4;
  int width_px_;
  std::vector<std::uint8_t> bytes_;
};

// 6.2.5 with template 0: a pixel's context are 5 pixels two rows above it, 7 of the row above, and 4 to its left.
class RegionDecoder {
 public:
  RegionDecoder(const Region& region, int width_px)
      : typical_prediction_(region.typical_prediction),
        width_px_(width_px),
        coder_(region.coded),
        contexts_(std::size_t{1} << 16),
        above2_(width_px),
        above_(width_px),
        row_(width_px) {}

  // Valid until the next call.
  const std::uint8_t* next_row() {
    std::swap(above2_, above_);
    std::swap(above_, row_);
    constexpr std::size_t same_row = 0x9B25;  // figure 8: the context of "is this row as the one above?"
    if (typical_prediction_ && coder_.decode(contexts_[same_row])) is_same_ = !is_same_;
    if (is_same_) {
      row_ = above_;
    } else {
      row_.clear();
      decode_pixels();
    }
    return row_.pixels();
  }

 private:
  void decode_pixels() {
    ArithmeticDecoder coder = coder_;  // in registers: bytes that are written might alias what `this` holds
    ArithmeticDecoder::Context* const contexts = contexts_.data();
    const std::uint8_t* const above2 = above2_.pixels();
    const std::uint8_t* const above = above_.pixels();
    std::uint8_t* const row = row_.pixels();
    std::uint32_t two_up = static_cast<std::uint32_t>(above2[0] << 1 | above2[1]);
    std::uint32_t one_up = static_cast<std::uint32_t>(above[0] << 2 | above[1] << 1 | above[2]);
    std::uint32_t before = 0;
    int black2 = -1;  // the next black pixels above, as far as they are known
    int black = -1;
    for (int x = 0; x < width_px_; ++x) {
      two_up = (two_up << 1 | above2[x + 2]) & 0x1F;
      one_up = (one_up << 1 | above[x + 3]) & 0x7F;
      if ((two_up | one_up | before) == 0 && (contexts[0] & 1) == 0) {
        // White all around: it stays so until a pixel above comes into sight, or a black one is decoded.
        if (black2 <= x + 2) black2 = above2_.next_black(x + 3);
        if (black <= x + 3) black = above_.next_black(x + 4);
        const int until = black2 == width_px_ && black == width_px_ ? width_px_ : std::min(black2 - 2, black - 3);
        x += coder.skip(contexts[0], until - x);
        if (x == width_px_) break;
        two_up = above2[x + 2];
        one_up = above[x + 3];
      }
      const bool pixel = coder.decode(contexts[two_up << 11 | one_up << 4 | before]);
      row[x] = static_cast<std::uint8_t>(pixel);
      before = (before << 1 | static_cast<std::uint32_t>(pixel)) & 0xF;
    }
    coder_ = coder;
  }

  bool typical_prediction_;
  bool is_same_ = false;
  int width_px_;
  ArithmeticDecoder coder_;
  std::vector<ArithmeticDecoder::Context> contexts_;
  Row above2_;
  Row above_;
  Row row_;
};

}  // namespace

Status decode_jbig2(const Jbig2Picture& picture, const TakeBilevelRow& take) {
  const Segments segments = split(picture.stream);
  if (segments.cut_off) return fail(ErrorKind::corrupt, "the JBIG2 picture is cut off");
  const auto regions = plain_regions(segments, picture);
  if (segments.unreadable || !regions || picture.width_px <= 0) {
    return fail(ErrorKind::invalid_input, "the JBIG2 picture is of another kind");
  }
  const Row white(picture.width_px);
  int y = 0;
  for (const Region& region : *regions) {
    for (; y < region.y; ++y) take(white.pixels());
    RegionDecoder decoder(region, picture.width_px);
    for (; y < region.y + region.height_px; ++y) take(decoder.next_row());
  }
  for (; y < picture.height_px; ++y) take(white.pixels());
  return {};
}

bool is_cut_off_jbig2(Bytes stream) {
  return split(stream).cut_off;
}

}  // namespace lectern::image
