#include "job/ledger.h"

namespace lectern::job {
namespace {

Result<std::optional<JobView>> only(Result<std::vector<JobView>> found) {
  if (!found) return std::unexpected(found.error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

}  // namespace

Result<std::optional<JobView>> Ledger::job(std::string_view id) {
  const std::string one(id);
  return only(jobs_by_id(std::span(&one, 1)));
}

Result<std::optional<JobView>> Ledger::lock_job(std::string_view id) {
  const std::string one(id);
  return only(lock_jobs(std::span(&one, 1)));
}

}  // namespace lectern::job
