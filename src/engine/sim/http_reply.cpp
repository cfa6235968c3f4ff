#include "engine/sim/http_reply.h"

#include <fmt/format.h>

#include <iterator>

#include "engine/sim/json_scan.h"

namespace lectern::sim {
namespace {

std::string_view phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Payload Too Large";
    case 429:
      return "Too Many Requests";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

void append_head(std::string& to, Dialect as, const ReplyHead& head) {
  const bool is_vllm = as == Dialect::vllm;
  const std::string_view server = is_vllm ? "server: uvicorn\r\n" : "Server: llama.cpp\r\n";
  // cpp-httplib announces its limits; uvicorn says nothing until it closes.
  const std::string_view connection = head.close ? "Connection: close\r\n"
                                      : is_vllm  ? ""
                                                 : "Keep-Alive: timeout=5, max=100\r\n";
  fmt::format_to(std::back_inserter(to), "HTTP/1.1 {} {}\r\n{}Content-Type: {}\r\n{}{}", head.status,
                 phrase(head.status), server, head.content_type, connection, head.extra);
}

}  // namespace

std::string http_reply(Dialect as, const ReplyHead& head, std::string_view body) {
  std::string bytes;
  bytes.reserve(body.size() + 256);
  append_head(bytes, as, head);
  fmt::format_to(std::back_inserter(bytes), "Content-Length: {}\r\n\r\n", body.size());
  bytes += body;
  return bytes;
}

std::string chunked_head(Dialect as, const ReplyHead& head) {
  std::string bytes;
  append_head(bytes, as, head);
  bytes += "Transfer-Encoding: chunked\r\n\r\n";
  return bytes;
}

void append_chunk(std::string& to, std::string_view bytes) {
  fmt::format_to(std::back_inserter(to), "{:x}\r\n", bytes.size());
  to.append(bytes).append("\r\n");
}

std::string_view error_type(Dialect as, int status) {
  const bool is_vllm = as == Dialect::vllm;
  switch (status) {
    case 400:
      return is_vllm ? "BadRequestError" : "invalid_request_error";
    case 401:
      return "authentication_error";
    case 404:
      return is_vllm ? "NotFoundError" : "not_found_error";
    case 429:
      return "rate_limit_error";
    case 501:
      return is_vllm ? "NotImplementedError" : "not_supported_error";
    case 503:
      return is_vllm ? "Service Unavailable" : "unavailable_error";
    default:
      return is_vllm ? "InternalServerError" : "server_error";
  }
}

std::string error_body(Dialect as, const ServerError& error) {
  if (as == Dialect::vllm && error.status == 401) return R"({"error":"Unauthorized"})";
  const std::string_view type = error.type.empty() ? error_type(as, error.status) : error.type;
  std::string message;
  append_escaped(message, error.message);
  if (as == Dialect::llama_server)
    return fmt::format(R"({{"error":{{"code":{},"message":"{}","type":"{}"{}}}}})", error.status, message, type,
                       error.more);
  const std::string param = error.param.empty() ? "null" : fmt::format("\"{}\"", error.param);
  return fmt::format(R"({{"error":{{"message":"{}","type":"{}","param":{},"code":{}}}}})", message, type, param,
                     error.status);
}

}  // namespace lectern::sim
