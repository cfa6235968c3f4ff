#include "reading/model/ladder.h"

#include <utility>

namespace lectern::reading {

std::string_view to_string(Rung rung) {
  switch (rung) {
    case Rung::ask:
      return "ask";
    case Rung::penalise:
      return "penalise";
    case Rung::smaller:
      return "smaller";
    case Rung::halves:
      return "halves";
    case Rung::builtin:
      return "builtin";
    case Rung::placeholder:
      return "placeholder";
  }
  std::unreachable();
}

// What may mend this trouble with the same model; nothing when another reader has to take over.
std::optional<Step> Ladder::mend(const StepOutcome& outcome) {
  const auto penalise = [this]() -> std::optional<Step> {
    if (std::exchange(penalised_, true)) return std::nullopt;
    return Step{Rung::penalise, at_.model};
  };
  const auto smaller = [this]() -> std::optional<Step> {
    if (smaller_ >= options_.smaller_max || halved_) return std::nullopt;
    ++smaller_;
    return Step{Rung::smaller, at_.model};
  };
  const auto halves = [this]() -> std::optional<Step> {
    if (std::exchange(halved_, true)) return std::nullopt;
    return Step{Rung::halves, at_.model};
  };
  if (outcome.verdict) {
    switch (*outcome.verdict) {
      case Verdict::good:
      case Verdict::doubtful:
        return std::nullopt;
      case Verdict::looping:
        // Halves change what the model sees more than another size does, and loops come from dense pages.
        if (auto step = penalise()) return step;
        return halves();
      case Verdict::truncated:
        return halves();  // the text is longer than an answer may be
      case Verdict::empty:
      case Verdict::refused:
        return penalise();  // a little warmth is often enough
    }
    std::unreachable();
  }
  using enum provider::FailureReason;
  switch (*outcome.failure) {
    case too_long:
      if (auto step = smaller()) return step;
      return halves();
    case out_of_memory:
      return smaller();
    case bad_request:
    case bad_image:
    case not_supported:
    case unknown_model:
    case unauthorized:
    case quota:
    case rate_limited:
    case overloaded:
    case loading:
    case engine_failed:
    case unreachable:
    case connection_lost:
    case timed_out:
    case cancelled:
    case bad_reply:
      return std::nullopt;  // whoever asked has retried what is worth retrying
  }
  std::unreachable();
}

Step Ladder::give_up_model(bool out_of_time) {
  // The deadline is for all asking together; the builtin reader has limits of its own.
  if (!out_of_time && at_.model + 1 < options_.models) {
    penalised_ = false;
    halved_ = false;
    smaller_ = 0;
    return {Rung::ask, at_.model + 1};
  }
  return {options_.builtin ? Rung::builtin : Rung::placeholder, at_.model};
}

std::optional<Step> Ladder::next(const StepOutcome& outcome) {
  if (at_.rung == Rung::placeholder) return std::nullopt;
  if (at_.rung == Rung::builtin) {
    if (outcome.verdict == Verdict::good) return std::nullopt;
    at_.rung = Rung::placeholder;
    return at_;
  }
  if (outcome.failure == provider::FailureReason::cancelled && !outcome.out_of_time) return std::nullopt;
  if (outcome.verdict == Verdict::good) return std::nullopt;
  if (outcome.verdict == Verdict::doubtful) {
    // Another model may know better; the builtin reader is no match for a model that has read the page.
    if (outcome.out_of_time || at_.model + 1 >= options_.models) return std::nullopt;
    at_ = give_up_model(false);
    return at_;
  }
  std::optional<Step> step;
  if (!outcome.out_of_time) step = mend(outcome);
  at_ = step ? *step : give_up_model(outcome.out_of_time);
  return at_;
}

}  // namespace lectern::reading
