// Everything that can be told to the simulated engine, by flag when it starts (--name value) and by POST /sim/control
// while it runs ({"name": value}): one table for both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/sim/fault.h"
#include "engine/sim/latency.h"

namespace lectern::sim {

enum class Dialect : std::uint8_t { vllm, llama_server };

struct Settings {
  Dialect as = Dialect::vllm;
  int slots = 0;  // 0 = as many as come
  LatencyModel latency;
  double batching = 0;
  double time_scale = 1;
  std::uint64_t seed = 1;
  std::vector<FaultRule> faults;
  std::string model = "sim-vl";  // "*" = any name is served
  std::string api_key;           // empty = none is asked for
  int context_tokens = 0;        // 0 = endless
  int words = 150;
  double probability = 0.95;  // of the answer's tokens: their geometric mean, where logprobs are asked for
  bool grounding = false;
  bool echo = false;             // the prompt's text is the answer
  std::string fixed_text;        // the answer, when not empty
  int chunk_tokens = 8;          // tokens in one event of a stream
  double keep_alive_s = 5;       // idle connections are closed after this
  int keep_alive_requests = -1;  // connections are closed after so many; 0 = never, -1 = as the dialect does
  bool check_images = false;     // what does not begin like an image is refused
  bool loading = false;          // llama-server: 503 on every path; vLLM: does not listen yet
  bool paused = false;           // requests are taken and wait, as by a sleeping vLLM
  bool dead = false;             // does not listen, and has closed every connection
  std::uint64_t die_after = 0;   // becomes dead on this request; 0 = never
  double back_after_s = 0;       // dead no longer after this; 0 = stays dead
};

struct SettingHelp {
  std::string_view name;
  std::string_view value;  // what stands for its value in help; empty = a switch that needs none
  std::string_view help;
};
std::span<const SettingHelp> setting_help();

// Changes one setting. The error names it and says what would be understood. "fault" adds a rule; the empty text and
// "none" remove them all.
Status set(Settings& settings, std::string_view name, std::string_view value);

// Applies a JSON object of settings: strings, numbers and booleans as values; "fault" may be an array, and replaces the
// rules. All or nothing.
Status apply_json(Settings& settings, std::string_view json);

}  // namespace lectern::sim
