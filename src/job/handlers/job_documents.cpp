#include "job/handlers/job_documents.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "job/request.h"

namespace lectern::job {

struct JobDocuments::Entry {
  Cancellation opened;  // requested once `document` is set
  std::optional<Opened> document;
  TimePoint used;

  // Whoever waits must not wait for ever, also when the opening ended by an exception. After a failure the next one
  // tries again.
  struct Opening {
    JobDocuments& all;
    const std::string& id;
    Entry& entry;
    ~Opening() {
      if (!entry.document) {
        const Error error{ErrorKind::internal, "opening the document failed", "opening the document failed"};
        entry.document = std::unexpected(OpenFailure{OpenFailure::Of::blobs, error});
      }
      if (!*entry.document) all.entries_.erase(id);
      entry.opened.request();
    }
  };
  bool in_use() const { return !document || !*document || (*document).value().use_count() > 1; }
};

JobDocuments::JobDocuments(Blobs& blobs, Timers& timers, Opener opener, JobDocumentsOptions options)
    : blobs_(blobs), timers_(timers), opener_(std::move(opener)), options_(std::move(options)) {}

boost::asio::awaitable<JobDocuments::Opened> JobDocuments::open(Job job) {
  const std::string id = job.request.id;
  if (const auto known = entries_.find(id); known != entries_.end()) {
    const auto entry = known->second;
    entry->used = timers_.clock().now();
    while (!entry->document) co_await timers_.wait_until(TimePoint::max(), entry->opened);
    co_return *entry->document;
  }
  close_idle_until(options_.idle_max > 0 ? options_.idle_max - 1 : 0);
  const auto entry = std::make_shared<Entry>();
  entry->used = timers_.clock().now();
  entries_[id] = entry;
  {
    const Entry::Opening opening{*this, id, *entry};
    entry->document = co_await open_original(std::move(job));
  }
  co_return *entry->document;
}

boost::asio::awaitable<JobDocuments::Opened> JobDocuments::open_original(Job job) {
  const auto secret = job_secret_from_json(job.request.secret);
  if (!secret) co_return std::unexpected(OpenFailure{OpenFailure::Of::blobs, secret.error()});
  auto fd = co_await blobs_.open(job.request.source, options_.scratch);
  if (!fd) co_return std::unexpected(OpenFailure{OpenFailure::Of::blobs, fd.error()});
  auto opened = co_await opener_(std::move(*fd), job.request.document, secret->password);
  if (!opened) co_return std::unexpected(OpenFailure{OpenFailure::Of::document, opened.error()});
  co_return std::move(*opened);
}

void JobDocuments::close_idle() {
  const TimePoint now = timers_.clock().now();
  for (const auto& [id, entry] : entries_) {
    if (entry->in_use()) entry->used = now;
  }
  std::erase_if(entries_, [&](const auto& one) { return now - one.second->used >= options_.idle_time; });
  close_idle_until(options_.idle_max);
}

void JobDocuments::close_idle_until(std::size_t idle_max) {
  std::vector<std::pair<TimePoint, std::string>> idle;
  for (const auto& [id, entry] : entries_) {
    if (!entry->in_use()) idle.emplace_back(entry->used, id);
  }
  std::ranges::sort(idle);
  for (std::size_t i = 0; i + idle_max < idle.size(); ++i) entries_.erase(idle[i].second);
}

}  // namespace lectern::job
