// One HTTP request and its answer, for tests that must go on when a server dies in the middle.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lectern::test {

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct HttpCall {
  std::string method = "GET";
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::seconds timeout{20};
};

// To 127.0.0.1. nullopt: refused, cut, or nothing for the timeout; nobody knows what became of it.
std::optional<HttpAnswer> call(std::uint16_t port, const HttpCall& request);

// A multipart body with fields and one file, and its Content-Type.
struct Multipart {
  std::string content_type;
  std::string body;
};
Multipart multipart(const std::vector<std::pair<std::string, std::string>>& fields, const std::string& file_name,
                    const std::string& bytes);

}  // namespace lectern::test
