// Jobs, events and lists as clients see them. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/model.h"

namespace lectern::service {

// `delivery`: the task of its webhook, where there is one and it was asked for.
std::string job_json(const job::JobView& view, const std::optional<job::Task>& delivery);
// `next`: the cursor of the page after this one; empty = this is the last.
std::string jobs_json(const std::vector<job::JobView>& jobs, const std::string& next);
std::string event_json(const job::Event& event);
std::string events_json(const std::vector<job::Event>& events, bool more);

}  // namespace lectern::service
