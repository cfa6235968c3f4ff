// A provider that is a program of yours: it reads JSON lines on its standard input and answers on its standard output
// (plugins/ has one to start from). Restarted when it dies, asked in batches when it says that it can.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/timers.h"
#include "provider/provider.h"

namespace lectern::provider {

struct ProcessOptions {
  std::vector<std::string> command;  // program and arguments
  std::string model;                 // told to the program; empty = its own
  int batch_max = 64;                // the size found while working never passes it; halved on out-of-memory
  std::chrono::milliseconds start_timeout{300'000};  // loading a model takes a while
  int restarts_max = 5;                              // in a row, without an answer between them
};

// Starts the program with the first question. Errors: an empty command, or no such program.
Result<std::unique_ptr<Provider>> make_process_provider(boost::asio::any_io_executor executor, Timers& timers,
                                                        ProcessOptions options);

}  // namespace lectern::provider
