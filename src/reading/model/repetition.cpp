#include "reading/model/repetition.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "image/vectorized.h"
#include "reading/model/loop_limits.h"
#include "reading/model/symbols.h"

namespace lectern::reading {
namespace {

constexpr std::size_t lags = 512;         // longest unit, in symbols
constexpr std::size_t remembered = 4096;  // symbols; a loop is always found before it fills them
constexpr std::size_t tail_bytes = 16 * 1024;
constexpr int run_least = 48;                         // symbols that must come again before anybody looks closer
constexpr int looks_apart = 16;                       // symbols between two closer looks
constexpr std::uint32_t bytes_least = 450;            // of a loop; of one that counts:
constexpr std::uint32_t bytes_least_counting = 1300;  // both below what any limit asks for
constexpr int candidates_max = 6;                     // units tried in one look

// For each distance back: how many symbols up to here are the same as the one so far before them. One pass over all
// distances for each symbol costs less than anything that would have to guess the right one.
class Runs {
 public:
  Runs() { clear(); }
  // The longest run with this symbol.
  int add(std::int16_t symbol) {
    if (at_ == 0) {
      std::memmove(history_.data() + spare, history_.data(), lags * sizeof(std::int16_t));
      at_ = spare;
    }
    const int longest = extend(symbol, history_.data() + at_, runs_.data());
    history_[--at_] = symbol;
    seen_ = std::min(seen_ + 1, lags);
    return longest;
  }
  int run(std::size_t lag) const { return lag <= seen_ ? runs_[lag - 1] : 0; }
  void clear() {
    history_.fill(0);
    runs_.fill(0);
    at_ = spare;
    seen_ = 0;
  }

 private:
  static constexpr std::size_t spare = 2048;
  static constexpr std::int16_t run_max = 32000;
  LECTERN_VECTORIZED static int extend(std::int16_t symbol, const std::int16_t* __restrict before,
                                       std::int16_t* __restrict runs) {
    std::int16_t longest = 0;
    for (std::size_t i = 0; i < lags; ++i) {
      const std::int16_t run = runs[i];
      const auto more = static_cast<std::int16_t>(run < run_max ? run + 1 : run_max);
      const auto now = static_cast<std::int16_t>(before[i] == symbol ? more : 0);
      runs[i] = now;
      longest = now > longest ? now : longest;
    }
    return longest;
  }

  std::array<std::int16_t, spare + lags> history_;  // newest first, from at_
  std::array<std::int16_t, lags> runs_;
  std::size_t at_ = spare;
  std::size_t seen_ = 0;
};

// A unit as people want to see it: one line, not too long.
std::string shortened(std::string_view unit) {
  constexpr std::size_t bytes_max = 60;
  std::string out;
  for (const char c : unit) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
    if (out.size() > bytes_max + 4) break;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (out.size() <= bytes_max) return out;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;
  return out.substr(0, end) + "…";
}

}  // namespace

struct RepetitionDetector::State {
  SymbolSplitter splitter;
  Runs exact;
  Runs loose;
  std::array<Symbol, remembered> symbols;
  std::size_t count = 0;
  std::size_t look_at = 0;
  std::string tail;  // the last bytes, to show the unit
  std::size_t received = 0;
  bool done = false;
  Repetition repetition;

  const Symbol& back(std::size_t n) const { return symbols[(count - n) % remembered]; }  // 1 = the newest

  LoopUnit unit(std::size_t lag) const {
    std::array<Symbol, lags> turn;
    for (std::size_t i = 0; i < lag; ++i) turn[i] = back(lag - i);
    return loop_unit(std::span(turn).first(lag));
  }

  // Every number counts on by the same step from turn to turn. A few exceptions are allowed: months end.
  bool counts_evenly(std::size_t lag, std::size_t run) const {
    int numbers = 0;
    int uneven = 0;
    const std::size_t reach = std::min(run, remembered - 2 * lag - 1);
    for (std::size_t i = 1; i + lag <= reach; ++i) {
      if (back(i).kind != SymbolKind::number) continue;
      ++numbers;
      const std::uint32_t step = back(i).value - back(i + lag).value;
      uneven += step == back(i + lag).value - back(i + 2 * lag).value ? 0 : 1;
    }
    return numbers > 0 && uneven * 8 <= numbers;
  }

  void conclude(std::size_t lag, std::size_t run) {
    const std::size_t reach = std::min({run, remembered - 1, count});
    repetition.begins_at = back(reach).begins_at;
    repetition.times = static_cast<int>(run / lag) + 1;
    // The first turn that is a repetition, so that it is shown from its beginning.
    const std::size_t from = back(reach).begins_at;
    const std::size_t end = back(reach - lag).begins_at;
    const std::size_t tail_from = received - tail.size();
    if (from >= tail_from) repetition.unit = shortened(std::string_view(tail).substr(from - tail_from, end - from));
    done = true;
  }

  void look(const Runs& runs, bool counting) {
    int tried = 0;
    std::size_t smallest = 0;
    for (std::size_t lag = 1; lag <= lags && tried < candidates_max && !done; ++lag) {
      const int run = runs.run(lag);
      if (run < run_least || static_cast<std::size_t>(run) < lag + lag / 2) continue;
      if (smallest > 0 && lag % smallest == 0) continue;  // the same loop, two turns at a time
      const std::uint32_t begins_at =
          back(std::min<std::size_t>(static_cast<std::size_t>(run), remembered - 1)).begins_at;
      if (back(1).begins_at - begins_at < (counting ? bytes_least_counting : bytes_least)) continue;
      if (smallest == 0) smallest = lag;
      ++tried;
      const double turns = static_cast<double>(run) / static_cast<double>(lag);
      const auto length = static_cast<std::size_t>(run);
      const bool loops =
          counting ? is_counting_loop(unit(lag), turns) && counts_evenly(lag, length) : is_loop(unit(lag), turns);
      if (loops) conclude(lag, length);
    }
  }

  void add(const Symbol& symbol) {
    if (done) return;
    symbols[count++ % remembered] = symbol;
    const int longest_exact = exact.add(symbol.exact);
    const int longest_loose = loose.add(symbol.loose);
    if (count < look_at || std::max(longest_exact, longest_loose) < run_least) return;
    look_at = count + looks_apart;
    look(exact, false);
    if (!done) look(loose, true);
  }
};

RepetitionDetector::RepetitionDetector() : state_(std::make_unique<State>()) {}
RepetitionDetector::~RepetitionDetector() = default;
RepetitionDetector::RepetitionDetector(RepetitionDetector&&) noexcept = default;
RepetitionDetector& RepetitionDetector::operator=(RepetitionDetector&&) noexcept = default;

bool RepetitionDetector::add(std::string_view piece) {
  State& state = *state_;
  while (!piece.empty() && !state.done) {
    const std::string_view part = piece.substr(0, tail_bytes / 4);
    piece.remove_prefix(part.size());
    if (state.tail.size() + part.size() > tail_bytes) state.tail.erase(0, state.tail.size() - tail_bytes / 2);
    state.tail += part;
    state.received += part.size();
    state.splitter.add(part, [&](const Symbol& symbol) { state.add(symbol); });
  }
  return state.done;
}

const Repetition* RepetitionDetector::found() const {
  return state_->done ? &state_->repetition : nullptr;
}

void RepetitionDetector::reset() {
  *state_ = State{};
}

}  // namespace lectern::reading
