// One request as bytes → its head, then its body piece by piece. No I/O: whoever reads the socket keeps what was not
// taken and comes back with more. Beast parses; head_rules.h refuses first what Beast would let through.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "service/http/fields.h"
#include "service/problem.h"

namespace lectern::service::http {

constexpr std::size_t head_bytes_max = 16 * 1024;

struct RequestHead {
  std::string method;
  std::string target;  // path and query; an absolute target lost its authority
  Fields fields;
  bool http11 = true;
  bool keep_alive = true;
  bool expects_continue = false;
  bool has_body = false;
  std::optional<std::int64_t> content_length;  // absent also when it is chunked
};

class RequestParser {
 public:
  RequestParser();
  ~RequestParser();

  // How many bytes at the front of `bytes` the head takes; nothing while it is not all there.
  std::expected<std::optional<std::size_t>, Problem> read_head(std::string_view bytes);
  const RequestHead& head() const { return head_; }

  // Decodes from the front of `bytes`, appending at most `room` bytes to `out`. Returns how many bytes were taken; none
  // may mean that more are needed. REQUIRES: the head is read, room > 0.
  std::expected<std::size_t, Problem> read_body(std::string_view bytes, std::string& out, std::size_t room);
  bool body_done() const { return done_; }

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
  RequestHead head_;
  bool done_ = false;
};

}  // namespace lectern::service::http
