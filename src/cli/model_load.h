// How busy the models of a run are, for those who watch it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lectern::cli {

struct EngineLoad {
  std::string name;
  bool away = false;  // taken out until it answers again
  int in_flight = 0;
  int limit = 0;
  std::string last_failure;
  bool operator==(const EngineLoad&) const = default;
};

struct ModelLoad {
  int in_flight = 0;
  int limit = 0;    // requests that may be in flight; 0 = no models are asked
  int waiting = 0;  // for a place
  std::uint64_t retries = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::vector<EngineLoad> engines;
  bool operator==(const ModelLoad&) const = default;
};

// An engine that went away or came back between two looks.
struct EngineChange {
  std::string engine;
  bool away = false;
  std::string reason;  // why it is away
  bool operator==(const EngineChange&) const = default;
};
std::vector<EngineChange> engine_changes(const ModelLoad& before, const ModelLoad& after);

// "engine http://gpu:8000 does not answer: connection refused, trying again"
std::string to_text(const EngineChange& change);
// The first half of it.
std::string not_answering(const std::string& engine, const std::string& reason);

}  // namespace lectern::cli
