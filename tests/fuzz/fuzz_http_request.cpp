// Requests of HTTP/1.1: the same head, body and rest whatever the sizes in which the bytes arrive.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "service/http/request_parser.h"
#include "service/http/target.h"

namespace {

using lectern::service::http::RequestParser;

struct Read {
  std::string head;
  std::string body;
  std::string left;
  bool done = false;
  bool refused = false;
  bool operator==(const Read&) const = default;
};

Read read(std::string_view bytes, std::size_t step, std::size_t room) {
  RequestParser parser;
  Read read;
  for (;;) {
    if (read.head.empty()) {
      const auto taken = parser.read_head(read.left);
      if (!taken) return {.head = {}, .body = {}, .left = {}, .done = false, .refused = true};
      if (*taken) {
        read.head = parser.head().method + " " + parser.head().target;
        read.left.erase(0, **taken);
        (void)lectern::service::http::parse_target(parser.head().target);
      }
    }
    while (!read.head.empty() && !parser.body_done() && !read.left.empty()) {
      std::string piece;
      const auto taken = parser.read_body(read.left, piece, room);
      if (!taken) return {.head = {}, .body = {}, .left = {}, .done = false, .refused = true};
      read.body += piece;
      read.left.erase(0, *taken);
      if (*taken == 0 && piece.empty()) break;
    }
    if (bytes.empty()) break;
    read.left += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  read.done = !read.head.empty() && parser.body_done();
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = read(bytes, size + 1, 64 * 1024);
  const Read slow = read(bytes, 1, 3);
  if (whole.done && whole != slow) std::abort();
  if (whole.refused && slow.done) std::abort();
  return 0;
}
