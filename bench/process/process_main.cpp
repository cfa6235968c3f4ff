// Pages a second through a process provider, and the sizes of the batches that it came to:
//   bench-process PICTURES PAGES TOKENS BATCH_MAX COMMAND…
// asks about PAGES pictures of the folder PICTURES (each as often as needed), all at once, for TOKENS tokens each.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

#include "base/timers.h"
#include "provider/process.h"
#include "telemetry/log.h"

namespace lectern {
namespace {

namespace asio = boost::asio;
using Picture = std::shared_ptr<const std::vector<std::uint8_t>>;

struct Workload {
  std::filesystem::path pictures;
  int pages = 0;
  int tokens = 0;
  int batch_max = 0;
  std::vector<std::string> command;
};

Result<Workload> workload_from(std::span<char*> arguments) {
  if (arguments.size() < 6) {
    return fail(ErrorKind::invalid_input, "usage: bench-process PICTURES PAGES TOKENS BATCH_MAX COMMAND…");
  }
  Workload workload{.pictures = arguments[1], .command = {arguments.begin() + 5, arguments.end()}};
  int* const numbers[] = {&workload.pages, &workload.tokens, &workload.batch_max};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    const std::string_view text = arguments[i + 2];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *numbers[i]);
    if (error != std::errc() || end != text.data() + text.size() || *numbers[i] < 1) {
      return fail(ErrorKind::invalid_input, "'{}' is no number above 0", text);
    }
  }
  return workload;
}

Result<std::vector<Picture>> read_pictures(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".jpg") files.push_back(entry.path());
  }
  if (files.empty()) return fail(ErrorKind::not_found, "there are no .jpg files in {}", folder.string());
  std::ranges::sort(files);
  std::vector<Picture> pictures;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    pictures.push_back(std::make_shared<std::vector<std::uint8_t>>(std::istreambuf_iterator<char>(file),
                                                                   std::istreambuf_iterator<char>()));
  }
  return pictures;
}

struct Outcome {
  std::vector<double> seconds;  // of each answer, from sending it
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::map<std::string, int> failures;  // by message
  double wall_seconds = 0;
};

// The first question starts the program; only what comes after it is measured.
std::optional<std::string> warm_up(provider::Provider& provider, const Picture& picture) {
  std::optional<std::string> failure;
  asio::io_context loop(1);
  provider::Prompt prompt{.user = "Read this page.", .images = {{.bytes = picture}}, .parameters = {.tokens_max = 4}};
  asio::co_spawn(loop, provider.invoke(std::move(prompt), {}), [&](std::exception_ptr, provider::Answer answer) {
    if (!answer) failure = answer.error().message;
  });
  loop.run();
  return failure;
}

Outcome ask_all(provider::Provider& provider, const Workload& workload, const std::vector<Picture>& pictures) {
  Outcome outcome;
  asio::io_context loop(1);
  for (int page = 0; page < workload.pages; ++page) {
    provider::Prompt prompt{.user = "Read this page.",
                            .images = {{.bytes = pictures[static_cast<std::size_t>(page) % pictures.size()]}},
                            .parameters = {.tokens_max = workload.tokens}};
    asio::co_spawn(loop, provider.invoke(std::move(prompt), {}), [&](std::exception_ptr, provider::Answer answer) {
      if (!answer) {
        ++outcome.failures[answer.error().message];
        return;
      }
      outcome.seconds.push_back(std::chrono::duration<double>(answer->total).count());
      outcome.prompt_tokens += answer->usage ? answer->usage->prompt_tokens : 0;
      outcome.completion_tokens += answer->usage ? answer->usage->completion_tokens : 0;
    });
  }
  const TimePoint start = system_clock().now();
  loop.run();
  outcome.wall_seconds = std::chrono::duration<double>(system_clock().now() - start).count();
  return outcome;
}

// "64 32 ×2 40": equal neighbours together.
std::string in_short(const std::vector<int>& batches) {
  std::string text;
  for (std::size_t i = 0; i < batches.size();) {
    std::size_t end = i;
    while (end < batches.size() && batches[end] == batches[i]) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : " ", batches[i]);
    if (end - i > 1) text += fmt::format(" ×{}", end - i);
    i = end;
  }
  return text;
}

void print(const Workload& workload, Outcome outcome, const std::vector<int>& batches) {
  std::ranges::sort(outcome.seconds);
  const auto percentile = [&](double share) {
    if (outcome.seconds.empty()) return 0.0;
    return outcome.seconds[static_cast<std::size_t>(share * static_cast<double>(outcome.seconds.size() - 1))];
  };
  const auto answered = static_cast<double>(outcome.seconds.size());
  fmt::print("pages {} answered {} in {:.2f} s: {:.2f} pages/s, {:.0f} tokens/s out, {:.0f} tokens/page in\n",
             workload.pages, outcome.seconds.size(), outcome.wall_seconds, answered / outcome.wall_seconds,
             static_cast<double>(outcome.completion_tokens) / outcome.wall_seconds,
             answered > 0 ? static_cast<double>(outcome.prompt_tokens) / answered : 0);
  fmt::print("seconds from sending: p50 {:.2f} p95 {:.2f}; batches: {}\n", percentile(0.5), percentile(0.95),
             in_short(batches));
  for (const auto& [message, count] : outcome.failures) fmt::print("failed {}: {}\n", count, message);
}

int run(std::span<char*> arguments) {
  auto workload = workload_from(arguments);
  if (!workload) return fmt::print(stderr, "{}\n", workload.error().for_caller), 2;
  auto pictures = read_pictures(workload->pictures);
  if (!pictures) return fmt::print(stderr, "{}\n", pictures.error().for_caller), 2;
  telemetry::log_setup(telemetry::LogLevel::info, false);
  SystemTimers timers;
  std::mutex mutex;
  std::vector<int> batches;  // guarded by mutex
  auto provider = provider::make_process_provider(
      timers, {.command = workload->command, .batch_max = workload->batch_max, .on_batch = [&](int batch) {
                 const std::lock_guard lock(mutex);
                 batches.push_back(batch);
               }});
  if (!provider) return fmt::print(stderr, "{}\n", provider.error().for_caller), 2;
  if (const auto failure = warm_up(**provider, pictures->front())) return fmt::print(stderr, "{}\n", *failure), 1;
  {
    const std::lock_guard lock(mutex);
    batches.clear();
  }
  Outcome outcome = ask_all(**provider, *workload, *pictures);
  const bool all = outcome.failures.empty();
  const std::lock_guard lock(mutex);
  print(*workload, std::move(outcome), batches);
  return all ? 0 : 1;
}

}  // namespace
}  // namespace lectern

int main(int count, char** values) {
  return lectern::run({values, static_cast<std::size_t>(count)});
}
