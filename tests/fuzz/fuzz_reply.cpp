// Any response of a model server, head and body: an answer or a failure with a message, whatever the sizes in which the
// bytes arrive. The first byte chooses status and content type.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "provider/openai_answer.h"
#include "provider/openai_endpoint.h"

namespace {

using namespace lectern::provider;

Answer answer_to(const HttpHead& head, std::string_view bytes, std::size_t step, bool lost) {
  std::string heard;
  AnswerReader reader("engine", [&](std::string_view piece) {
    heard += piece;
    return true;
  });
  reader.take_head(head);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    if (!reader.take_body(bytes.substr(at, step))) break;
  }
  HttpAnswer end = HttpResponse{};
  if (lost) end = std::unexpected(Failure{.reason = FailureReason::connection_lost, .message = "lost"});
  Answer answer = reader.finish(end);
  if (answer && answer->text != heard) std::abort();
  if (!answer && answer.error().message.empty()) std::abort();
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array<int, 4> statuses = {200, 200, 400, 503};
  constexpr std::array<const char*, 4> types = {"Content-Type: text/event-stream\r\n",
                                                "Content-Type: application/json\r\n", "", "Retry-After: 1\r\n"};
  const HttpHead head{.status = statuses[data[0] & 3U], .lines = types[data[0] >> 2 & 3U]};
  const bool lost = (data[0] & 16U) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Answer whole = answer_to(head, bytes, size, lost);
  const Answer dripped = answer_to(head, bytes, 1, lost);
  if (whole.has_value() != dripped.has_value()) std::abort();
  if (whole && (whole->text != dripped->text || whole->finish != dripped->finish)) std::abort();
  if (!whole && whole.error().reason != dripped.error().reason) std::abort();
  if (const auto models = parse_models(std::string(bytes))) {
    for (const ModelInfo& model : *models) {
      if (model.context_tokens < 0) std::abort();
    }
  }
  return 0;
}
