// bench-requests COUNT PARALLEL|auto URL…: sends COUNT small requests (an image of 600 bytes each) through a fleet of
// these engines and prints {"requests", "failed", "wall_s"} as JSON. What asking costs apart from pages.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/timers.h"
#include "provider/fleet.h"
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

// 0 = not a positive number.
int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

constexpr int askers_when_auto = 512;  // as many questions wait as a large document has pages

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3 || number(arguments[0]) < 1 || (number(arguments[1]) < 1 && arguments[1] != "auto")) {
    fmt::print(stderr, "Usage: bench-requests COUNT PARALLEL|auto URL...\n");
    return 2;
  }
  const int count = number(arguments[0]);
  const int parallel = number(arguments[1]);
  boost::asio::io_context loop(1);
  const auto client = make_http_client(loop.get_executor());
  std::vector<std::unique_ptr<Provider>> engines;
  for (const std::string_view url : std::span(arguments).subspan(2)) {
    auto engine = make_openai_provider(client, {.address = std::string(url), .model = "sim-vl"});
    if (!engine) {
      fmt::print(stderr, "bench-requests: {}\n", engine.error().for_caller);
      return 2;
    }
    engines.push_back(std::move(*engine));
  }
  SystemTimers timers;
  SystemRandom random;
  Fleet fleet(std::move(engines), {.parallel = parallel}, {.timers = timers, .random = random});
  Progress progress{.left = count};
  const PromptImage image{.bytes = std::make_shared<const std::vector<std::uint8_t>>(600, std::uint8_t{0xAB})};
  for (int i = 0; i < (parallel > 0 ? parallel : askers_when_auto); ++i)
    boost::asio::co_spawn(loop, ask_until_done(fleet, progress, image), boost::asio::detached);
  const auto started = std::chrono::steady_clock::now();
  loop.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  fmt::print("{{\"requests\":{},\"failed\":{},\"wall_s\":{:.4f}}}\n", count, progress.failed, wall.count());
  if (progress.failed != 0) fmt::print(stderr, "bench-requests: {}\n", progress.last_failure);
  return progress.failed == 0 ? 0 : 3;
}
