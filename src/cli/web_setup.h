// From settings to what goes out to addresses that came from outside: documents by URL, and webhooks.
#pragma once

#include <memory>

#include "base/async.h"
#include "base/clock.h"
#include "base/config.h"
#include "job/blobs.h"
#include "job/worker.h"
#include "provider/http_client.h"
#include "service/url_fetcher.h"

namespace lectern::cli {

// Errors (invalid_input): an entry of web.allowed. The clock is borrowed.
Result<std::unique_ptr<job::Handler>> make_deliverer(const Config& config, std::shared_ptr<provider::HttpClient> http,
                                                     const Clock& clock);
// Null where serve.urls says no. Blobs and pool are borrowed.
Result<std::unique_ptr<service::UrlFetcher>> make_fetcher(const Config& config,
                                                          std::shared_ptr<provider::HttpClient> http, job::Blobs& blobs,
                                                          CpuPool& cpu);

}  // namespace lectern::cli
