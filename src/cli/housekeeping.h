// What a server does now and then beside serving: lets old jobs go.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/cancellation.h"
#include "base/config.h"
#include "base/timers.h"
#include "job/blobs.h"
#include "job/store.h"

namespace lectern::cli {

// All borrowed.
struct HousekeepingParts {
  const Config& config;
  job::Store& store;
  job::Blobs& blobs;
  Timers& timers;
};

// Until `over`. Soon after the start, and then every hour. Trouble is logged and tried again.
boost::asio::awaitable<void> keep_house(HousekeepingParts parts, Cancellation over);

}  // namespace lectern::cli
