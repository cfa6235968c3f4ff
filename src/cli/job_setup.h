// From settings to where jobs and their bytes are kept.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <filesystem>
#include <memory>

#include "base/cancellation.h"
#include "base/config.h"
#include "base/timers.h"
#include "job/blobs.h"
#include "job/store.h"
#include "provider/http_client.h"

namespace lectern::cli {

// jobs.data; where it is not set, lectern in the user's data folder (XDG_DATA_HOME, else ~/.local/share).
std::filesystem::path data_folder(const Config& config, const Config::Environment& environment);

job::Policy job_policy(const Config& config);

// Errors: invalid_input (the URL), unavailable, conflict (the schema is newer than this program). Blocks.
Result<std::unique_ptr<job::Store>> open_store(const Config& config, Timers& timers);

// For commands that look at jobs and keys. Errors: as above, and not_found, which says what to do: a misspelt place
// must not become an empty store.
Result<std::unique_ptr<job::Store>> open_existing_store(const Config& config, Timers& timers);

struct BlobsParts {
  boost::asio::any_io_executor executor;
  std::shared_ptr<provider::HttpClient> http;
  Timers* timers = nullptr;  // borrowed
  Cancellation over = {};    // of the process: nothing is waited for any more
};
Result<std::unique_ptr<job::Blobs>> open_blobs(const Config& config, BlobsParts parts);

// For processes that may come up before their database does: one that does not answer is waited for, and that is said
// once. Config and timers are borrowed for the call.
boost::asio::awaitable<Result<std::unique_ptr<job::Store>>> open_store_patiently(const Config* config, Timers* timers,
                                                                                 Cancellation stop);

// Where copies of blobs and results on their way lie; made if it is not there.
Result<std::filesystem::path> scratch_folder(const Config& config);

}  // namespace lectern::cli
