// What servers say when they do not answer, as our failures. One table for vLLM, llama-server, SGLang, Ollama, hosted
// APIs and the proxies before them; openai_errors_test.cpp holds an example of every shape.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "provider/failure.h"

namespace lectern::provider {

struct ErrorReply {
  int status = 500;
  std::string_view retry_after;     // header values; empty = absent
  std::string_view retry_after_ms;  // hosted OpenAI's finer one; wins
  std::string_view location;
  std::string_view body;
};

// `engine` is how the message calls the server; `now` turns a date in Retry-After into a time to wait.
Failure classify(std::string_view engine, const ErrorReply& reply, WallTime now);

// An error object inside a stream that began with status 200: its own code decides, else it counts as a 500.
Failure classify_in_stream(std::string_view engine, std::string_view event);

// The parts of an error body, whatever its shape. Empty = not given.
struct ErrorText {
  std::string message;  // squeezed to one line and cut to a length that a person reads
  std::string type;
  std::string code;
  std::string param;  // the request's member that it complains about
};
ErrorText read_error_body(std::string_view body);

}  // namespace lectern::provider
