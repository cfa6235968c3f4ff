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
  // Failures often begin with the engine's name.
  std::string reason = change.reason;
  if (reason.starts_with(change.engine + ": ")) reason.erase(0, change.engine.size() + 2);
  return fmt::format("engine {} does not answer{}{}, trying again", change.engine, reason.empty() ? "" : ": ", reason);
}

}  // namespace lectern::cli
