#include "service/http/head_rules.h"

#include <algorithm>
#include <string>

#include "service/http/fields.h"

namespace lectern::service::http {
namespace {

using Broken = std::optional<Problem>;

Problem bad(std::string detail) {
  return {.code = ProblemCode::bad_request, .detail = std::move(detail)};
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "host" or "host:port", a name, an IPv4 address or one of IPv6 in brackets.
bool is_authority(std::string_view text) {
  std::string_view host = text;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const auto inside = text.substr(1, end - 1);
    if (!std::ranges::all_of(
            inside, [](char c) { return c == ':' || c == '.' || std::isxdigit(static_cast<unsigned char>(c)); }))
      return false;
    host = text.substr(0, end + 1);
  } else {
    host = text.substr(0, text.find(':'));
    const auto fits = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~%").contains(c);
    };
    if (host.empty() || !std::ranges::all_of(host, fits)) return false;
  }
  const std::string_view rest = text.substr(host.size());
  return rest.empty() || (rest.size() <= 6 && (rest == ":" || is_digits(rest.substr(1))));
}

// What the fields say that matters for where the message ends and whom it is for.
struct Framing {
  std::string_view host;
  int hosts = 0;
  int lengths = 0;
  int codings = 0;
};

Broken broken_field(std::string_view line, Framing& framing) {
  if (line.front() == ' ' || line.front() == '\t') return bad("a header line is folded over two lines");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return bad("a header line has no colon");
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name))
    return bad("the name of a header has characters that are not allowed there, or blanks before its colon");
  const std::string_view value = trimmed(line.substr(colon + 1));
  const auto control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; };
  if (std::ranges::any_of(value, control)) return bad("a header has a control character in it");
  if (same_name(name, "host")) {
    ++framing.hosts;
    framing.host = value;
  } else if (same_name(name, "content-length")) {
    ++framing.lengths;
    if (!is_digits(value) || value.size() > 18) return bad("Content-Length is not a number");
  } else if (same_name(name, "transfer-encoding")) {
    ++framing.codings;
    if (!same_name(value, "chunked")) return bad("the only Transfer-Encoding that is understood is 'chunked'");
  } else if (same_name(name, "expect") && !same_name(value, "100-continue")) {
    return Problem{.code = ProblemCode::expectation_failed,
                   .detail = "the only expectation that is known is 100-continue"};
  }
  return std::nullopt;
}

Broken broken_target(std::string_view method, std::string_view target, std::string_view host) {
  if (target.size() > target_bytes_max) return Problem{.code = ProblemCode::uri_too_long};
  const auto fits = [](char c) { return c > 0x20 && c < 0x7f && c != '#'; };
  if (target.empty() || !std::ranges::all_of(target, fits))
    return bad("the target has characters that must be escaped");
  if (target.front() == '/') return std::nullopt;
  if (target == "*" && method == "OPTIONS") return std::nullopt;
  std::string_view rest = target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (same_name(rest.substr(0, scheme.size()), scheme)) {
      rest.remove_prefix(scheme.size());
      const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
      if (!is_authority(authority) || !same_name(authority, host))
        return bad("the target names another host than Host does");
      return std::nullopt;
    }
  }
  return bad("the target is neither a path nor a URL of this server");
}

}  // namespace

std::optional<Problem> broken_rule(std::string_view head) {
  // Lines end in CR LF, and neither stands alone anywhere.
  for (std::size_t at = head.find_first_of("\r\n"); at != std::string_view::npos;
       at = head.find_first_of("\r\n", at + 2)) {
    if (head.substr(at, 2) != "\r\n") return bad("a line does not end in CR LF");
  }
  std::size_t end = head.find("\r\n");
  const std::string_view line = head.substr(0, end);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return bad("the request line is not 'method target version'");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || method.size() > 32) return bad("the method is not a token");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    if (version.size() == 8 && version.starts_with("HTTP/") && std::isdigit(static_cast<unsigned char>(version[5])))
      return Problem{.code = ProblemCode::http_version};
    return bad("the request line does not end in a version of HTTP");
  }
  Framing framing;
  std::size_t fields = 0;
  for (std::size_t start = end + 2; start < head.size(); start = end + 2) {
    end = head.find("\r\n", start);
    const std::string_view field = head.substr(start, end - start);
    if (field.empty()) break;
    if (++fields > fields_max)
      return Problem{.code = ProblemCode::headers_too_large, .detail = "more than 100 headers"};
    if (auto broken = broken_field(field, framing)) return broken;
  }
  if (framing.hosts > 1 || (framing.hosts == 0 && version == "HTTP/1.1")) return bad("exactly one Host is needed");
  if (framing.hosts == 1 && !is_authority(framing.host)) return bad("Host is not the name of a host");
  if (framing.lengths > 1) return bad("Content-Length is there more than once");
  if (framing.codings > 1) return bad("Transfer-Encoding is there more than once");
  if (framing.codings == 1 && framing.lengths == 1)
    return bad("both Content-Length and Transfer-Encoding say where the body ends");
  if (framing.codings == 1 && version == "HTTP/1.0") return bad("HTTP/1.0 knows no Transfer-Encoding");
  return broken_target(method, target, framing.host);
}

bool could_be_head(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\n' && (i == 0 || bytes[i - 1] != '\r')) return false;
    if (c == '\r' && i + 1 < bytes.size() && bytes[i + 1] != '\n') return false;
    if (static_cast<unsigned char>(c) < 0x20 && c != '\r' && c != '\n' && c != '\t') return false;
  }
  return true;
}

}  // namespace lectern::service::http
