// Documents by URL, with the guard (url_guard.h) asked about each address at the moment of connecting, on each redirect
// anew, so that neither a name that resolves otherwise the second time nor a redirect leads inside.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/async.h"
#include "job/blobs.h"
#include "provider/http_client.h"
#include "provider/web_address.h"
#include "service/url_fetcher.h"
#include "service/url_guard.h"

namespace lectern::service {

struct UrlFetchOptions {
  UrlGuard guard;
  int redirects_max = 5;
  std::chrono::seconds time_max{300};  // of the whole, redirects included
  std::chrono::seconds stall_timeout{20};
  std::string ca_file;  // empty = the system's
};

// The client is shared; blobs and pool (for the hash) are borrowed.
std::unique_ptr<UrlFetcher> make_url_fetcher(UrlFetchOptions options, std::shared_ptr<provider::HttpClient> http,
                                             job::Blobs& blobs, CpuPool& cpu);

// How to connect to an address that came from outside: guarded, without a proxy, on a connection of its own.
provider::HttpTransport guarded_transport(const UrlGuard& guard, const provider::WebAddress& address);

// What the document is called: by Content-Disposition, else by the last part of the path; empty = neither says.
std::string fetched_name(std::string_view content_disposition, const provider::WebAddress& address);

}  // namespace lectern::service
