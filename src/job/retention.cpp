#include "job/retention.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "job/request.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;

constexpr int jobs_at_a_time = 100;
constexpr int blobs_at_a_time = 500;

// "jobs/<id>/…" → id
std::string job_of(const std::string& key) {
  const auto begin = key.find('/') + 1;
  return key.substr(begin, key.find('/', begin) - begin);
}

// A few orphans come of crashes. Where most jobs are unknown, the database is new or another's, and its owner would not
// forgive that the bytes are gone when the right one is back.
bool looks_foreign(std::int64_t known, std::int64_t unknown) {
  constexpr std::int64_t few = 20;
  return unknown > few && unknown > known;
}

}  // namespace

asio::awaitable<Result<std::int64_t>> Retention::remove_blobs(std::string prefix) {
  std::int64_t removed = 0;
  std::string from;
  do {
    const auto page = co_await blobs_.list(prefix, from, blobs_at_a_time);
    if (!page) co_return std::unexpected(page.error());
    for (const BlobInfo& blob : page->blobs) {
      if (auto gone = co_await blobs_.remove(blob.key); !gone) co_return std::unexpected(gone.error());
      ++removed;
    }
    from = page->next;  // a page may be without blobs and yet not the last: what is not ours is left out
  } while (!from.empty());
  co_return removed;
}

asio::awaitable<Result<Removed>> Retention::remove_old_jobs(Millis before, Cancellation cancellation) {
  Removed removed;
  while (!cancellation.requested()) {
    const auto ids = co_await store_.jobs_finished_before(before, jobs_at_a_time);
    if (!ids) co_return std::unexpected(ids.error());
    for (const std::string& id : *ids) {
      if (cancellation.requested()) break;
      const auto row = co_await store_.remove(id);
      if (!row && row.error().kind == ErrorKind::conflict) continue;  // it was retried in this moment
      if (!row) co_return std::unexpected(row.error());
      ++removed.jobs;
      const auto gone = co_await remove_blobs(job_prefix(id));
      if (!gone) co_return std::unexpected(gone.error());
      removed.blobs += *gone;
    }
    if (ids->empty()) break;
  }
  co_return removed;
}

asio::awaitable<Result<Removed>> Retention::remove_orphans(Millis before, Cancellation cancellation) {
  std::int64_t known = 0;
  std::vector<std::string> unknown;
  std::map<std::string, Millis> last;  // of one listing's jobs: when the youngest of its blobs was written
  std::string from;
  do {
    const auto page = co_await blobs_.list(std::string(jobs_folder), from, blobs_at_a_time);
    if (!page) co_return std::unexpected(page.error());
    for (const BlobInfo& blob : page->blobs) last[job_of(blob.key)] = std::max(last[job_of(blob.key)], blob.modified);
    from = page->next;
    // The last job of the listing may go on in the next one.
    while (!last.empty() && (last.size() > 1 || from.empty()) && !cancellation.requested()) {
      const auto [id, modified] = *last.begin();
      last.erase(last.begin());
      if (modified >= before) continue;
      const auto job = co_await store_.job(id);
      if (!job) co_return std::unexpected(job.error());
      if (*job) {
        ++known;
      } else {
        unknown.push_back(id);
      }
    }
  } while (!from.empty() && !cancellation.requested());
  if (looks_foreign(known, std::ssize(unknown))) {
    co_return fail(ErrorKind::conflict,
                   "{} has the bytes of {} jobs that {} does not know, and of only {} that it does: is this their "
                   "database? None of them was removed",
                   blobs_.description(), unknown.size(), store_.description(), known);
  }
  Removed removed;
  for (const std::string& id : unknown) {
    if (cancellation.requested()) break;
    const auto gone = co_await remove_blobs(job_prefix(id));
    if (!gone) co_return std::unexpected(gone.error());
    removed.blobs += *gone;
    ++removed.orphans;
  }
  co_return removed;
}

}  // namespace lectern::job
