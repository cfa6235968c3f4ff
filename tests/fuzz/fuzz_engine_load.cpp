// What an engine says of its load: any bytes give figures that make sense, or none.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "provider/engine_load.h"

namespace {

void check(const std::optional<lectern::provider::LoadFigures>& figures) {
  if (!figures) return;
  for (const std::optional<int>& figure : {figures->slots, figures->running, figures->waiting}) {
    if (figure.value_or(0) < 0) std::abort();
  }
  if (figures->slots && figures->running.value_or(0) > *figures->slots) std::abort();
  const auto hint = lectern::provider::hint_from(*figures, 3);
  if (hint.others < 0 || (hint.crowded && hint.others == 0)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(lectern::provider::parse_metrics(text));
  check(lectern::provider::parse_slots(text));
  return 0;
}
