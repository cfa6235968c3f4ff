#include "cli/bench_run.h"

#include <boost/asio/this_coro.hpp>
#include <unistd.h>

#include <algorithm>

#include "base/async.h"
#include "base/run_all.h"
#include "base/timers.h"
#include "cli/engine_slots.h"
#include "cli/process_tree.h"
#include "image/encode.h"
#include "provider/openai.h"
#include "reading/page_result.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds sample_interval{250};
constexpr int tiny_side_px = 16;

// What the workers of one row share. They run on one executor, so nothing here needs a lock.
struct Row {
  BenchJob job;
  ModelSetup& setup;
  provider::PromptImage tiny;
  BenchRow row;
  TreeUse after;
  int next = 0;
  Cancellation over;
};

asio::awaitable<bool> read_page(Row* row, int number) {
  const BenchPage& page = row->job.pages[static_cast<std::size_t>(number) % row->job.pages.size()];
  const reading::PageResult result =
      co_await row->setup.reader().read(page.document, page.page, {}, row->job.models.cancellation);
  co_return result.error.empty();
}

asio::awaitable<bool> ask_tiny(Row* row) {
  provider::Prompt prompt{.model = row->setup.model(), .user = "Read.", .images = {row->tiny}};
  prompt.parameters.tokens_max = 1;
  const auto answer = co_await row->setup.provider().invoke(std::move(prompt), {});
  co_return answer.has_value();
}

asio::awaitable<void> work(std::shared_ptr<Row> row) {
  while (row->next < row->job.requests && !row->job.models.cancellation.requested()) {
    const int number = row->next++;
    const bool good = row->job.pages.empty() ? co_await ask_tiny(row.get()) : co_await read_page(row.get(), number);
    ++row->row.requests;
    row->row.failed += good ? 0 : 1;
  }
}

asio::awaitable<void> measure(std::shared_ptr<Row> row, std::size_t workers) {
  const TimePoint start = system_clock().now();
  std::vector<asio::awaitable<void>> all;
  for (std::size_t i = 0; i < workers; ++i) all.push_back(work(row));
  auto stop = [row] { row->next = row->job.requests; };
  co_await run_all(std::move(all), stop);
  row->row.seconds = std::chrono::duration<double>(system_clock().now() - start).count();
  row->after = tree_use(::getpid(), row->job.not_our_doing);
  row->over.request();
}

// Looks at memory and slots now and then.
asio::awaitable<void> watch(std::shared_ptr<Row> row, std::shared_ptr<EngineSlots> slots) {
  SystemTimers timers;
  while (!row->over.requested()) {
    const TreeUse use = tree_use(::getpid(), row->job.not_our_doing);
    row->row.memory_bytes = std::max(row->row.memory_bytes, use.memory_bytes);
    if (slots) co_await slots->sample();
    co_await timers.wait_for(sample_interval, row->over);
  }
}

Result<provider::PromptImage> tiny_picture() {
  const image::Image pixels(tiny_side_px, tiny_side_px, image::PixelFormat::gray8);
  auto bytes = image::encode_jpeg(pixels);
  if (!bytes) return std::unexpected(bytes.error());
  return provider::PromptImage{std::make_shared<const std::vector<std::uint8_t>>(std::move(*bytes))};
}

}  // namespace

asio::awaitable<Result<BenchRow>> run_bench(BenchJob job, CpuPool* cpu) {
  auto executor = co_await asio::this_coro::executor;
  auto latencies = std::make_shared<std::vector<double>>();  // shared with the callback inside the setup
  job.models.on_answer = [latencies](const provider::Answer& answer) {
    if (answer) latencies->push_back(std::chrono::duration<double, std::milli>(answer->total).count());
  };
  ModelSetup setup(executor, *cpu, job.models);
  if (auto connected = co_await setup.connect(); !connected) co_return std::unexpected(connected.error());
  std::shared_ptr<EngineSlots> slots;  // shared with the coroutine that watches
  if (const auto& engines = job.models.settings.first.engines; engines.size() == 1) {
    slots = std::make_shared<EngineSlots>(provider::make_http_client(executor), engines.front().address, job.slots);
    co_await slots->start();
  }
  const auto workers = static_cast<std::size_t>(std::max(1, std::min(job.requests, setup.pages_in_flight_max())));
  auto row = std::make_shared<Row>(std::move(job), setup);
  if (row->job.pages.empty()) {
    auto tiny = tiny_picture();
    if (!tiny) co_return std::unexpected(tiny.error());
    row->tiny = std::move(*tiny);
  }

  const TreeUse before = tree_use(::getpid(), row->job.not_our_doing);
  std::vector<asio::awaitable<void>> both;
  both.push_back(watch(row, slots));
  both.push_back(measure(row, workers));
  auto stop = [row] { row->over.request(); };
  co_await run_all(std::move(both), stop);
  BenchRow& result = row->row;
  if (setup.refused()) co_return std::unexpected(*setup.refused());
  if (row->job.models.cancellation.requested()) co_return fail(ErrorKind::cancelled, "stopped");

  result.parallel = row->job.models.settings.parallel;
  result.limit = setup.load().limit;
  result.completion_tokens = setup.load().completion_tokens;
  result.memory_bytes = std::max(result.memory_bytes, row->after.memory_bytes);
  if (result.requests > 0) result.cpu_ms = (row->after.cpu_s - before.cpu_s) * 1000 / result.requests;
  if (slots) result.slot_utilisation = co_await slots->utilisation();
  std::ranges::sort(*latencies);
  result.latencies_ms = std::move(*latencies);
  co_return std::move(result);
}

}  // namespace lectern::cli
