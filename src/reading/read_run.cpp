#include "reading/read_run.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>

#include "base/async.h"
#include "base/channel.h"
#include "base/open_files.h"
#include "base/run_all.h"
#include "reading/claim_outputs.h"
#include "reading/document_run.h"
#include "reading/run_context.h"
#include "reading/turns.h"

namespace lectern::reading {
namespace {

class Run {
 public:
  Run(const boost::asio::any_io_executor& executor, RunServices services, RunOptions options)
      : context_(executor, std::move(services), std::move(options)), turns_(executor) {
    report_.documents = static_cast<int>(context_.options.documents.size());
    // The request may come from any thread; the window and the turns belong to the loop.
    on_stop_ = context_.options.cancellation.on_request([this, executor, alive = std::weak_ptr(alive_)] {
      boost::asio::post(executor, [this, alive] {
        if (alive.expired()) return;
        context_.window.close();
        turns_.close();
      });
    });
  }

  boost::asio::awaitable<Result<RunReport>> run();

 private:
  Status prepare();
  boost::asio::awaitable<void> work();
  boost::asio::awaitable<DocumentReport> read_document(int index);
  boost::asio::awaitable<Status> read_streaming(DocumentRun* document, int index);
  boost::asio::awaitable<Status> stream_in_turn(DocumentRun* document, int index);
  Status send_head(const DocumentRun& document);
  void note_output(const Status& sent);
  boost::asio::awaitable<Status> send_in_turn(const DocumentRun* document, int index);
  boost::asio::awaitable<void> finish();
  void count(const DocumentReport& report);

  RunContext context_;
  Turns turns_;
  std::optional<CpuPool> output_thread_;  // the output may block; neither the loop nor the CPU pool may
  bool head_sent_ = false;                // used on the output thread alone
  std::size_t next_ = 0;
  RunReport report_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with what on_stop_ has posted
  std::shared_ptr<void> on_stop_;
};

Status Run::prepare() {
  const RunServices& services = context_.services;
  if (context_.options.output_folder.empty() || context_.options.stream) output_thread_.emplace(1);
  if (context_.options.output_folder.empty()) return {};
  auto folder = OutputFolder::open(services.disk, context_.options.output_folder);
  if (!folder) return std::unexpected(folder.error());
  context_.folder.emplace(std::move(*folder));
  auto manifest = Manifest::load(services.disk, services.clock, context_.folder->manifest());
  if (!manifest) return std::unexpected(manifest.error());
  context_.manifest = std::move(*manifest);
  return {};
}

boost::asio::awaitable<Result<RunReport>> Run::run() {
  if (auto prepared = prepare(); !prepared) co_return std::unexpected(prepared.error());
  if (context_.kept()) {
    auto claim = [this] { return claim_outputs(context_); };
    if (auto claimed = co_await context_.services.cpu.run(claim); !claimed) co_return std::unexpected(claimed.error());
  }
  // As many documents in hand as pages: enough to fill the window with documents of one page. Each holds a few open
  // files, and others need some, too.
  const auto most = std::min(context_.options.pages_in_flight_max, std::max(1, (open_files_max() - 300) / 4));
  const auto workers = std::min(context_.options.documents.size(), static_cast<std::size_t>(most));
  std::vector<boost::asio::awaitable<void>> all;
  for (std::size_t i = 0; i < workers; ++i) all.push_back(work());
  auto stop = [this] { context_.options.cancellation.request(); };
  co_await run_all(std::move(all), stop);
  co_await finish();
  if (context_.fatal) co_return std::unexpected(*context_.fatal);
  report_.stopped = context_.stopping();
  report_.budget_spent = context_.budget_spent;
  if (context_.services.spent) report_.spent = context_.services.spent();
  co_return report_;
}

boost::asio::awaitable<void> Run::work() {
  while (next_ < context_.options.documents.size() && !context_.stopping()) {
    const int index = static_cast<int>(next_++);
    const DocumentReport report = co_await read_document(index);
    turns_.done(index);
    count(report);
    context_.services.observer.document_done(report);
    if (!context_.manifest) continue;
    auto save = [this] { return context_.manifest->save_if_due(); };
    if (auto saved = co_await context_.services.cpu.run(save); !saved) context_.give_up(saved.error());
  }
}

boost::asio::awaitable<DocumentReport> Run::read_document(int index) {
  DocumentRun document(context_, index);
  auto status = co_await document.prepare();
  if (status) status = context_.options.stream ? co_await read_streaming(&document, index) : co_await document.read();
  if (status && document.report().outcome == DocumentOutcome::read) {
    if (context_.kept()) {
      status = co_await document.write_output();
    } else if (!context_.options.stream) {
      status = co_await send_in_turn(&document, index);
    }
  }
  if (!status) document.ended_with(status.error());
  co_return document.report();
}

// Reads, while what is there already goes out.
boost::asio::awaitable<Status> Run::read_streaming(DocumentRun* document, int index) {
  auto executor = co_await boost::asio::this_coro::executor;
  struct Sent {
    std::exception_ptr failure;
    Status status;
  };
  auto ended = std::make_shared<Channel<Sent>>(1);  // shared with the coroutine that streams
  boost::asio::co_spawn(executor, stream_in_turn(document, index), [ended](std::exception_ptr failure, Status status) {
    ended->try_send({std::move(failure), std::move(status)});
  });
  std::exception_ptr failure;
  Status read;
  try {
    read = co_await document->read();
  } catch (...) {  // not swallowed: rethrown once nobody uses the document any more
    failure = std::current_exception();
    context_.options.cancellation.request();
  }
  document->no_more_pages();
  const auto sent = co_await ended->receive();
  if (!failure) failure = sent->failure;
  if (failure) std::rethrow_exception(failure);
  co_return read ? sent->status : read;
}

boost::asio::awaitable<Status> Run::stream_in_turn(DocumentRun* document, int index) {
  if (!co_await turns_.wait(index)) co_return fail(ErrorKind::cancelled, "stopped");
  auto begin = [this, document]() -> Status {
    if (auto sent = send_head(*document); !sent) return sent;
    return document->stream_head(context_.options.documents.size() > 1);
  };
  auto sent = co_await output_thread_->run(begin);
  for (const int page : document->pages()) {
    if (!sent) break;
    if (!co_await document->wait_for(page)) co_return sent;  // stopped: document->read() says so
    auto send = [document, page] { return document->stream_page(page); };
    sent = co_await output_thread_->run(send);
  }
  if (sent) {
    auto end = [this, document] { return document->stream_tail(context_.options.documents.size() > 1); };
    sent = co_await output_thread_->run(end);
  }
  note_output(sent);
  co_return sent;
}

Status Run::send_head(const DocumentRun& document) {
  if (std::exchange(head_sent_, true)) return {};
  const bool alone = context_.options.documents.size() == 1;
  const std::string title = alone ? document.document().name : fmt::format("{} documents", report_.documents);
  return context_.services.output(output_head(context_.options.format, title));
}

boost::asio::awaitable<Status> Run::send_in_turn(const DocumentRun* document, int index) {
  if (!co_await turns_.wait(index)) co_return fail(ErrorKind::cancelled, "stopped");
  auto send = [this, document]() -> Status {
    if (auto sent = send_head(*document); !sent) return sent;
    return document->send_output(context_.options.documents.size() > 1);
  };
  auto sent = co_await output_thread_->run(send);
  note_output(sent);
  co_return sent;
}

// A damaged journal is one document's trouble, and an output that ended for the stop is nobody's; one that takes
// nothing any more is everyone's.
void Run::note_output(const Status& sent) {
  if (!sent && sent.error().kind != ErrorKind::corrupt && sent.error().kind != ErrorKind::cancelled) {
    context_.give_up(sent.error());
  }
}

boost::asio::awaitable<void> Run::finish() {
  if (output_thread_ && !context_.stopping()) {
    auto end = [this]() -> Status {
      return head_sent_ ? context_.services.output(output_tail(context_.options.format)) : Status{};
    };
    if (auto ended = co_await output_thread_->run(end); !ended) context_.give_up(ended.error());
  }
  if (context_.manifest) {
    auto save = [this]() -> Status {
      if (auto saved = context_.manifest->save(); !saved || !context_.owners_changed) return saved;
      return context_.owners.save(context_.services.disk, context_.folder->owners());
    };
    if (auto saved = co_await context_.services.cpu.run(save); !saved) context_.give_up(saved.error());
  }
}

void Run::count(const DocumentReport& report) {
  report_.pages_ok += report.pages_ok;
  report_.pages_fallback += report.pages_fallback;
  report_.pages_failed += report.pages_failed;
  report_.pages_read += report.pages_read;
  report_.documents_failed += report.outcome == DocumentOutcome::failed ? 1 : 0;
  report_.documents_up_to_date += report.outcome == DocumentOutcome::up_to_date ? 1 : 0;
}

}  // namespace

std::string_view to_string(DocumentOutcome outcome) {
  switch (outcome) {
    case DocumentOutcome::read:
      return "read";
    case DocumentOutcome::up_to_date:
      return "up_to_date";
    case DocumentOutcome::failed:
      return "failed";
    case DocumentOutcome::stopped:
      return "stopped";
  }
  return "failed";
}

bool reached(const Budget& budget, const Spent& spent) {
  return (budget.tokens_max && spent.tokens.prompt + spent.tokens.completion >= *budget.tokens_max) ||
         (budget.cost_max && spent.cost && *spent.cost >= *budget.cost_max);
}

boost::asio::awaitable<Result<RunReport>> read_documents(RunServices services, RunOptions options) {
  auto executor = co_await boost::asio::this_coro::executor;
  Run run(executor, std::move(services), std::move(options));
  co_return co_await run.run();
}

}  // namespace lectern::reading
