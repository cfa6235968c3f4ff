// The step `deliver`: tells the sender's webhook that its job is over. At least once: a receiver that answers 2xx has
// it, 410 never wants it, everything else is tried again over hours.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "job/decide.h"
#include "job/worker.h"
#include "provider/http_client.h"
#include "service/url_guard.h"

namespace lectern::service {

struct DeliverOptions {
  std::string secret;  // signs where a job brings none of its own; empty = such messages are not signed
  UrlGuard guard;
  std::chrono::seconds time_max{20};  // of one attempt
  std::string ca_file;                // empty = the system's
  job::Policy policy;                 // of the store: what a receiver asks for (Retry-After) only adds to its pauses
};

// The client is shared, the clock borrowed.
std::unique_ptr<job::Handler> make_deliver_handler(DeliverOptions options, std::shared_ptr<provider::HttpClient> http,
                                                   const Clock& clock);

// What becomes of the task after an answer. Pure.
struct DeliveryAnswer {
  int status = 0;
  std::string_view retry_after;
  WallTime now;
  int attempts = 1;
};
job::Outcome after_delivery(const DeliveryAnswer& answer, const job::Policy& policy);

}  // namespace lectern::service
