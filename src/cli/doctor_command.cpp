#include "cli/commands.h"
#include "cli/doctor.h"

namespace lectern::cli {

int doctor_command(const CommandLine& line, const Config& config) {
  const std::vector<Finding> findings = examine(config);
  fmt::print("{}", line.json ? findings_json(findings) : findings_text(findings));
  const bool broken = std::ranges::any_of(findings, [](const Finding& f) { return f.health == Health::broken; });
  if (!line.json && !broken) fmt::print("\nLectern is ready to read.\n");
  return broken ? 1 : 0;
}

}  // namespace lectern::cli
