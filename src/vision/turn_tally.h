// Which way is up, judged from what trial reads gave in each direction. Pure: the reading itself is in orientation.cpp.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "vision/ocr.h"
#include "vision/orientation.h"

namespace lectern::vision {

// Letters that were surely read. Text the wrong way up also gives letters, but seldom sure ones; digits count half, as
// 0, 1, 6, 8 and 9 read well upside down.
double letters_surely_read(std::span<const OcrWord> words);

// Evidence for the four clockwise turns, gathered line by line. Where both axes were tried, lines across the page must
// be two or more: the label along the axis of a chart is one.
class TurnTally {
 public:
  void add(int clockwise_degrees, std::span<const OcrWord> words);

  // The page was read as it stands so well that the other way up need not be tried.
  bool surely_upright() const;
  // One line has been read well as it stands: go on with the next before trying the other way up.
  bool likely_upright() const;
  // One direction is so far ahead that more lines would not change it.
  std::optional<Orientation> decided() const;
  // The best that can be said when there are no more lines; nothing when no direction made sense.
  std::optional<Orientation> best_guess() const;

 private:
  struct Direction {
    double sure = 0;        // letters surely read
    double characters = 0;  // letters and digits read at all
    double trusted = 0;     // the same, each weighed by its word's confidence
    int lines = 0;
    int sensible_lines = 0;  // those with a word's worth of sure letters
  };
  std::optional<Orientation> least_nonsense() const;
  bool rests_on_one_line(int quarter_turns) const;
  struct Ranking {
    int turn = 0;
    double first = 0;
    double second = 0;
  };
  Ranking ranking() const;

  std::array<Direction, 4> directions_;  // by quarter turns
};

}  // namespace lectern::vision
