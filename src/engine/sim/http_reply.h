// Bytes of HTTP replies, with the headers and the error bodies that each server has.
#pragma once

#include <string>
#include <string_view>

#include "engine/sim/settings.h"

namespace lectern::sim {

struct ReplyHead {
  int status = 200;
  std::string_view content_type = "application/json";
  bool close = false;           // the connection ends with this reply
  std::string_view extra = {};  // further header lines, each with its \r\n
};

// A whole reply with Content-Length.
std::string http_reply(Dialect as, const ReplyHead& head, std::string_view body);
// The head of a reply whose body comes in chunks.
std::string chunked_head(Dialect as, const ReplyHead& head);
void append_chunk(std::string& to, std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

struct ServerError {
  int status = 500;
  std::string message;
  std::string_view type;   // as the dialect calls it; see error_type()
  std::string_view param;  // vLLM; empty = null
  std::string more;        // llama-server: further members, each with its comma in front
};
// The word for an error with this status.
std::string_view error_type(Dialect as, int status);
// {"error": …} in the dialect's shape.
std::string error_body(Dialect as, const ServerError& error);

}  // namespace lectern::sim
