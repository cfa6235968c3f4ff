// What handlers see of HTTP: a request with a body that is read piece by piece, and a response whose body is either
// there or made while it is sent. Memory is bounded by the pieces: who reads slowly is read from slowly.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancellation.h"
#include "base/error.h"
#include "service/http/fields.h"
#include "service/http/target.h"
#include "service/problem.h"

namespace lectern::service::http {

struct Request {
  std::string id;  // the client's X-Request-Id where it has a sane one, else random
  std::string method;
  Target target;
  Fields fields;
  std::string peer;     // "127.0.0.1", "unix"
  bool local = false;   // the peer is on this machine
  bool secure = false;  // TLS
  bool has_body = false;
  std::optional<std::int64_t> content_length;            // absent also when it is chunked
  std::map<std::string, std::string, std::less<>> path;  // what the route's pattern captured, e.g. "id"
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  const Request& request() const { return request_; }
  // The next piece of the body; empty = the end. The problem is the answer to give.
  virtual boost::asio::awaitable<std::expected<std::string, Problem>> read_body() = 0;
  // Requested when the server stops: end soon.
  virtual Cancellation stopping() const = 0;
  // Requested when the client has closed the connection, as far as that can be seen. To be asked for after the body was
  // read.
  virtual Cancellation gone() = 0;
  // For the access log: who asked.
  virtual void set_user(std::string user) = 0;

 protected:
  Request request_;
};
using ExchangePtr = std::shared_ptr<Exchange>;  // shared by the connection and the handler's coroutine

// A body that is made while it is sent.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // The next piece, best of some 64 KiB; empty = the end. After an error the connection is cut, so that nobody takes
  // the part for the whole.
  virtual boost::asio::awaitable<Result<std::string>> next() = 0;
};

struct Response {
  int status = 200;
  Fields fields;  // without Content-Length, Transfer-Encoding, Connection, Date
  std::string body;
  std::unique_ptr<BodySource> source;        // instead of `body`
  std::optional<std::int64_t> source_bytes;  // of all that `source` will give, where that is known
};

Response text_response(int status, std::string content_type, std::string body);
Response problem_response(const Problem& problem, std::string_view request_id);

}  // namespace lectern::service::http
