#include "cli/model_load.h"

#include <fmt/format.h>

#include <algorithm>

namespace lectern::cli {

std::vector<EngineChange> engine_changes(const ModelLoad& before, const ModelLoad& after) {
  std::vector<EngineChange> changes;
  for (const EngineLoad& engine : after.engines) {
    const auto known = std::ranges::find(before.engines, engine.name, &EngineLoad::name);
    const bool was_away = known != before.engines.end() && known->away;
    if (engine.away == was_away) continue;
    changes.push_back({engine.name, engine.away, engine.away ? engine.last_failure : ""});
  }
  return changes;
}

std::string to_text(const EngineChange& change) {
  if (!change.away) return fmt::format("engine {} answers again", change.engine);
  return not_answering(change.engine, change.reason) + ", trying again";
}

std::string not_answering(const std::string& engine, const std::string& reason) {
  // Failures often begin with the engine's name, as a sentence of their own.
  if (reason.starts_with(engine + " ")) return "engine " + reason;
  const std::string why = reason.starts_with(engine + ": ") ? reason.substr(engine.size() + 2) : reason;
  return fmt::format("engine {} does not answer{}{}", engine, why.empty() ? "" : ": ", why);
}

}  // namespace lectern::cli
