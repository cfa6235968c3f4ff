// bench-requests URL COUNT PARALLEL: sends COUNT small requests (an image of 600 bytes each) through our provider,
// PARALLEL at a time, and prints {"requests", "failed", "wall_s"} as JSON. What a request costs apart from its page.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "provider/openai.h"

namespace {

using namespace lectern;
using namespace lectern::provider;

struct Progress {
  int left = 0;
  int failed = 0;
  std::string last_failure;
};

boost::asio::awaitable<void> ask_until_done(Provider& provider, Progress& progress, PromptImage image) {
  while (progress.left > 0) {
    --progress.left;
    Prompt prompt{.user = "Transcribe this page to Markdown.", .images = {image}};
    const Answer answer = co_await provider.invoke(std::move(prompt), CallOptions{});
    if (answer) continue;
    ++progress.failed;
    progress.last_failure = answer.error().message;
  }
}

int number(const char* text) {
  const std::string_view view(text);
  int value = 0;
  std::from_chars(view.data(), view.data() + view.size(), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || number(argv[2]) < 1 || number(argv[3]) < 1) {
    fmt::print(stderr, "Usage: bench-requests URL COUNT PARALLEL\n");
    return 2;
  }
  boost::asio::io_context loop(1);
  const auto client = make_http_client(loop.get_executor());
  auto provider = make_openai_provider(client, {.address = argv[1], .model = "sim-vl"});
  if (!provider) {
    fmt::print(stderr, "bench-requests: {}\n", provider.error().for_caller);
    return 2;
  }
  Progress progress{.left = number(argv[2])};
  std::vector<std::uint8_t> bytes(600, 0xAB);
  const PromptImage image{.bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))};
  for (int i = 0; i < number(argv[3]); ++i)
    boost::asio::co_spawn(loop, ask_until_done(**provider, progress, image), boost::asio::detached);
  const auto started = std::chrono::steady_clock::now();
  loop.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  fmt::print(R"({{"requests":{},"failed":{},"wall_s":{:.4f}}})"
             "\n",
             number(argv[2]), progress.failed, wall.count());
  if (progress.failed != 0) fmt::print(stderr, "bench-requests: {}\n", progress.last_failure);
  return progress.failed == 0 ? 0 : 1;
}
