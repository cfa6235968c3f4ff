// service/: the HTTP API over jobs: uploads, status, events, results; keys, limits, metrics.
// May use: job/ and everything below it. Knows nothing of commands; reads no documents itself.
// Start here, then api/api.h (the routes), http/server.h (HTTP/1.1 itself). api/openapi.yaml is the outward contract.
// Threads: everything runs on the executor that run() was called on, whose loop must be run by one thread.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/async.h"
#include "base/cancellation.h"
#include "base/random.h"
#include "base/timers.h"
#include "job/blobs.h"
#include "job/store.h"
#include "service/page_images.h"
#include "service/url_fetcher.h"

namespace lectern::service {

struct ServiceOptions {
  std::string listen = "127.0.0.1:8080";  // address:port, [v6]:port, localhost:port; port 0 = any free; empty = no TCP
  std::string unix_socket;                // path; empty = none. Who may connect to it counts as on loopback
  std::string tls_certificate;            // PEM files; both or none. TCP only
  std::string tls_key;

  int connections_max = 8'192;  // the longest idle one makes room for a new one
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds idle_timeout{75'000};
  std::chrono::milliseconds write_timeout{30'000};  // for 64 KiB to be taken by the client
  std::int64_t body_bytes_per_second_min =
      2'048;                                     // counted while we wait for the client, after header_timeout of grace
  std::chrono::milliseconds stop_grace{20'000};  // for requests under way after a stop; then they are cut
  bool access_log = true;

  std::int64_t upload_bytes_max = std::int64_t{512} << 20;
  int uploads_max = 64;  // at the same time
  int uploads_per_key_max = 32;
  double submits_per_second = 0;  // of one key; 0 = no limit
  int submits_burst = 0;          // 0 = one second's worth
  std::int64_t jobs_open_max = 100'000;
  std::chrono::milliseconds wait_max{60'000};  // of POST /v1/read and /v1/ocr; then 202
  int waits_max = 256;                         // requests that wait for their job at the same time
  int streams_max = 1'024;                     // event streams at the same time
  bool urls_allowed = false;                   // {"url": …}; needs ServiceParts::fetcher
  std::chrono::milliseconds heartbeat{15'000};
  std::chrono::milliseconds key_cache{3'000};     // how long a revoked key may still work
  std::chrono::milliseconds health_cache{2'000};  // how long an answer of /health/ready is kept
};

// All borrowed; they must outlive the server.
struct ServiceParts {
  job::Store& store;
  job::Blobs& blobs;
  CpuPool& cpu;  // hashes uploads
  Timers& timers;
  Random& random;
  PageImages* images = nullptr;  // null: only pages whose picture is among the blobs have one
  UrlFetcher* fetcher = nullptr;
  std::function<std::string()> more_metrics;  // Prometheus text to add to /metrics; may be empty
};

class Server {
 public:
  Server(ServiceOptions options, ServiceParts parts);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens; nothing is answered before run(). Errors: invalid_input (an option; a public address without a key in the
  // store), unavailable (the address is taken, the store does not answer).
  boost::asio::awaitable<Status> open();
  // "http://127.0.0.1:8080", "https://…" or "unix:/path". REQUIRES: open() went well.
  std::string address() const;
  // Serves until `stop` is requested and what was under way is done or cut. Opens first where that was not done.
  boost::asio::awaitable<Status> run(Cancellation stop);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::service
