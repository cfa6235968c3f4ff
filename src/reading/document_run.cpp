#include "reading/document_run.h"

#include "base/async.h"
#include "base/hash.h"
#include "document/document_file.h"
#include "reading/figure_files.h"
#include "reading/journaling_reader.h"
#include "reading/output_format.h"
#include "reading/page_result.h"
#include "reading/read_pages.h"

namespace lectern::reading {
namespace {

// Errors of opening a document may begin with its name; whoever shows them says it already.
std::string without_name(std::string text, const RunDocument& document) {
  for (const std::string& name : {document.name, document.file.string(), document.file.filename().string()}) {
    if (text.starts_with(name + ": ")) return text.substr(name.size() + 2);
  }
  return text;
}

Result<std::string> hash_of(const std::filesystem::path& file) {
  const auto fd = document::open_document_file(file);  // refuses what would never end
  if (!fd) return std::unexpected(fd.error());
  return sha256_hex_of_file(fd->get());
}

}  // namespace

DocumentRun::DocumentRun(RunContext& run, int index)
    : run_(run), document_(run.options.documents.at(static_cast<std::size_t>(index))), index_(index) {
  report_.name = document_.name;
}

bool DocumentRun::refused() const {
  return run_.kept() && !run_.refusals[static_cast<std::size_t>(index_)].empty();
}

void DocumentRun::ended_with(const Error& error) {
  const bool stopped = run_.stopping();
  report_.outcome = stopped ? DocumentOutcome::stopped : DocumentOutcome::failed;
  if (stopped) return;
  report_.error = without_name(error.for_caller, document_);
  if (!run_.kept()) return;
  // No page of it is known: the manifest says so in a row without a page. What was refused is as it was.
  const bool untouched = refused() && !run_.manifest->records(document_.name).empty();
  if (records_.empty() && !untouched) run_.manifest->set_failed(document_.name, report_.error);
  // Nothing was written for it, so nothing is its own.
  if (!journal_ && run_.new_owners.contains(document_.name)) run_.owners_changed |= run_.owners.remove(document_.name);
}

boost::asio::awaitable<Status> DocumentRun::prepare() {
  report_.outcome = DocumentOutcome::read;
  if (refused()) co_return fail(ErrorKind::conflict, "{}", run_.refusals[static_cast<std::size_t>(index_)]);
  if (auto recalled = co_await recall(); !recalled) co_return recalled;
  if (auto planned = co_await open_and_plan(); !planned) co_return planned;
  if (auto sound = check_selection(wanted_.pages, known_.page_count, run_.options.pages_max); !sound) co_return sound;
  note_plan();
  co_return Status{};
}

boost::asio::awaitable<Status> DocumentRun::read() {
  if (run_.kept() && plan_.up_to_date()) {
    report_.outcome = DocumentOutcome::up_to_date;
    co_return Status{};
  }
  run_.services.observer.document_started(document_, static_cast<int>(pages_.size()),
                                          static_cast<int>(plan_.read.size()));
  if (plan_.read.empty()) co_return Status{};
  co_return co_await read_planned();
}

// What is wanted, and what an earlier run left of it.
boost::asio::awaitable<Status> DocumentRun::recall() {
  auto hash = [this] { return hash_of(document_.file); };
  auto sha256 = co_await run_.services.cpu.run(hash);
  if (!sha256) co_return std::unexpected(sha256.error());
  const RunOptions& options = run_.options;
  wanted_ = {.identity = {std::move(*sha256), run_.services.reader.fingerprint()},
             .pages = options.pages,
             .format = options.format,
             .output = OutputFolder::output(document_.stem, options.format).generic_string(),
             .retry_failed = options.retry_failed,
             .from_scratch = options.from_scratch};
  if (!run_.kept()) co_return Status{};

  report_.output = (run_.folder->path() / wanted_.output).string();
  auto open = [this] { return Journal::open(seams(), run_.folder->journal(document_.name)); };
  auto opened = co_await run_.services.cpu.run(open);
  if (!opened) {
    run_.give_up(opened.error());
    co_return std::unexpected(opened.error());
  }
  if (!*opened) co_return Status{};
  JournalContents& contents = (*opened)->contents;
  Known known{.identity = contents.header.identity,
              .page_count = contents.header.info.pages,
              .records = std::move(contents.records),
              .assembled = std::move(contents.assembled)};
  if (!is_usable(known, wanted_)) {
    const bool other = known.identity.fingerprint != wanted_.identity.fingerprint;
    if (!other || options.unsure.empty() || options.from_scratch) co_return Status{};
    const auto unsure = fail(ErrorKind::unavailable,
                             "{}: an earlier run read it with another model or other settings, and {}; it was left "
                             "as it is. Start the engine, or name the model with --model",
                             document_.name, options.unsure);
    run_.give_up(unsure.error());
    co_return unsure;
  }
  std::error_code ignored;  // a file that cannot be looked at is as good as absent: it is written again
  known.output_exists =
      known.assembled && std::filesystem::is_regular_file(run_.folder->path() / known.assembled->output, ignored);
  auto find_lost = [this, &known] { return pages_without_figures(known.records); };
  known.figures_lost = co_await run_.services.cpu.run(find_lost);
  known_ = std::move(known);
  journal_ = std::move((*opened)->journal);
  co_return Status{};
}

// Records of earlier versions do not name their figures; such pages are left alone.
std::set<int> DocumentRun::pages_without_figures(const std::vector<PageRecord>& records) const {
  std::set<int> pages;
  const auto folder = run_.folder->figures(document_.stem);
  for (const PageRecord& record : records) {
    for (const std::string& link : record.figures) {
      std::error_code ignored;  // a figure that cannot be looked at is as good as lost
      const auto name = std::filesystem::path(link).filename();
      if (!std::filesystem::is_regular_file(folder / name, ignored)) pages.insert(record.page);
    }
  }
  return pages;
}

// The document is opened only when there are pages to read.
boost::asio::awaitable<Status> DocumentRun::open_and_plan() {
  const bool resumed = journal_ != nullptr;
  if (resumed) plan_ = plan_document(&known_, wanted_, known_.page_count);
  if (!resumed || !plan_.read.empty()) {
    auto opened = co_await run_.services.open(document_.file, run_.options.password);
    if (!opened) co_return std::unexpected(opened.error());
    opened_ = std::move(*opened);
  }
  if (!resumed) {
    auto create = [this] { return new_journal(opened_->info()); };
    auto journal = co_await run_.services.cpu.run(create);
    if (!journal) {
      run_.give_up(journal.error());
      co_return std::unexpected(journal.error());
    }
    journal_ = std::move(*journal);
    known_.page_count = opened_->info().pages;
    plan_ = plan_document(nullptr, wanted_, known_.page_count);
  }
  pages_ = wanted_.pages.of(known_.page_count);
  output_pages_ = output_pages(resumed ? &known_ : nullptr, wanted_, known_.page_count);
  co_return Status{};
}

Result<std::unique_ptr<Journal>> DocumentRun::new_journal(const document::DocumentInfo& info) const {
  const JournalHeader header{.document = document_.name, .identity = wanted_.identity, .info = info};
  if (!run_.kept()) return Journal::create_private(seams(), run_.options.temporary_folder, header);
  // Results of other bytes or of another reader go, and their figures with them.
  if (auto removed = remove_figures(run_.services.disk, run_.folder->figures(document_.stem)); !removed) {
    return std::unexpected(removed.error());
  }
  return Journal::create(seams(), run_.folder->journal(document_.name), header);
}

void DocumentRun::note_plan() {
  for (const PageRecord& record : known_.records) records_[record.page] = record;
  for (const int page : plan_.read) {
    PageRecord pending;
    pending.page = page;
    if (const auto before = records_.find(page); before != records_.end()) pending.attempts = before->second.attempts;
    records_[page] = pending;
  }
  tally();
  if (!run_.manifest) return;
  std::vector<PageRecord> rows;
  for (const auto& [page, record] : records_) rows.push_back(record);
  run_.manifest->set(document_.name, rows);
}

void DocumentRun::tally() {
  report_.pages_ok = 0;
  report_.pages_fallback = 0;
  report_.pages_failed = 0;
  for (const int page : pages_) {
    const PageState state = records_[page].state;
    if (state == PageState::ok) ++report_.pages_ok;
    if (state == PageState::fallback) ++report_.pages_fallback;
    if (state == PageState::failed) ++report_.pages_failed;
  }
}

void DocumentRun::page_done(const PageRecord& record, const Status& journalled) {
  if (!journalled) {
    run_.give_up(journalled.error());
    return;
  }
  records_[record.page] = record;
  ++report_.pages_read;
  if (run_.manifest) run_.manifest->update(document_.name, record);
  run_.services.observer.page_done(document_, record);
  if (page_waiter_) page_waiter_->wake(true);
}

boost::asio::awaitable<Status> DocumentRun::read_planned() {
  std::map<int, int> attempts_before;
  for (const PageRecord& record : known_.records) attempts_before[record.page] = record.attempts;
  JournalingReader reader(
      {.reader = run_.services.reader,
       .window = run_.window,
       .journal = *journal_,
       .cpu = run_.services.cpu,
       .clock = run_.services.clock,
       .may_start = [this] { return !run_.over_budget(); },
       .document_index = index_,
       .file_name = document_.file.filename().string(),
       .attempts_before = std::move(attempts_before),
       .on_page = [this](const PageRecord& record, const Status& journalled) { page_done(record, journalled); }});
  ReadPagesOptions options{.pages = plan_.read,
                           .in_flight_max = run_.options.pages_in_flight_max,
                           .on_page = [](const PageResult&) {},  // page_done has heard of it
                           .cancellation = run_.options.cancellation};
  if (run_.kept()) options.figures = figure_files(run_.services.disk, run_.folder->figures(document_.stem));
  auto read = co_await read_pages(std::exchange(opened_, nullptr), reader, std::move(options));
  tally();
  // Also when stopped: this is what a resumed run starts from.
  auto sync = [this] { return journal_->sync(); };
  if (auto synced = co_await run_.services.cpu.run(sync); !synced) {
    run_.give_up(synced.error());
    co_return synced;
  }
  if (read && run_.budget_spent &&
      std::ranges::any_of(plan_.read, [this](int page) { return records_[page].state == PageState::pending; })) {
    co_return fail(ErrorKind::cancelled, "stopped by the budget");
  }
  co_return read;
}

boost::asio::awaitable<bool> DocumentRun::wait_for(int page) {
  while (records_[page].state == PageState::pending) {
    if (no_more_pages_) co_return false;
    auto executor = co_await boost::asio::this_coro::executor;
    page_waiter_ = std::make_shared<Waiter>(executor);
    co_await page_waiter_->wait();
  }
  co_return true;
}

void DocumentRun::no_more_pages() {
  no_more_pages_ = true;
  if (page_waiter_) page_waiter_->wake(true);
}

Status DocumentRun::stream_head(bool named) const {
  return run_.services.output(streamed_head(journal_->header(), {.format = wanted_.format, .named = named}));
}

Status DocumentRun::stream_page(int page) {
  const auto result = journal_->read(page);
  if (!result) return std::unexpected(result.error());
  const std::string text = streamed_page(*result, wanted_.format, !streamed_any_);
  streamed_any_ = streamed_any_ || !text.empty();
  return run_.services.output(text);
}

Status DocumentRun::stream_tail(bool named) const {
  return run_.services.output(streamed_tail({.format = wanted_.format, .named = named}));
}

boost::asio::awaitable<Status> DocumentRun::write_output() {
  auto write = [this]() -> Status {
    const auto path = run_.folder->path() / wanted_.output;
    if (auto made = run_.services.disk.make_folders(path.parent_path()); !made) return made;
    auto file = AtomicFile::create(run_.services.disk, path);
    if (!file) return std::unexpected(file.error());
    const auto sink = [&file](std::string_view bytes) { return file->write(bytes); };
    const OutputFormat format = wanted_.format;
    const document::DocumentInfo& info = journal_->header().info;
    if (auto sent = sink(output_head(format, info.title.empty() ? document_.name : info.title)); !sent) return sent;
    if (auto assembled = assemble_document(*journal_, output_pages_, {.format = format}, sink); !assembled)
      return assembled;
    if (auto sent = sink(output_tail(format)); !sent) return sent;
    if (auto committed = file->commit(); !committed) return committed;
    // Not made durable at once: if this row is lost, the output is merely written again.
    return journal_->append(Assembled{format, wanted_.output, PageSelection::of_pages(output_pages_).to_string()});
  };
  const auto written = co_await run_.services.cpu.run(write);
  // A damaged journal is this document's trouble; a disk that does not take the output is everyone's.
  if (!written && written.error().kind != ErrorKind::corrupt) run_.give_up(written.error());
  co_return written;
}

Status DocumentRun::send_output(bool named) const {
  return assemble_document(*journal_, pages_, {.format = wanted_.format, .named = named}, run_.services.output);
}

}  // namespace lectern::reading
