#include "job/handlers/read_handler.h"

#include <nlohmann/json.hpp>

#include <utility>

#include "base/async.h"
#include "job/handlers/fate.h"
#include "job/handlers/page_blob.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

// A person has to mend something (a key, money): nobody is asked every second.
constexpr Millis refused_delay = 60'000;

PageOutcome outcome_of(reading::PageState state) {
  switch (state) {
    case reading::PageState::ok:
      return PageOutcome::ok;
    case reading::PageState::fallback:
      return PageOutcome::fallback;
    case reading::PageState::pending:
    case reading::PageState::failed:
      return PageOutcome::failed;
  }
  return PageOutcome::failed;
}

// What the event of the page says beside its outcome.
std::string detail_of(const reading::PageResult& result) {
  Json json{{"reader", result.reader}};
  if (!result.model.empty()) json["model"] = result.model;
  if (result.confidence) json["confidence"] = *result.confidence;
  json["ms"] = result.ms.total;
  if (result.tokens) json["tokens"] = {{"prompt", result.tokens->prompt}, {"completion", result.tokens->completion}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class ReadHandler final : public Handler {
 public:
  explicit ReadHandler(ReadParts parts) : parts_(parts) {}

  asio::awaitable<Outcome> handle(Work work) override {
    const NewJob& request = work.job.request;
    const auto options = job_options_from_json(request.options);
    if (!options) co_return Outcome{.ending = Ending::failed, .error = options.error().for_caller};
    const auto reader = co_await parts_.readers.reader(request.operation, *options);
    if (!reader) co_return after_reader_error(reader.error());
    const auto document = co_await parts_.documents.open(work.job);
    if (!document && document.error().of == OpenFailure::Of::blobs) co_return after_blob_error(document.error().error);
    if (!document) co_return after_open_error(document.error().error, request.document);

    PageBlob page{.prompt = reader->prompt};
    const WallTime started_at = parts_.clock.wall();
    page.result = co_await reader->reader->read(*document, work.task.number, {}, work.cancellation);
    if (work.cancellation.requested()) co_return Outcome{.ending = Ending::give_back};
    page.result.error = without_name(page.result.error, request.document);
    if (reading::was_cut_short(page.result)) {  // not by us: the models refuse to go on
      co_return Outcome{.ending = Ending::give_back, .error = page.result.error, .delay = refused_delay};
    }
    if (auto back = after_unread_page(page.result)) co_return *back;
    page.record = reading::record_of(page.result, started_at, work.task.attempts - 1);
    co_return co_await keep(std::move(work), std::move(page));
  }

  asio::awaitable<void> refused(Outcome outcome) override {
    if (!outcome.result.empty()) co_await parts_.blobs.remove(outcome.result);  // what stays behind goes with the job
  }

 private:
  asio::awaitable<Outcome> keep(Work work, PageBlob page) {
    Outcome outcome{.page = outcome_of(page.record.state),
                    .result = page_key(work.job.request.id, work.task.number, work.task.token),
                    .error = page.record.reason,
                    .detail = detail_of(page.result)};
    auto compose = [&page] { return to_json(page); };
    std::string json = co_await parts_.cpu.run(std::move(compose));
    const auto put = co_await parts_.blobs.put(outcome.result, std::move(json), PutMode::create_only);
    // The key has our token in it: if it is there, it was we who put it, and the answer was lost.
    if (!put && put.error().kind != ErrorKind::conflict) co_return after_blob_error(put.error());
    co_return outcome;
  }

  const ReadParts parts_;
};

}  // namespace

std::unique_ptr<Handler> make_read_handler(ReadParts parts) {
  return std::make_unique<ReadHandler>(parts);
}

}  // namespace lectern::job
