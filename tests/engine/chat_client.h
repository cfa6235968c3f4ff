// Requests to the simulated engine, and what its replies hold.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "sim_engine.h"

namespace lectern::sim {

using testing_sim::RawClient;
using testing_sim::SimEngine;
using Json = nlohmann::json;

inline std::string post(std::string_view body, std::string_view headers = "") {
  return fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n{}\r\n{}",
      body.size(), headers, body);
}
inline std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path);
}
// The image's bytes are "hello".
inline std::string chat(std::string_view fields = "") {
  return fmt::format(
      R"({{"model":"sim-vl",{}"messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/jpeg;base64,aGVsbG8="}}}},{{"type":"text","text":"Read."}}]}}]}})",
      fields);
}
inline constexpr std::string_view streamed = R"("stream":true,"stream_options":{"include_usage":true},)";

inline RawClient::Reply ask(int port, std::string_view request) {
  RawClient client(port);
  client.send(request);
  auto reply = client.reply();
  if (!reply) throw std::runtime_error("no whole reply: " + client.read());
  return *reply;
}
inline std::string content_of(const RawClient::Reply& reply) {
  return Json::parse(reply.body).at("choices").at(0).at("message").at("content");
}
// The JSON of each event; "[DONE]" as a string.
inline std::vector<Json> events_of(const std::string& body) {
  std::vector<Json> events;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find("\n\n", at);
    const std::string event = body.substr(at + 6, end - at - 6);
    events.push_back(event == "[DONE]" ? Json(event) : Json::parse(event));
    at = end + 2;
  }
  return events;
}
inline std::string text_of(const std::vector<Json>& events) {
  std::string text;
  for (const Json& each : events)
    if (each.is_object() && !each.value("choices", Json::array()).empty())
      if (const Json& delta = each["choices"][0]["delta"]; delta.contains("content") && delta["content"].is_string())
        text += delta["content"].get<std::string>();
  return text;
}

}  // namespace lectern::sim
