#include "engine/sim/http_request.h"

#include <charconv>

namespace lectern::sim {
namespace {

constexpr std::size_t head_bytes_max = 64 * 1024;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// `pattern` is in lower case.
bool is(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (lower(text[i]) != pattern[i]) return false;
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Status read_header(std::string_view name, std::string_view value, RequestHead& head) {
  if (is(name, "content-length")) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), head.content_length);
    if (error != std::errc{} || end != value.data() + value.size())
      return fail(ErrorKind::invalid_input, "bad Content-Length");
  } else if (is(name, "transfer-encoding")) {
    head.chunked = is(value, "chunked");
  } else if (is(name, "connection")) {
    if (is(value, "close")) head.keep_alive = false;
    if (is(value, "keep-alive")) head.keep_alive = true;
  } else if (is(name, "expect")) {
    head.expects_continue = is(value, "100-continue");
  } else if (is(name, "authorization")) {
    if (value.size() > 7 && is(value.substr(0, 7), "bearer ")) head.bearer = trimmed(value.substr(7));
  } else if (is(name, "x-api-key")) {
    head.api_key = value;
  } else if (is(name, "endpoint-load-metrics-format")) {
    head.load_format = value;
  }
  return {};
}

}  // namespace

Result<std::optional<RequestHead>> parse_head(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() > head_bytes_max) return fail(ErrorKind::invalid_input, "the head of the request is too long");
    return std::nullopt;
  }
  RequestHead head;
  head.size = end + 4;
  std::string_view rest = bytes.substr(0, end);
  const std::string_view line = rest.substr(0, rest.find("\r\n"));
  rest.remove_prefix(std::min(rest.size(), line.size() + 2));
  const std::size_t space = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (space == std::string_view::npos || last == space || !line.substr(last + 1).starts_with("HTTP/1."))
    return fail(ErrorKind::invalid_input, "not an HTTP/1 request");
  head.method = line.substr(0, space);
  std::string_view target = line.substr(space + 1, last - space - 1);
  if (const std::size_t host = target.find("://"); host != std::string_view::npos && host < target.find('/')) {
    // As a proxy is asked: "http://host/path".
    const std::size_t slash = target.find('/', host + 3);
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  head.path = target.substr(0, target.find('?'));
  if (head.path.size() < target.size()) head.query = target.substr(head.path.size() + 1);
  head.keep_alive = line.substr(last + 1) != "HTTP/1.0";
  while (!rest.empty()) {
    const std::string_view header = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(rest.size(), header.size() + 2));
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) return fail(ErrorKind::invalid_input, "a header without a colon");
    if (auto read = read_header(header.substr(0, colon), trimmed(header.substr(colon + 1)), head); !read)
      return std::unexpected(read.error());
  }
  return head;
}

Result<std::optional<ChunkedBody>> parse_chunked(std::string_view bytes) {
  ChunkedBody body;
  while (true) {
    const std::size_t line_end = bytes.find("\r\n", body.size);
    if (line_end == std::string_view::npos) return std::nullopt;
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(bytes.data() + body.size, bytes.data() + line_end, length, 16);
    if (error != std::errc{} || (end != bytes.data() + line_end && *end != ';'))
      return fail(ErrorKind::invalid_input, "bad chunk size");
    const std::size_t start = line_end + 2;
    if (length > bytes.size() || start + length + 2 > bytes.size()) return std::nullopt;
    if (bytes.substr(start + length, 2) != "\r\n") return fail(ErrorKind::invalid_input, "a chunk without an end");
    body.bytes.append(bytes.substr(start, length));
    body.size = start + length + 2;
    if (length == 0) return body;
  }
}

}  // namespace lectern::sim
