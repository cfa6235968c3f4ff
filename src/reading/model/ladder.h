// What to try next when a model's answer is no good. Pure: what has been tried in, the next rung out.
//
// For each model in turn: ask → ask with a penalty → a smaller picture, or the page in two halves. Then the builtin
// reader, then the placeholder. Not every trouble takes every rung: a smaller picture does not mend a refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "provider/failure.h"
#include "reading/model/judge.h"

namespace lectern::reading {

enum class Rung : std::uint8_t {
  ask,          // as configured
  penalise,     // against repetition, and a little warmer
  smaller,      // with a smaller picture
  halves,       // each half of the page by itself
  builtin,      // the builtin reader instead of models
  placeholder,  // nothing could read it
};
std::string_view to_string(Rung rung);

struct Step {
  Rung rung = Rung::ask;
  std::size_t model = 0;
  bool operator==(const Step&) const = default;
};

// How a step ended: an answer that was judged, or none.
struct StepOutcome {
  std::optional<Verdict> verdict;
  std::optional<provider::FailureReason> failure;  // when there is no verdict
  bool out_of_time = false;                        // the page's deadline has passed
};

struct LadderOptions {
  std::size_t models = 1;
  bool builtin = true;
  int smaller_max = 2;  // how often a picture can be made smaller
};

class Ladder {
 public:
  explicit Ladder(LadderOptions options) : options_(options) {}

  Step first() const { return {}; }
  // nullopt: stay with what there is (a good answer, or the best of doubtful ones). REQUIRES: `outcome` is of the step
  // given last.
  std::optional<Step> next(const StepOutcome& outcome);

 private:
  Step give_up_model(bool out_of_time);
  std::optional<Step> mend(const StepOutcome& outcome);

  const LadderOptions options_;
  Step at_;
  bool penalised_ = false;  // these three: on the present model
  bool halved_ = false;
  int smaller_ = 0;
};

}  // namespace lectern::reading
