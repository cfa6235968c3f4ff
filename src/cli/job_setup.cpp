#include "cli/job_setup.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/async.h"
#include "base/disk.h"
#include "job/open_blobs.h"
#include "telemetry/log.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{1};  // between two looks for a database

Result<std::unique_ptr<job::Store>> open_store_there(const Config& config, Timers& timers, job::IfAbsent if_absent) {
  const std::string folder = data_folder(config, process_environment()).string();
  auto database = job::open_database(config.text("jobs.store"), folder, if_absent);
  if (!database) return std::unexpected(database.error());
  return std::make_unique<job::Store>(std::move(*database), job_policy(config), timers);
}

}  // namespace

fs::path data_folder(const Config& config, const Config::Environment& environment) {
  if (config.is_set("jobs.data")) return config.text("jobs.data");
  if (const auto data = environment("XDG_DATA_HOME"); data && !data->empty()) return fs::path(*data) / "lectern";
  if (const auto home = environment("HOME"); home && !home->empty()) return fs::path(*home) / ".local/share/lectern";
  return "lectern-data";
}

job::Policy job_policy(const Config& config) {
  job::Policy policy;
  policy.lease = std::llround(config.number("jobs.lease_s") * 1000);
  policy.losses_max = static_cast<int>(config.integer("jobs.quarantine_after"));
  policy.alone_after = std::max(1, policy.losses_max - 1);
  return policy;
}

Result<std::unique_ptr<job::Store>> open_store(const Config& config, Timers& timers) {
  return open_store_there(config, timers, job::IfAbsent::make);
}

Result<std::unique_ptr<job::Store>> open_existing_store(const Config& config, Timers& timers) {
  auto store = open_store_there(config, timers, job::IfAbsent::fail);
  if (!store && store.error().kind == ErrorKind::not_found) {
    return fail(ErrorKind::not_found,
                "{}. lectern serve makes one when it starts; if it runs already, say the same --data or --store "
                "(LECTERN_DATA, LECTERN_STORE)",
                store.error().for_caller);
  }
  return store;
}

Result<std::unique_ptr<job::Blobs>> open_blobs(const Config& config, BlobsParts parts) {
  job::BlobsSeams seams{.http = std::move(parts.http),
                        .executor = std::move(parts.executor),
                        .timers = parts.timers,
                        .over = std::move(parts.over)};
  return job::open_blobs(config.text("jobs.blobs"), data_folder(config, process_environment()), std::move(seams));
}

asio::awaitable<Result<std::unique_ptr<job::Store>>> open_store_patiently(const Config* config, Timers* timers,
                                                                          Cancellation stop) {
  CpuPool thread(1);  // opening blocks
  for (bool said = false;; said = true) {
    auto open = [config, timers] { return open_store(*config, *timers); };
    auto store = co_await thread.run(std::move(open));
    if (store || store.error().kind != ErrorKind::unavailable) co_return store;
    if (stop.requested()) co_return fail(ErrorKind::cancelled, "stopped");
    if (!said) {
      telemetry::log(telemetry::LogLevel::warning, "the job store does not answer; waiting for it",
                     {{"error", store.error().for_log}});
    }
    co_await timers->wait_for(patience, stop);
  }
}

Result<fs::path> scratch_folder(const Config& config) {
  const fs::path folder = config.text("read.temporary_folder");
  if (auto made = real_disk().make_folders(folder); !made) return std::unexpected(made.error());
  return folder;
}

}  // namespace lectern::cli
