// What chaos tests send, and what must be true of it in the end.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

#include "chaos/world.h"

namespace lectern::test {

struct Document {
  std::string name;
  std::string bytes;
  std::string expected;  // what `lectern read` says with the world's engine
};

// Some of samples/, small and digital.
std::vector<Document> sample_documents(World& world);

// The job when it is over, by the end of its events; an API that is down is waited for. Null when `give_up` says so
// first, and when the job is gone: then the test has failed.
nlohmann::json await_end(World& world, const std::string& job, const std::function<bool()>& give_up);

// How hard it was, by the events.
struct Story {
  int lost = 0;
  int late = 0;
  int again = 0;
  Story& operator+=(const Story& other);
};
// Succeeded, every page ok, every page published exactly once, events without gaps, result as expected.
Story check_job(World& world, const std::string& job, const Document& document, int& pages);

}  // namespace lectern::test
