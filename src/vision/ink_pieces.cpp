#include "vision/ink_pieces.h"

#include <opencv2/core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace lectern::vision {
namespace {

// A piece as far as it is known; where two turn out to be one, the later one points to the earlier.
struct Growing {
  InkPiece piece;
  std::uint64_t begins = 0;  // the first square of two by two pixels that it touches, row by row
  int joined = 0;            // itself, or what it is a part of
};

struct Run {
  int x0 = 0;
  int x1 = 0;  // exclusive
  int piece = 0;
};

class Pieces {
 public:
  int begin(int y, const Run& run) {
    const auto index = static_cast<int>(all_.size());
    all_.push_back(
        {.piece = {run.x0, y, run.x1, y + 1, run.x1 - run.x0}, .begins = square(y, run.x0), .joined = index});
    return index;
  }

  void extend(int index, int y, const Run& run) {
    InkPiece& piece = at(index).piece;
    piece.x0 = std::min(piece.x0, run.x0);
    piece.x1 = std::max(piece.x1, run.x1);
    piece.y1 = y + 1;
    piece.area_px += run.x1 - run.x0;
    at(index).begins = std::min(at(index).begins, square(y, run.x0));
  }

  int root(int index) {
    while (at(index).joined != index) index = at(index).joined = at(at(index).joined).joined;
    return index;
  }

  int join(int one, int other) {
    if (one == other) return one;
    const int kept = std::min(one, other);
    const int gone = std::max(one, other);
    InkPiece& into = at(kept).piece;
    const InkPiece& from = at(gone).piece;
    into = {std::min(into.x0, from.x0), std::min(into.y0, from.y0), std::max(into.x1, from.x1),
            std::max(into.y1, from.y1), into.area_px + from.area_px};
    at(kept).begins = std::min(at(kept).begins, at(gone).begins);
    at(gone).joined = kept;
    return kept;
  }

  std::vector<InkPiece> in_order() const {
    std::vector<const Growing*> whole;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (static_cast<std::size_t>(all_[i].joined) == i) whole.push_back(&all_[i]);
    }
    std::ranges::sort(whole, {}, &Growing::begins);
    std::vector<InkPiece> pieces;
    pieces.reserve(whole.size());
    for (const Growing* each : whole) pieces.push_back(each->piece);
    return pieces;
  }

 private:
  static std::uint64_t square(int y, int x) {
    return static_cast<std::uint64_t>(y / 2) << 32U | static_cast<std::uint64_t>(x / 2);
  }
  Growing& at(int index) { return all_[static_cast<std::size_t>(index)]; }

  std::vector<Growing> all_;
};

// Where `value` is found next in a row, from `x` on; `width` when it is not.
int next(const std::uint8_t* row, int x, int width, int value) {
  const void* found = std::memchr(row + x, value, static_cast<std::size_t>(width - x));
  return found == nullptr ? width : static_cast<int>(static_cast<const std::uint8_t*>(found) - row);
}

}  // namespace

std::vector<InkPiece> find_pieces(const cv::Mat& ink) {
  constexpr int inked = 255;
  Pieces pieces;
  std::vector<Run> above;
  std::vector<Run> runs;
  for (int y = 0; y < ink.rows; ++y) {
    const auto* row = ink.ptr<std::uint8_t>(y);
    runs.clear();
    std::size_t first = 0;  // of the runs above that this one or those after it may touch
    for (int x = next(row, 0, ink.cols, inked); x < ink.cols; x = next(row, x, ink.cols, inked)) {
      Run run{.x0 = x, .x1 = next(row, x, ink.cols, 0), .piece = -1};
      x = run.x1;
      while (first < above.size() && above[first].x1 < run.x0) ++first;
      for (std::size_t i = first; i < above.size() && above[i].x0 <= run.x1; ++i) {
        const int touched = pieces.root(above[i].piece);
        run.piece = run.piece < 0 ? touched : pieces.join(run.piece, touched);
      }
      if (run.piece < 0) {
        run.piece = pieces.begin(y, run);
      } else {
        pieces.extend(run.piece, y, run);
      }
      runs.push_back(run);
    }
    std::swap(above, runs);
  }
  return pieces.in_order();
}

}  // namespace lectern::vision
