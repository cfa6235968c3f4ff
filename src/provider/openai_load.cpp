#include "provider/openai_load.h"

#include <array>
#include <utility>

#include "provider/engine_load.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;

struct Page {
  std::string_view path;
  std::optional<LoadFigures> (*parse)(std::string body);
};
constexpr std::array pages_known = {Page{"/slots", parse_slots},
                                    Page{"/metrics", [](std::string body) { return parse_metrics(body); }}};

// It may say more the next time: it loads, or is too busy.
bool may_pass(int status) {
  return status == 408 || status == 429 || (status >= 500 && status != 501);
}

}  // namespace

bool tells_load(const OpenAiEndpoint& endpoint) {
  return !endpoint.address.root.empty() && !endpoint.address.hosted;
}

asio::awaitable<LoadAnswer> ask_load(OpenAiEndpoint endpoint, std::shared_ptr<LoadPages> pages, CallOptions call) {
  for (std::size_t i = pages->now(); i < pages_known.size(); i = pages->now()) {
    HttpRequest request = endpoint.request("GET", "");
    request.url = endpoint.address.root + std::string(pages_known[i].path) + endpoint.address.query;
    HttpHandlers collect;
    HttpAnswer answer =
        co_await endpoint.client->send(std::move(request), std::move(collect), call.deadline, call.cancellation);
    if (!answer || may_pass(answer->head.status)) co_return LoadAnswer{.figures = std::nullopt, .ask_again = true};
    if (answer->head.status == 200) {
      if (auto figures = pages_known[i].parse(std::move(answer->body))) co_return LoadAnswer{.figures = figures};
    }
    pages->give_up(i);
  }
  co_return LoadAnswer{.figures = std::nullopt, .ask_again = false};
}

}  // namespace lectern::provider
