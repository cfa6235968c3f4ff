#include "job/handlers/split_handler.h"

#include <utility>

#include "base/async.h"
#include "base/hash.h"
#include "job/handlers/fate.h"
#include "reading/journal_rows.h"
#include "reading/page_ranges.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;

class SplitHandler final : public Handler {
 public:
  explicit SplitHandler(SplitParts parts) : parts_(std::move(parts)) {}

  asio::awaitable<Outcome> handle(Work work) override {
    const NewJob& request = work.job.request;
    const auto options = job_options_from_json(request.options);
    if (!options) co_return Outcome{.ending = Ending::failed, .error = options.error().for_caller};
    const auto selection = selected(options->pages);
    if (!selection) co_return Outcome{.ending = Ending::failed, .error = selection.error().for_caller};
    // Asked for here already: what cannot be fulfilled is said once, not page by page.
    const auto reader = co_await parts_.readers.reader(request.operation, *options);
    if (!reader) co_return after_reader_error(reader.error());

    const auto document = co_await parts_.documents.open(work.job);
    if (!document) {
      const OpenFailure& failure = document.error();
      co_return failure.of == OpenFailure::Of::blobs ? after_blob_error(failure.error)
                                                     : after_open_error(failure.error, request.document);
    }
    const document::DocumentInfo& info = (*document)->info();
    if (auto sound = reading::check_selection(*selection, info.pages, parts_.pages_max); !sound) {
      const bool too_many = selection->count(info.pages) > parts_.pages_max;
      co_return Outcome{.ending = Ending::failed,
                        .error = in_words_of_the_api(sound.error().for_caller),
                        .code = too_many ? "too_many_pages" : ""};
    }
    const auto sha256 = co_await hash_of(work.job);
    if (!sha256) co_return after_blob_error(sha256.error());

    const reading::JournalHeader header{
        .document = request.document, .identity = {*sha256, reader->reader->fingerprint()}, .info = info};
    Outcome outcome;
    outcome.pages = selection->of(info.pages);
    outcome.pages_total = static_cast<int>(outcome.pages.size());
    outcome.info = reading::header_row(header);
    co_return outcome;
  }

  asio::awaitable<void> refused(Outcome) override { co_return; }  // nothing was written

 private:
  static Result<reading::PageSelection> selected(const std::string& pages) {
    if (pages.empty()) return reading::PageSelection();
    auto selection = reading::PageSelection::parse(pages);
    if (!selection) return fail(ErrorKind::invalid_input, "pages: {}", selection.error().for_caller);
    return selection;
  }

  // Whoever stored the document has usually hashed it on the way.
  asio::awaitable<Result<std::string>> hash_of(Job job) {
    if (!job.request.sha256.empty()) co_return job.request.sha256;
    auto fd = co_await parts_.blobs.open(job.request.source, parts_.scratch);
    if (!fd) co_return std::unexpected(fd.error());
    auto hash = [&fd] { return sha256_hex_of_file(fd->get()); };
    co_return co_await parts_.cpu.run(std::move(hash));
  }

  const SplitParts parts_;
};

}  // namespace

std::unique_ptr<Handler> make_split_handler(SplitParts parts) {
  return std::make_unique<SplitHandler>(std::move(parts));
}

}  // namespace lectern::job
