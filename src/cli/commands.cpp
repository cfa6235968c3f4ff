#include "cli/commands.h"

#include "cli/run_setup.h"

namespace lectern::cli {

int run_command(const CommandLine& line) {
  if (line.command == Command::version) return version_command(line);
  auto settings =
      load_settings({.flags = line.settings, .config_file = line.config_file, .environment = process_environment()});
  if (!settings) {
    fmt::print(stderr, "lectern: {}\n", settings.error().for_caller);
    return exit_usage;
  }
  telemetry::log_setup(log_level(settings->config, line.quiet), line.json);
  switch (line.command) {
    case Command::read:
    case Command::ocr:
      return read_command(line, settings->config);
    case Command::serve:
      return serve_command(line, settings->config);
    case Command::work:
      return work_command(line, settings->config);
    case Command::jobs:
      return jobs_command(line, settings->config);
    case Command::keys:
      return keys_command(line, settings->config);
    case Command::bench:
      return bench_command(line, settings->config);
    case Command::config:
      return config_command(line, *settings);
    case Command::doctor:
      return doctor_command(line, settings->config);
    case Command::version:
      return version_command(line);
  }
  return exit_usage;
}

}  // namespace lectern::cli
