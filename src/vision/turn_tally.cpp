#include "vision/turn_tally.h"

#include <algorithm>
#include <cmath>

namespace lectern::vision {
namespace {

// A word's confidence under this is what nonsense gets; at `sure` it is as good as it becomes.
constexpr double doubtful = 0.60;
constexpr double sure = 0.96;

struct Count {
  double weighed = 0;  // letters 1, digits ½
  double characters = 0;
};

Count count(std::string_view utf8) {
  Count count;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // inside a character
    const bool digit = c >= '0' && c <= '9';
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (byte >= 0xC3 && byte != 0xE2);  // not “ ” — •
    count.weighed += letter ? 1.0 : digit ? 0.5 : 0.0;
    count.characters += letter || digit ? 1.0 : 0.0;
  }
  return count;
}

}  // namespace

double letters_surely_read(std::span<const OcrWord> words) {
  double sum = 0;
  for (const OcrWord& word : words) {
    const double letters = count(word.text).weighed;
    if (letters < 1) continue;
    const double certainty =
        std::clamp((static_cast<double>(word.confidence) - doubtful) / (sure - doubtful), 0.0, 1.0);
    sum += letters * certainty * certainty;
  }
  return sum;
}

void TurnTally::add(int clockwise_degrees, std::span<const OcrWord> words) {
  Direction& direction = directions_[static_cast<std::size_t>(clockwise_degrees / 90 % 4)];
  const double sure_letters = letters_surely_read(words);
  direction.sure += sure_letters;
  if (sure_letters >= 2) ++direction.sensible_lines;
  for (const OcrWord& word : words) {
    const double characters = count(word.text).characters;
    direction.characters += characters;
    direction.trusted += characters * static_cast<double>(word.confidence);
  }
  ++direction.lines;
}

TurnTally::Ranking TurnTally::ranking() const {
  Ranking result{0, directions_[0].sure, 0};
  for (int turn = 1; turn < 4; ++turn) {
    const double value = directions_[static_cast<std::size_t>(turn)].sure;
    if (value > result.first) {
      result = {turn, value, result.first};
    } else {
      result.second = std::max(result.second, value);
    }
  }
  return result;
}

bool TurnTally::rests_on_one_line(int quarter_turns) const {
  const bool both_axes = directions_[0].lines > 0 && directions_[1].lines > 0;
  return both_axes && quarter_turns % 2 == 1 && directions_[static_cast<std::size_t>(quarter_turns)].sensible_lines < 2;
}

bool TurnTally::likely_upright() const {
  const Direction& upright = directions_[0];
  return directions_[2].lines == 0 && upright.sure >= 8 && upright.sure >= 0.7 * upright.characters;
}

bool TurnTally::surely_upright() const {
  return likely_upright() && directions_[0].sure >= 16;
}

std::optional<Orientation> TurnTally::decided() const {
  if (surely_upright()) return Orientation{0, 0.99F};
  const Ranking r = ranking();
  if (r.first - r.second < 8 || r.first < 2 * r.second || rests_on_one_line(r.turn)) return std::nullopt;
  return Orientation{r.turn * 90, 0.97F};
}

std::optional<Orientation> TurnTally::best_guess() const {
  const Ranking r = ranking();
  if (rests_on_one_line(r.turn)) return std::nullopt;
  if (r.first >= 2.5 && r.first >= 1.5 * r.second + 0.5) {
    // From a word (0.65) to a line of them (0.9).
    return Orientation{r.turn * 90, static_cast<float>(std::clamp(0.58 + 0.03 * (r.first - r.second), 0.6, 0.9))};
  }
  return least_nonsense();
}

// No direction gave sure letters, yet one may be far less nonsense than the others: a name, a word in capitals.
std::optional<Orientation> TurnTally::least_nonsense() const {
  constexpr double characters_min = 8;
  constexpr double lead_min = 0.25;
  constexpr double mean_min = 0.45;  // the pattern of a photograph gives letters too, with less
  double best = 0;
  double second = 0;
  int turn = 0;
  for (int i = 0; i < 4; ++i) {
    const Direction& direction = directions_[static_cast<std::size_t>(i)];
    const double mean = direction.characters > 0 ? direction.trusted / direction.characters : 0.0;
    if (mean > best) {
      second = best;
      best = mean;
      turn = i;
    } else {
      second = std::max(second, mean);
    }
  }
  if (best < mean_min || best - second < lead_min || rests_on_one_line(turn)) return std::nullopt;
  if (directions_[static_cast<std::size_t>(turn)].characters < characters_min) return std::nullopt;
  return Orientation{turn * 90, 0.55F};
}

}  // namespace lectern::vision
