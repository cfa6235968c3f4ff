// Jobs do not stay for ever: what is old goes, rows and bytes.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/cancellation.h"
#include "job/blobs.h"
#include "job/store.h"

namespace lectern::job {

struct Removed {
  int jobs = 0;
  std::int64_t blobs = 0;
  int orphans = 0;  // folders of blobs that no job has: an upload that was never submitted
};

// Errors are those of store and blobs; what was removed by then is gone. Any number of processes may do it at once.
class Retention {
 public:
  // Both are borrowed.
  Retention(Store& store, Blobs& blobs) : store_(store), blobs_(blobs) {}

  // Jobs that were over before `before`, the oldest first. The row goes first: a job that is retried in this moment
  // keeps its bytes. If this is cut short, they are orphans.
  boost::asio::awaitable<Result<Removed>> remove_old_jobs(Millis before, Cancellation cancellation);
  // Blobs under jobs/ that were written before `before` and belong to no job. Errors: also conflict, when most are of
  // jobs that the store does not know, so that it is hardly theirs.
  boost::asio::awaitable<Result<Removed>> remove_orphans(Millis before, Cancellation cancellation);

 private:
  boost::asio::awaitable<Result<std::int64_t>> remove_blobs(std::string prefix);

  Store& store_;
  Blobs& blobs_;
};

}  // namespace lectern::job
