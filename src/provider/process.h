// A provider that is a program of yours: it reads JSON lines on its standard input and answers on its standard output
// (docs/process-providers.md has the lines, plugins/ a program to start from). Restarted when it dies, asked in batches
// when it says that it can.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/timers.h"
#include "provider/provider.h"

namespace lectern::provider {

struct ProcessOptions {
  std::vector<std::string> command;  // program and arguments
  std::string model;                 // told to the program (with each question and as LECTERN_MODEL); empty = its own
  int batch_max = 64;                // the size found while working never passes it; halved on out-of-memory
  std::chrono::milliseconds start_timeout{300'000};  // loading a model takes a while
  int restarts_max = 5;                              // in a row, without an answer between them
  std::chrono::milliseconds restart_delay{500};      // before the first of them; doubles up to twenty times that
  // How long it may go on with a request that nobody waits for any more; then it counts as hung, and is restarted.
  std::chrono::milliseconds cancel_timeout{10'000};
  // Hears the size of each batch that is sent, on the provider's thread; must not block. May be empty.
  std::function<void(int batch)> on_batch;
};

// Starts the program with the first question. It lives on a thread of the provider's own, so that neither its pipes nor
// encoding pictures for it ever hold up the caller's loop; it ends with the provider, or when this program dies.
// Errors: an empty command, or no such program.
Result<std::unique_ptr<Provider>> make_process_provider(Timers& timers, ProcessOptions options);

}  // namespace lectern::provider
