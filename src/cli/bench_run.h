// One row of a bench: so many pages (or tiny requests) through the reader that `lectern read` uses, and what it took.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/bench_table.h"
#include "cli/model_setup.h"
#include "document/renderer_pool.h"

namespace lectern::cli {

struct BenchPage {
  std::shared_ptr<document::OpenDocument> document;  // shared by all of its pages
  int page = 1;
};

struct BenchJob {
  ModelSetupOptions models;
  std::vector<BenchPage> pages;  // asked for again and again, in this order; empty = tiny requests
  int requests = 0;
  int slots = 0;                     // that the engine is known to have; 0 = not known
  std::vector<pid_t> not_our_doing;  // processes that are not counted: the simulated engine
};

// Errors: the engines refuse, or the run was stopped.
boost::asio::awaitable<Result<BenchRow>> run_bench(BenchJob job, CpuPool* cpu);

}  // namespace lectern::cli
