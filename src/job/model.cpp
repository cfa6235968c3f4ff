#include "job/model.h"

#include <array>

namespace lectern::job {
namespace {

constexpr std::array<std::string_view, 5> phases{"queued", "running", "succeeded", "failed", "cancelled"};
constexpr std::array<std::string_view, 4> step_kinds{"split", "read", "assemble", "deliver"};
constexpr std::array<std::string_view, 7> task_states{"waiting", "ready",       "leased",   "done",
                                                      "failed",  "quarantined", "cancelled"};
constexpr std::array<std::string_view, 4> outcome_names{"none", "ok", "fallback", "failed"};

template <class Value, std::size_t n>
std::optional<Value> value_from(const std::array<std::string_view, n>& names, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Value>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Phase phase) {
  return phases.at(static_cast<std::size_t>(phase));
}
std::string_view to_string(StepKind kind) {
  return step_kinds.at(static_cast<std::size_t>(kind));
}
std::string_view to_string(TaskState state) {
  return task_states.at(static_cast<std::size_t>(state));
}
std::string_view to_string(PageOutcome outcome) {
  return outcome_names.at(static_cast<std::size_t>(outcome));
}
std::optional<Phase> phase_from(std::string_view name) {
  return value_from<Phase>(phases, name);
}
std::optional<StepKind> step_kind_from(std::string_view name) {
  return value_from<StepKind>(step_kinds, name);
}

}  // namespace lectern::job
