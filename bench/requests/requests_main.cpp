// How many requests a second the openai provider sends, and what one costs: tiny prompts (or pictures of noise) to a
// server that answers at once, so that the client is what is measured. One thread.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "provider/openai.h"

namespace {

namespace asio = boost::asio;
using namespace lectern;

struct Options {
  std::string address;
  int parallel = 64;
  int requests = 20'000;
  std::size_t image_bytes = 0;
  bool stream = true;
};

struct Tally {
  int started = 0;
  int failed = 0;
  std::string last_failure;
  std::vector<double> milliseconds;
};

asio::awaitable<void> ask_again_and_again(provider::Provider* provider, provider::Prompt prompt, int requests,
                                          std::shared_ptr<Tally> tally) {
  while (tally->started < requests) {
    ++tally->started;
    const auto answer = co_await provider->invoke(prompt, {});
    if (answer) {
      tally->milliseconds.push_back(std::chrono::duration<double, std::milli>(answer->total).count());
    } else {
      ++tally->failed;
      tally->last_failure = answer.error().message;
    }
  }
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

provider::Prompt make_prompt(std::size_t image_bytes) {
  provider::Prompt prompt{.model = "any", .user = "hi"};
  if (image_bytes == 0) return prompt;
  SeededRandom random(1);
  std::vector<std::uint8_t> bytes(image_bytes);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  prompt.images.push_back({.bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))});
  return prompt;
}

int run(const Options& options) {
  asio::io_context loop(1);
  auto made = provider::make_openai_provider(provider::make_http_client(loop.get_executor()),
                                             {.address = options.address, .stream = options.stream});
  if (!made) {
    fmt::print(stderr, "{}\n", made.error().for_caller);
    return 2;
  }
  const auto tally = std::make_shared<Tally>();
  for (int i = 0; i < options.parallel; ++i) {
    asio::co_spawn(loop, ask_again_and_again(made->get(), make_prompt(options.image_bytes), options.requests, tally),
                   [](std::exception_ptr) {});
  }
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  loop.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = cpu_seconds() - cpu_before;
  auto& times = tally->milliseconds;
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times.empty() ? 0.0 : times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print("| parallel | requests/s | client CPU µs each | p50 ms | p99 ms | failed |\n|--:|--:|--:|--:|--:|--:|\n");
  fmt::print("| {} | {:.0f} | {:.1f} | {:.2f} | {:.2f} | {} |\n", options.parallel, options.requests / seconds,
             cpu * 1e6 / options.requests, at(0.5), at(0.99), tally->failed);
  if (tally->failed > 0) fmt::print(stderr, "last failure: {}\n", tally->last_failure);
  return tally->failed > 0 ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoi(argv[++i]) : 0; };
    if (flag == "--parallel") {
      options.parallel = std::max(1, number());
    } else if (flag == "--requests") {
      options.requests = std::max(1, number());
    } else if (flag == "--image-bytes") {
      options.image_bytes = static_cast<std::size_t>(std::max(0, number()));
    } else if (flag == "--whole") {
      options.stream = false;
    } else {
      options.address = flag;
    }
  }
  if (options.address.empty()) {
    fmt::print(stderr, "bench-requests ADDRESS [--parallel N] [--requests N] [--image-bytes N] [--whole]\n");
    return 2;
  }
  return run(options);
}
