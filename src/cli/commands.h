// cli/: commands, flags, progress bars, exit codes.
// May use: everything below it. Owns: the process (signals, standard streams, exit codes) and the wiring of the rooms.
// Start at command_line.h (what can be said), then read_command.cpp (how reading is put together).
#pragma once

#include "base/config.h"
#include "base/error.h"
#include "cli/command_line.h"

namespace lectern::cli {

enum ExitCode : int {
  exit_all_read = 0,
  exit_run_ended = 1,  // disk full, output folder in use, broken installation
  exit_usage = 2,
  exit_some_failed = 3,
  exit_none_read = 4,
  exit_budget_spent = 5,  // --max-tokens or --max-cost was reached; running again goes on
  exit_stopped = 130,
  exit_output_closed = 141,  // as if killed by SIGPIPE, like other programs in a pipe
};

// Of a command that ends with this error.
int exit_code(const Error& error);
// Says it on stderr, too.
int fail_with(const Error& error);

// Returns the exit code.
int run_command(const CommandLine& line);

int read_command(const CommandLine& line, const Config& config);
int serve_command(const CommandLine& line, const Config& config);
int work_command(const CommandLine& line, const Config& config);
int jobs_command(const CommandLine& line, const Config& config);
int keys_command(const CommandLine& line, const Config& config);
int bench_command(const CommandLine& line, const Config& config);
int config_command(const CommandLine& line, const LoadedSettings& settings);
int doctor_command(const CommandLine& line, const Config& config);
int version_command(const CommandLine& line);

}  // namespace lectern::cli
