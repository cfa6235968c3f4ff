// The pages of a server that are not completions: health, models, metrics, slots.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/sim/settings.h"

namespace lectern::sim {

struct ServerView {
  int running = 0;
  int waiting = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t answers = 0;
  std::int64_t started = 0;  // Unix time
};

struct StatusPage {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
};

// nullopt = this server has no such page.
std::optional<StatusPage> status_page(const Settings& settings, const ServerView& view, std::string_view path,
                                      std::string_view query);

// vLLM's header endpoint-load-metrics, when the request asked for it in this format ("text" or "json"); else empty.
std::string load_header(const Settings& settings, const ServerView& view, std::string_view format);

}  // namespace lectern::sim
