// The numbers that stand for enumerators in the tables of every database. They lie on disks: they never change, new
// ones are added at the end.
#pragma once

#include <cstdint>

#include "job/model.h"

namespace lectern::job {

static_assert(static_cast<int>(Phase::queued) == 0 && static_cast<int>(Phase::running) == 1 &&
              static_cast<int>(Phase::succeeded) == 2 && static_cast<int>(Phase::failed) == 3 &&
              static_cast<int>(Phase::cancelled) == 4);
static_assert(static_cast<int>(StepKind::split) == 0 && static_cast<int>(StepKind::read) == 1 &&
              static_cast<int>(StepKind::assemble) == 2 && static_cast<int>(StepKind::deliver) == 3);
static_assert(static_cast<int>(TaskState::waiting) == 0 && static_cast<int>(TaskState::ready) == 1 &&
              static_cast<int>(TaskState::leased) == 2 && static_cast<int>(TaskState::done) == 3 &&
              static_cast<int>(TaskState::failed) == 4 && static_cast<int>(TaskState::quarantined) == 5 &&
              static_cast<int>(TaskState::cancelled) == 6);
static_assert(static_cast<int>(PageOutcome::none) == 0 && static_cast<int>(PageOutcome::ok) == 1 &&
              static_cast<int>(PageOutcome::fallback) == 2 && static_cast<int>(PageOutcome::failed) == 3);

template <class Enum>
constexpr std::int64_t code(Enum value) {
  return static_cast<std::int64_t>(value);
}

template <class Enum>
constexpr Enum from_code(std::int64_t value) {
  return static_cast<Enum>(value);
}

}  // namespace lectern::job
