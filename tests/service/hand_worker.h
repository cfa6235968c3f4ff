// Does what workers do with jobs, without reading anything: pages of made-up text, results that name their job. For
// tests of what stands around jobs.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "job/blobs.h"
#include "job/store.h"

namespace lectern::service {

struct HandPlan {
  int pages = 2;
  int failed_page = 0;       // this page cannot be read
  bool split_fails = false;  // "the document cannot be opened"
  bool deliver = true;       // webhooks are taken
  bool stop_before_assemble = false;
};

// Everything that there is to do now, of all jobs. Returns how many tasks were ended.
boost::asio::awaitable<int> work_by_hand(job::Store* store, job::Blobs* blobs, HandPlan plan);

}  // namespace lectern::service
