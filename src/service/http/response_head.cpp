#include "service/http/response_head.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace lectern::service::http {
namespace {

void append_field(std::string& text, std::string_view name, std::string_view value) {
  text += name;
  text += ": ";
  for (const char c : value) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) text += c;
  }
  text += "\r\n";
}

}  // namespace

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return status < 400 ? "OK" : "Error";  // for statuses that nobody sends yet
  }
}

std::string http_date(WallTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", utc);
}

std::string response_head(const Response& response, const ResponseFraming& framing) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  for (const Field& field : response.fields) append_field(text, field.name, field.value);
  if (framing.content_length) append_field(text, "Content-Length", fmt::to_string(*framing.content_length));
  if (framing.chunked) append_field(text, "Transfer-Encoding", "chunked");
  if (framing.close) append_field(text, "Connection", "close");
  if (framing.http10_keep_alive) append_field(text, "Connection", "keep-alive");
  append_field(text, "Date", http_date(framing.now));
  append_field(text, "X-Request-Id", framing.request_id);
  append_field(text, "X-Content-Type-Options", "nosniff");
  text += "\r\n";
  return text;
}

}  // namespace lectern::service::http
