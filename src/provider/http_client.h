// One pool of HTTP connections for the whole process: libcurl's multi interface driven by an Asio event loop, with no
// thread of its own and no polling. Model servers use it first; anything else that goes out over HTTP can.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "provider/failure.h"
#include "provider/http_body.h"

namespace lectern::provider {

struct HttpTransport {
  std::string unix_socket;  // path; empty = TCP to the URL's host
  std::string proxy;        // empty = as the environment says; "none" = never
  std::string ca_file;      // empty = the system's
  bool verify_tls = true;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::seconds stall_timeout{0};  // not a byte either way for so long ends the call (timed_out); 0 = never
  // Asked about each address ("192.0.2.7", "2001:db8::7") before it is connected to; what it refuses is not. Set: no
  // proxy, and a connection of its own, since a kept one was not asked about. Runs on the client's executor.
  std::function<bool(const std::string& address)> admits = {};
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::string peer;                  // how messages call the other side: no credentials
  std::vector<std::string> headers;  // "Name: value"
  HttpBody body;
  HttpTransport transport;
};

struct HttpHead {
  int status = 0;
  std::string lines;  // "Name: value\r\n"…

  // The value of the first such header, trimmed; names are compared without regard to case. Empty = absent.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  HttpHead head;
  std::string body;                        // empty where on_body or on_piece heard it
  std::chrono::nanoseconds first_byte{0};  // from the request's start to the first byte of the body
  std::chrono::nanoseconds total{0};
  bool cut = false;  // on_body or on_piece asked to stop
};
// A failure to get any whole response; a status of 500 is a response.
using HttpAnswer = std::expected<HttpResponse, Failure>;

// Both run on the executor that awaits the call.
struct HttpHandlers {
  std::function<void(const HttpHead&)> on_head;
  std::function<bool(std::string_view)>
      on_body;  // false closes the connection and ends the call; unset = collect, 16 MiB at most
  // Instead of on_body, for those who must wait for a place for the bytes: meanwhile the server waits too.
  std::function<boost::asio::awaitable<bool>(std::string)> on_piece = {};
};

// Safe from any thread; the work itself runs on `executor`, whose loop must be run by one thread. Nothing of it is
// pending while no call is under way, so a loop without other work comes to its end. Destroying it ends all calls as
// cancelled.
class HttpClient {
 public:
  explicit HttpClient(boost::asio::any_io_executor executor);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // The deadline and the cancellation close the connection. A kept connection that turns out to be dead before the
  // first byte of the response is replaced once and the request sent again.
  boost::asio::awaitable<HttpAnswer> send(HttpRequest request, HttpHandlers handlers, Deadline deadline,
                                          Cancellation cancellation);

 private:
  std::shared_ptr<class CurlLoop> loop_;  // also held by calls under way
};

}  // namespace lectern::provider
