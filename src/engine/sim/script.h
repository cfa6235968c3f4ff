// A reply laid out in time: which bytes go out when, and what becomes of the connection. Faults are changes to a
// script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/sim/answer.h"
#include "engine/sim/latency.h"

namespace lectern::sim {

enum class Ending : std::uint8_t {
  keep_alive,  // the reply is whole and the connection goes on
  close,       // the connection is closed after the last byte
  silence,     // nothing more comes, and the slot stays taken, until the client goes away
};

struct Script {
  struct Step {
    std::size_t end = 0;   // bytes up to here go out…
    double at_work_s = 0;  // …when the request has got so much work
  };
  std::string early;  // goes out when the request arrives, before it has a slot
  std::string bytes;
  std::vector<Step> steps;
  Ending ending = Ending::keep_alive;
  int prompt_tokens = 0;
  int completion_tokens = 0;
};

struct ScriptInput {
  const Settings* settings = nullptr;
  const ChatRequest* request = nullptr;
  const FaultRule* fault = nullptr;  // null = all goes well
  std::uint64_t number = 0;          // of the request
  std::int64_t created = 0;          // Unix time
  bool close = false;                // this is the connection's last reply
  std::string load_header;           // a header line to add to a reply that is not streamed
};

// What goes out before the request has a slot: vLLM starts a stream at once.
std::string early_bytes(const ScriptInput& input);
// The rest, to be played from the moment when the request takes its slot.
Script make_script(const ScriptInput& input);

// A request that is refused: 429 and 503 never see a slot.
std::string refusal_bytes(const Settings& settings, const FaultRule& fault, bool close);

}  // namespace lectern::sim
