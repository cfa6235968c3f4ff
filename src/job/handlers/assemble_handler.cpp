#include "job/handlers/assemble_handler.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/run_all.h"
#include "job/handlers/fate.h"
#include "job/handlers/page_blob.h"
#include "job/request.h"
#include "reading/assembly.h"
#include "reading/journal.h"
#include "reading/journal_rows.h"
#include "reading/output_format.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;
using reading::OutputFormat;

constexpr int tasks_at_a_time = 500;
constexpr std::size_t fetches = 8;  // of page blobs at once: a store far away answers slowly, but many at a time
constexpr std::int64_t page_bytes_max = std::int64_t{1} << 28;
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
constexpr std::array formats = {OutputFormat::markdown, OutputFormat::json, OutputFormat::text, OutputFormat::html};

// A page without a result: its worker died over it, or it could not even be tried.
PageBlob unread(const Task& task) {
  PageBlob page;
  page.result = {.page = task.number, .reader = "builtin", .error = task.error};
  page.record = reading::record_of(page.result, {}, task.attempts);
  return page;
}

Result<std::string> read_at(int fd, std::int64_t offset) {
  std::string bytes(chunk_bytes, '\0');
  for (;;) {
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot read a temporary file", errno);
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }
}

// One job being put together.
struct Assembly {
  const AssembleParts& parts;
  Work work;
  std::unique_ptr<reading::Journal> journal;
  std::vector<Task> tasks;  // of which pages are being fetched
  std::size_t next = 0;
  std::vector<int> pages;
  std::optional<Error> failure;  // the first
  Json results = Json::object();

  bool stopped() const { return failure || work.cancellation.requested(); }
  void note(const Status& status) {
    if (!status && !failure) failure = status.error();
  }
};

asio::awaitable<Status> fetch_page(Assembly* one, Task task) {
  const AssembleParts& parts = one->parts;
  PageBlob page;
  if (task.result.empty()) {
    page = unread(task);
  } else {
    auto json = co_await parts.blobs.get(task.result, page_bytes_max);
    if (!json) co_return std::unexpected(json.error());
    auto parse = [&json] { return page_blob_from_json(*json); };
    auto parsed = co_await parts.cpu.run(std::move(parse));
    if (!parsed) {
      co_return fail(ErrorKind::corrupt, "the stored result of page {} is damaged: {}", task.number,
                     parsed.error().for_caller);
    }
    page = std::move(*parsed);
  }
  auto append = [one, &page] { return one->journal->append(page.record, page.result); };
  co_return co_await parts.cpu.run(std::move(append));
}

asio::awaitable<void> fetch_pages(Assembly* one) {
  while (one->next < one->tasks.size() && !one->stopped()) one->note(co_await fetch_page(one, one->tasks[one->next++]));
}

asio::awaitable<Status> gather(Assembly* one) {
  const std::string id = one->work.job.request.id;
  for (int from = 0; !one->stopped();) {
    auto tasks = co_await one->parts.store.tasks(id, StepKind::read, from, tasks_at_a_time);
    if (!tasks) co_return std::unexpected(tasks.error());
    if (tasks->empty()) break;
    from = tasks->back().number + 1;
    for (const Task& task : *tasks) one->pages.push_back(task.number);
    one->tasks = std::move(*tasks);
    one->next = 0;
    std::vector<asio::awaitable<void>> all;
    for (std::size_t i = 0; i < fetches; ++i) all.push_back(fetch_pages(one));
    co_await run_all(std::move(all));
  }
  if (one->failure) co_return std::unexpected(*one->failure);
  co_return Status{};
}

// The whole output in a file: what makes it may not wait for a store, and a store must not wait for it.
Result<UniqueFd> compose(const Assembly& one, OutputFormat format) {
  auto fd = nameless_file(one.parts.scratch);
  if (!fd) return fd;
  std::string buffer;
  const auto flush = [&]() -> Status {
    return one.parts.disk.write_all(fd->get(), std::exchange(buffer, {}), "a temporary file");
  };
  const reading::ByteSink sink = [&](std::string_view bytes) -> Status {
    buffer += bytes;
    return buffer.size() < chunk_bytes ? Status{} : flush();
  };
  if (auto sent = sink(reading::output_head(format, one.journal->header().document)); !sent) {
    return std::unexpected(sent.error());
  }
  if (auto sent = reading::assemble_document(*one.journal, one.pages, {.format = format}, sink); !sent) {
    return std::unexpected(sent.error());
  }
  if (auto sent = sink(reading::output_tail(format)); !sent) return std::unexpected(sent.error());
  if (auto sent = flush(); !sent) return std::unexpected(sent.error());
  return fd;
}

asio::awaitable<Status> send(Assembly* one, UniqueFd fd, std::string key) {
  const AssembleParts& parts = one->parts;
  auto writer = co_await parts.blobs.writer(key, PutMode::create_only);
  if (!writer) co_return std::unexpected(writer.error());
  for (std::int64_t offset = 0;;) {
    auto read = [&fd, offset] { return read_at(fd.get(), offset); };
    auto bytes = co_await parts.cpu.run(std::move(read));
    if (!bytes) co_return std::unexpected(bytes.error());
    if (bytes->empty()) break;
    offset += static_cast<std::int64_t>(bytes->size());
    if (auto written = co_await (*writer)->write(std::move(*bytes)); !written) co_return written;
    if (one->work.cancellation.requested()) co_return fail(ErrorKind::cancelled, "stopped");
  }
  const auto committed = co_await (*writer)->commit();
  // The key has our token in it: if it is there, it was we who put it, and the answer was lost.
  if (!committed && committed.error().kind != ErrorKind::conflict) co_return std::unexpected(committed.error());
  co_return Status{};
}

asio::awaitable<Status> assemble(Assembly* one) {
  auto row = reading::parse_row(one->work.job.info);
  if (!row || !std::holds_alternative<reading::JournalHeader>(*row)) {
    co_return fail(ErrorKind::corrupt, "what split found out about the document is damaged");
  }
  const AssembleParts& parts = one->parts;
  auto create = [&] {
    return reading::Journal::create_private({parts.disk, parts.clock}, parts.scratch,
                                            std::get<reading::JournalHeader>(*row));
  };
  auto journal = co_await parts.cpu.run(std::move(create));
  if (!journal) co_return std::unexpected(journal.error());
  one->journal = std::move(*journal);
  if (auto gathered = co_await gather(one); !gathered) co_return gathered;
  for (const OutputFormat format : formats) {
    if (one->work.cancellation.requested()) co_return fail(ErrorKind::cancelled, "stopped");
    auto make = [one, format] { return compose(*one, format); };
    auto file = co_await parts.cpu.run(std::move(make));
    if (!file) co_return std::unexpected(file.error());
    const std::string name(reading::format_name(format));
    const std::string key = result_key(one->work.task, name);
    if (auto sent = co_await send(one, std::move(*file), key); !sent) co_return sent;
    one->results[name] = key;
  }
  co_return Status{};
}

class AssembleHandler final : public Handler {
 public:
  explicit AssembleHandler(AssembleParts parts) : parts_(std::move(parts)) {}

  asio::awaitable<Outcome> handle(Work work) override {
    Assembly one{.parts = parts_, .work = std::move(work)};
    const Status assembled = co_await assemble(&one);
    if (assembled) co_return Outcome{.job_result = one.results.dump()};
    co_await forget(one.results);
    co_return after_blob_error(assembled.error());
  }

  asio::awaitable<void> refused(Outcome outcome) override {
    const Json results = Json::parse(outcome.job_result, nullptr, false);
    if (results.is_object()) co_await forget(results);
  }

 private:
  asio::awaitable<void> forget(Json results) {
    for (const auto& key : results) co_await parts_.blobs.remove(key.get<std::string>());  // else it goes with the job
  }

  const AssembleParts parts_;
};

}  // namespace

std::unique_ptr<Handler> make_assemble_handler(AssembleParts parts) {
  return std::make_unique<AssembleHandler>(std::move(parts));
}

}  // namespace lectern::job
