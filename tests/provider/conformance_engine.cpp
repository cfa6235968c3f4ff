#include "provider/conformance_engine.h"

#include <boost/beast/core/detail/base64.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

#include "provider/provider_conformance.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::json;

struct Question {
  std::string text;
  std::vector<std::vector<std::uint8_t>> images;
};

std::vector<std::uint8_t> decoded(std::string_view data_url) {
  const std::string_view text = data_url.substr(data_url.find(',') + 1);
  namespace base64 = boost::beast::detail::base64;
  std::vector<std::uint8_t> bytes(base64::decoded_size(text.size()));
  bytes.resize(base64::decode(bytes.data(), text.data(), text.size()).first);
  return bytes;
}

Question question_of(const Json& body) {
  const Json& content = body.at("messages").back().at("content");
  if (content.is_string()) return {content.get<std::string>(), {}};
  Question question;
  for (const Json& part : content) {
    if (part.at("type") == "text") question.text = part.at("text").get<std::string>();
    if (part.at("type") == "image_url") {
      question.images.push_back(decoded(part.at("image_url").at("url").get_ref<const std::string&>()));
    }
  }
  return question;
}

std::string delta(std::string_view text) {
  return Json{{"choices", {{{"index", 0}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}}.dump();
}

// Cut after every blank: a character is never torn.
std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size() - 1) + 1;
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

asio::awaitable<void> say(std::shared_ptr<TestServer::Exchange> exchange, std::string text, bool stream) {
  if (!stream) {
    const Json message = {{"role", "assistant"}, {"content", text}};
    const Json body = {{"model", "scripted"},
                       {"choices", {{{"index", 0}, {"message", message}, {"finish_reason", "stop"}}}}};
    co_await exchange->answer(200, body.dump());
    co_return;
  }
  co_await exchange->begin_stream();
  for (const std::string& piece : pieces_of(text)) co_await exchange->event(delta(piece));
  co_await exchange->event(R"({"model":"scripted","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
  co_await exchange->event("[DONE]");
  co_await exchange->end_stream();
}

}  // namespace

asio::awaitable<void> conformance_script(std::shared_ptr<TestServer::Exchange> exchange) {
  if (exchange->request.target == "/v1/models") {
    co_await exchange->answer(200, R"({"object":"list","data":[{"id":"scripted","object":"model"}]})");
    co_return;
  }
  const Json body = Json::parse(exchange->request.body);
  const bool stream = body.value("stream", false);
  const Question question = question_of(body);
  if (question.text == "hang") {
    co_await exchange->hang();
  } else if (question.text == "fail") {
    co_await exchange->answer(400, R"({"error":{"message":"scripted to fail","type":"BadRequestError","code":400}})");
  } else if (question.text == "endless") {
    co_await exchange->begin_stream();
    exchange->begun();
    for (;;) co_await exchange->event(delta("la "));
  } else if (question.text == "measure") {
    co_await say(exchange, measure_images(question.images), stream);
  } else {
    co_await say(exchange, question.text.substr(4), stream);
  }
}

}  // namespace lectern::provider
