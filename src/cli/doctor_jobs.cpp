#include <boost/asio/io_context.hpp>

#include "base/timers.h"
#include "cli/doctor.h"
#include "cli/event_loop.h"
#include "cli/job_setup.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

Finding examine_store(const Config& config, asio::io_context& loop, Timers& timers) {
  const std::string mend = "see docs/serving.md: jobs.store (LECTERN_STORE) says where the database is";
  const auto store = open_existing_store(config, timers);
  if (!store) {
    const bool none_yet = store.error().kind == ErrorKind::not_found;
    return {"job store", none_yet ? Health::warning : Health::broken, store.error().for_caller, none_yet ? "" : mend};
  }
  const auto open = run_on(loop, (*store)->jobs_open());
  if (!open) return {"job store", Health::broken, open.error().for_caller, mend};
  return {"job store", Health::good, fmt::format("{} answers, {} jobs are not over", (*store)->description(), *open),
          ""};
}

Finding examine_blobs(const Config& config, asio::io_context& loop, Timers& timers) {
  const std::string mend = "see docs/serving.md: jobs.blobs (LECTERN_BLOBS) says where files go";
  auto http = std::make_shared<provider::HttpClient>(loop.get_executor());
  const auto blobs = open_blobs(config, {.executor = loop.get_executor(), .http = std::move(http), .timers = &timers});
  if (!blobs) return {"blobs", Health::broken, blobs.error().for_caller, mend};
  const Status checked = run_on(loop, (*blobs)->check());
  if (!checked) return {"blobs", Health::broken, checked.error().for_caller, mend};
  return {"blobs", Health::good, fmt::format("{} takes files", (*blobs)->description()), ""};
}

}  // namespace

std::vector<Finding> examine_jobs(const Config& config) {
  const auto folder = data_folder(config, process_environment());
  std::error_code error;
  // Looking must not make anything.
  const bool used =
      config.is_set("jobs.store") || config.is_set("jobs.blobs") || std::filesystem::exists(folder, error);
  if (!used) {
    return {{"jobs", Health::good, fmt::format("none yet; lectern serve keeps them in {}", folder.string()), ""}};
  }
  asio::io_context loop(1);
  SystemTimers timers;
  return {examine_store(config, loop, timers), examine_blobs(config, loop, timers)};
}

}  // namespace lectern::cli
