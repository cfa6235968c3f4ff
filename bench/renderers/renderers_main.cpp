// bench-renderers DIR…: reads every file of the folders, and the hostile documents that we make ourselves, through a
// pool of sandboxed renderers, and checks what we promise: each ends in a result or a clear error in time, the host
// lives, and no renderer passes its memory limit. Prints one table; --verbose lists every file, --quick makes smaller
// ones,
// --folders-only makes none; exit status 1 when a promise is broken.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "document/hostile_pdfs.h"
#include "document/renderer_pool.h"

namespace lectern::document {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double seconds_max = 30;
constexpr int first_pages = 5;  // of each document, and its last

// The largest resident memory that any child of ours has had (VmHWM is the kernel's own peak; we only ask often).
class PeakWatch {
 public:
  PeakWatch() : thread_([this] { watch(); }) {}
  ~PeakWatch() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  PeakWatch(const PeakWatch&) = delete;
  PeakWatch& operator=(const PeakWatch&) = delete;
  std::int64_t take() { return peak_kb_.exchange(0) * 1024; }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(10), [this] { return stop_; })) look();
  }
  void look() {
    std::error_code ignored;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
      std::ifstream children(task.path() / "children");
      for (pid_t pid = 0; children >> pid;) {
        std::ifstream status(fmt::format("/proc/{}/status", pid));
        for (std::string line; std::getline(status, line);) {
          if (!line.starts_with("VmHWM:")) continue;
          const std::int64_t kb = std::atoll(line.c_str() + 6);
          peak_kb_ = std::max(peak_kb_.load(), kb);
        }
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<std::int64_t> peak_kb_{0};
  std::thread thread_;
};

struct Outcome {
  std::string file;
  int pages = 0;              // in the document
  int read = 0;               // pages that gave content and pixels
  std::vector<Error> errors;  // of the document or its pages
  double seconds = 0;
  std::int64_t peak_bytes = 0;
};

asio::awaitable<Outcome> read_document(RendererPool* pool, std::filesystem::path file) {
  Outcome outcome;
  outcome.file = file.filename().string();
  auto document = co_await pool->open(file, "");
  if (!document) {
    outcome.errors.push_back(document.error());
    co_return outcome;
  }
  outcome.pages = (*document)->info().pages;
  for (int page = 1; page <= outcome.pages; ++page) {
    if (page > first_pages) page = outcome.pages;
    auto content = co_await (*document)->inspect(page);
    if (!content) {
      outcome.errors.push_back(content.error());
      if (content.error().kind == ErrorKind::timeout) break;  // a reader would not ask for its pixels either
      continue;
    }
    RenderRequest request{.page_number = page, .dpi = 150};
    auto rendered = co_await (*document)->render(request);
    if (rendered) {
      ++outcome.read;
    } else {
      outcome.errors.push_back(rendered.error());
      if (rendered.error().kind == ErrorKind::timeout) break;
    }
  }
  co_return outcome;
}

struct Row {
  int files = 0;
  int read = 0;     // every page asked for
  int partly = 0;   // some pages
  int refused = 0;  // a clear error for all
  int late = 0;
  int unclear = 0;  // an error that is ours, or that does not name its document
  double slowest_s = 0;
  std::string slowest;
  std::int64_t peak_bytes = 0;
};

void count(Row& row, const Outcome& outcome) {
  ++row.files;
  ++(outcome.errors.empty() ? row.read : outcome.read > 0 ? row.partly : row.refused);
  if (outcome.seconds > seconds_max) ++row.late;
  row.unclear += static_cast<int>(std::ranges::count_if(outcome.errors, [&](const Error& error) {
    return error.kind == ErrorKind::internal || error.kind == ErrorKind::unavailable ||
           !error.for_caller.starts_with(outcome.file);
  }));
  if (outcome.seconds > row.slowest_s) {
    row.slowest_s = outcome.seconds;
    row.slowest = outcome.file;
  }
  row.peak_bytes = std::max(row.peak_bytes, outcome.peak_bytes);
}

class Bench {
 public:
  explicit Bench(bool verbose) : verbose_(verbose), pool_(context_.get_executor(), {.processes = 1}) {}

  void read(const std::string& set, const std::filesystem::path& file) {
    std::optional<Outcome> outcome;
    const auto start = Clock::now();
    asio::co_spawn(context_, read_document(&pool_, file), [&](const std::exception_ptr& thrown, Outcome value) {
      if (thrown) std::rethrow_exception(thrown);
      outcome = std::move(value);
    });
    context_.restart();
    while (!outcome && context_.run_one() > 0) {
    }
    outcome->seconds = Seconds(Clock::now() - start).count();
    outcome->peak_bytes = watch_.take();
    if (verbose_) print(*outcome);
    if (!rows_.contains(set)) order_.push_back(set);
    count(rows_[set], *outcome);
  }

  bool finish() {
    const std::int64_t limit = RendererLimits().memory_bytes;
    bool kept = true;
    fmt::print("{:<24} {:>6} {:>6} {:>7} {:>8} {:>6} {:>8} {:>9} {:>9}  {}\n", "set", "files", "read", "partly",
               "refused", ">30 s", "unclear", "slowest", "peak MiB", "slowest file");
    for (const std::string& set : order_) {
      const Row& r = rows_[set];
      fmt::print("{:<24} {:>6} {:>6} {:>7} {:>8} {:>6} {:>8} {:>7.2f} s {:>9}  {}\n", set, r.files, r.read, r.partly,
                 r.refused, r.late, r.unclear, r.slowest_s, r.peak_bytes >> 20, r.slowest);
      kept = kept && r.late == 0 && r.unclear == 0 && r.peak_bytes <= limit;
    }
    const RendererPoolStats stats = pool_.stats();
    fmt::print("renderers: {} started, {} crashed, {} timed out, {} recycled; memory limit {} MiB\n", stats.started,
               stats.crashed, stats.timed_out, stats.recycled, limit >> 20);
    fmt::print("{}\n", kept ? "every promise was kept" : "A PROMISE WAS BROKEN");
    return kept;
  }

 private:
  static void print(const Outcome& o) {
    fmt::print("{:<44} {:>8} pages {:>3} read {:>7.2f} s {:>5} MiB  {}\n", o.file, o.pages, o.read, o.seconds,
               o.peak_bytes >> 20, o.errors.empty() ? "" : o.errors.front().for_log);
    std::fflush(stdout);
  }

  bool verbose_;
  asio::io_context context_;
  RendererPool pool_;
  std::map<std::string, Row> rows_;
  std::vector<std::string> order_;
  PeakWatch watch_;
};

void read_folder(Bench& bench, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) bench.read(folder.filename().string(), file);
}

void read_our_own(Bench& bench, HostileScale scale) {
  std::string name = (std::filesystem::temp_directory_path() / "lectern-hostile-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
  const std::filesystem::path scratch = name;
  for (const HostileFile& file : hostile_files(scale)) {
    const auto path = scratch / file.name;
    std::ofstream(path, std::ios::binary) << file.make();
    bench.read("made to harm", path);
    std::filesystem::remove(path);
  }
  std::filesystem::remove_all(scratch);
}

}  // namespace
}  // namespace lectern::document

int main(int argc, char** argv) try {
  using namespace lectern::document;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool verbose = std::erase(arguments, "--verbose") > 0;
  const bool quick = std::erase(arguments, "--quick") > 0;
  const bool folders_only = std::erase(arguments, "--folders-only") > 0;
  Bench bench(verbose);
  for (const std::string& folder : arguments) read_folder(bench, folder);
  if (!folders_only) read_our_own(bench, quick ? HostileScale::quick : HostileScale::full);
  return bench.finish() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench-renderers: %s\n", error.what());
  return 2;
}
