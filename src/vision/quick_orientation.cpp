#include "vision/quick_orientation.h"

#include <opencv2/core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "image/vectorized.h"
#include "vision/ink.h"
#include "vision/text_lines.h"

namespace lectern::vision {
namespace {

constexpr int side_px_max = 1024;
constexpr int strip_px = 64;  // narrow enough for a crooked page, wide enough for several letters

// What strips across lines of text show. Small letters make a dark band; b, d, f, h, k, l, t and capitals rise above
// it, g, j, p, q, y hang below, and in every language written with them the first are several times as many. The other
// axis of a page shows about as much of one as of the other.
struct LineEvidence {
  int risen = 0;                           // pieces of lines with clearly more ink above the band than below
  int hanging = 0;                         // and with more below
  std::unordered_set<std::uint64_t> seen;  // the same again (a sheet of labels, a form) is no more evidence
  double lean() const { return (risen - hanging) / std::sqrt(risen + hanging + 1.0); }
};

// Rows with ink in one strip, `begin` to `end`: a piece of a line of text, or something else.
void judge_band(const std::vector<std::uint8_t>& rows, int begin, int end, int room, LineEvidence& out) {
  constexpr int height_min = 5;
  constexpr int height_max = 48;
  const auto ink = [&](int y) { return int{rows[static_cast<std::size_t>(y)]}; };
  const int height = end - begin;
  if (height < height_min || height > height_max || room < 2) return;
  const int peak = *std::max_element(rows.begin() + begin, rows.begin() + end);
  if (peak * 7 < strip_px || peak * 5 > strip_px * 4) return;  // a few specks; a rule or a picture
  int core_begin = begin;
  while (ink(core_begin) * 5 < peak * 2) ++core_begin;
  int core_end = end;
  while (ink(core_end - 1) * 5 < peak * 2) --core_end;
  const int core = core_end - core_begin;
  const int above_rows = core_begin - begin;
  const int below_rows = end - core_end;
  // The bar over Devanagari is no band of small letters, and no letter rises or hangs by more than these are high.
  if (core < 3 || core * 5 < height * 2 || std::max(above_rows, below_rows) > core + 2) return;
  double above = 0;
  double below = 0;
  for (int y = begin; y < core_begin; ++y) above += ink(y);
  for (int y = core_end; y < end; ++y) below += ink(y);
  above /= peak;
  below /= peak;
  // Rows as dark as a third of the band are its own: the legs of F, P, T in a line of capitals.
  const auto clear = [](double much, double little, int in_rows) {
    return much > 0.35 && much > 1.5 * little && in_rows >= 2 && much < 0.3 * in_rows;
  };
  const bool rises = clear(above, below, above_rows);
  const bool hangs = clear(below, above, below_rows);
  if (!rises && !hangs) return;
  std::uint64_t profile = 1469598103934665603ULL;
  for (int y = begin; y < end; ++y) profile = (profile ^ static_cast<std::uint64_t>(ink(y))) * 1099511628211ULL;
  if (!out.seen.insert(profile).second) return;
  ++(rises ? out.risen : out.hanging);
}

// How much ink each strip of pixels holds, row by row; of strips that run down the page, column by column.
using StripInk = std::vector<std::vector<std::uint8_t>>;

LECTERN_VECTORIZED std::uint8_t count_ink(const std::uint8_t* pixels) {
  std::uint8_t count = 0;
  for (int x = 0; x < strip_px; ++x) count = static_cast<std::uint8_t>(count + (pixels[x] & 1U));
  return count;
}

LECTERN_VECTORIZED void add_ink(const std::uint8_t* __restrict pixels, std::uint8_t* __restrict counts, int width) {
  for (std::ptrdiff_t x = 0; x < width; ++x) counts[x] = static_cast<std::uint8_t>(counts[x] + (pixels[x] & 1U));
}

StripInk empty_strips(int across, int along) {
  return StripInk(static_cast<std::size_t>(across / strip_px),
                  std::vector<std::uint8_t>(static_cast<std::size_t>(along)));
}

StripInk strips_of_rows(const cv::Mat& ink) {
  StripInk strips = empty_strips(ink.cols, ink.rows);
  for (int y = 0; y < ink.rows; ++y) {
    const auto* pixels = ink.ptr<std::uint8_t>(y);
    for (std::vector<std::uint8_t>& strip : strips) {
      strip[static_cast<std::size_t>(y)] = count_ink(pixels);
      pixels += strip_px;
    }
  }
  return strips;
}

StripInk strips_of_columns(const cv::Mat& ink) {
  StripInk strips = empty_strips(ink.rows, ink.cols);
  int y = 0;
  for (std::vector<std::uint8_t>& strip : strips) {
    for (const int end = y + strip_px; y < end; ++y) add_ink(ink.ptr<std::uint8_t>(y), strip.data(), ink.cols);
  }
  return strips;
}

LineEvidence look_along(const StripInk& strips) {
  LineEvidence out;
  for (const std::vector<std::uint8_t>& rows : strips) {
    const auto length = static_cast<int>(rows.size());
    struct Band {
      int begin = 0;
      int end = 0;
    };
    std::vector<Band> bands;
    for (int y = 0; y < length; ++y) {
      if (rows[static_cast<std::size_t>(y)] < 2) continue;
      if (bands.empty() || bands.back().end < y) bands.push_back({y, y});
      bands.back().end = y + 1;
    }
    for (std::size_t i = 0; i < bands.size(); ++i) {
      const int before = i == 0 ? strip_px : bands[i].begin - bands[i - 1].end;
      const int after = i + 1 == bands.size() ? strip_px : bands[i + 1].begin - bands[i].end;
      judge_band(rows, bands[i].begin, bands[i].end, before + after, out);
    }
  }
  return out;
}

// Along which axis the letters stand, and about how many of them there are.
struct Letters {
  AxisVotes votes;
  double count = 0;
};
Letters find_letters(const cv::Mat& ink) {
  // A band across the middle of the page, where that is enough: it holds a little more than its share of the text.
  struct Band {
    int of_rows;  // one part in so many
    double share_of_text;
  };
  constexpr Band bands[] = {{4, 0.3}, {2, 0.6}};
  constexpr int votes_enough = 150;
  for (const Band& band : bands) {
    const int height = ink.rows / band.of_rows;
    const int top = (ink.rows - height) / 2;
    const AxisVotes votes = vote_on_axis(find_glyphs(ink.rowRange(top, top + height)));
    if (votes.total() >= votes_enough) return {.votes = votes, .count = votes.total() / band.share_of_text};
  }
  const AxisVotes votes = vote_on_axis(find_glyphs(ink));
  return {.votes = votes, .count = static_cast<double>(votes.total())};
}

}  // namespace

QuickOrientation quick_orientation(const image::Image& gray) {
  constexpr int pieces_min = 12;
  constexpr int times_as_many = 3;
  constexpr int votes_min = 60;
  constexpr double axis_sure = 0.75;
  constexpr double letters_in_piece_min = 7;
  QuickOrientation out;
  if (gray.width_px < 2 * strip_px || gray.height_px < 2 * strip_px) return out;
  double scale = 1;
  const cv::Mat ink = find_ink(reduced(gray_of(gray), side_px_max, scale), InkCare::glance);
  const LineEvidence across = look_along(strips_of_rows(ink));
  const LineEvidence along = look_along(strips_of_columns(ink));
  const auto leans = [](const LineEvidence& e) {
    return std::max(e.risen, e.hanging) >= pieces_min &&
           std::max(e.risen, e.hanging) >= times_as_many * std::min(e.risen, e.hanging);
  };
  if (!leans(across) && !leans(along)) return out;  // capitals, numbers, other scripts, pictures

  const Letters letters = find_letters(ink);
  if (letters.votes.total() < votes_min) return out;
  if (letters.votes.horizontal_share() >= axis_sure) out.sideways = Hunch::no;
  if (letters.votes.horizontal_share() <= 1 - axis_sure) out.sideways = Hunch::yes;
  // Scripts whose letters hang together (Devanagari, much of Arabic), or that lean as much along their lines as across
  // them, are not ours to judge.
  if (letters.count < letters_in_piece_min * (across.risen + across.hanging)) return out;
  if (out.sideways != Hunch::no || !leans(across) || std::abs(across.lean()) < 2.3 * std::abs(along.lean())) return out;
  out.upside_down = across.risen > across.hanging ? Hunch::no : Hunch::yes;
  return out;
}

}  // namespace lectern::vision
