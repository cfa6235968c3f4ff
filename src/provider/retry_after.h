// What a server asks for by the header Retry-After. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace lectern::provider {

// Seconds or a date, as a time from `now`: at least nothing, at most a day. nullopt = it says neither.
std::optional<std::chrono::milliseconds> retry_after(std::string_view value, WallTime now);

}  // namespace lectern::provider
