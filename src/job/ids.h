// Names that the job room makes up.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"

namespace lectern::job {

// "job_" and 26 characters of [0-9a-z]: later ones sort after earlier ones, and none can be guessed.
std::string new_job_id(const Clock& clock, Random& random);
// Whether it could be one: keeps nonsense away from the store.
bool is_job_id(std::string_view text);
// Who a lease belongs to: host, process and a random part, so that a restarted worker is another one.
std::string new_worker_name(Random& random);

}  // namespace lectern::job
