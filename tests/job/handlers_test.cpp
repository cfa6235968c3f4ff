// The three handlers together, over pretend documents ("3 fox" is a document of three pages about foxes): what comes
// out must be what a run of `lectern read` over the same document puts out, byte for byte.
#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/async.h"
#include "base/hash.h"
#include "base/run_all.h"
#include "job/handlers/assemble_handler.h"
#include "job/handlers/page_images.h"
#include "job/handlers/read_handler.h"
#include "job/handlers/split_handler.h"
#include "job/inline_database.h"
#include "job/memory_blobs.h"
#include "reading/fake_run.h"
#include "reading/output_format.h"

namespace lectern::job {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class FakeReaders final : public ReaderSource {
 public:
  explicit FakeReaders(reading::PageReader& reader) : reader_(reader) {}
  boost::asio::awaitable<Result<JobReader>> reader(std::string, JobOptions) override {
    if (failure) co_return std::unexpected(*failure);
    co_return JobReader{std::shared_ptr<reading::PageReader>(&reader_, [](auto*) {}), "the prompt"};
  }
  std::optional<Error> failure;

 private:
  reading::PageReader& reader_;
};

class HandlersTest : public reading::RunTest {
 protected:
  boost::asio::awaitable<Result<std::shared_ptr<document::OpenDocument>>> open_pretended(UniqueFd fd,
                                                                                         std::string name) {
    std::string text(1000, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::pread(fd.get(), text.data(), text.size(), 0))));
    std::istringstream content(text);
    int pages = 0;
    std::string subject;
    if (!(content >> pages >> subject)) co_return fail(ErrorKind::invalid_input, "{}: is not a pretend document", name);
    co_return std::make_shared<reading::FakeDocument>(pages, subject);
  }

  template <class T>
  T call(boost::asio::awaitable<T> coroutine) {
    return run_coroutine(loop_, std::move(coroutine));
  }
  void submit(const std::string& content, JobOptions options = {}) {
    blobs_.blobs["original"] = content;
    const auto done =
        call(store_.submit({.id = "job", .document = "a.pdf", .source = "original", .options = to_json(options)}));
    ASSERT_TRUE(done);
  }
  Job job() { return (*call(store_.job("job")))->job; }
  Handler& handler(StepKind kind) {
    return kind == StepKind::split ? *split_ : kind == StepKind::read ? *read_ : *assemble_;
  }
  Outcome handle(const Task& task, Cancellation cancellation = {}) {
    Outcome outcome = call(handler(task.kind).handle({task, job(), std::move(cancellation)}));
    outcome.task = task.id;
    outcome.token = task.token;
    return outcome;
  }
  std::vector<Task> claim() {
    auto tasks =
        call(store_.claim({.worker = "w", .kinds = {StepKind::split, StepKind::read, StepKind::assemble}, .room = 3}));
    return tasks ? std::move(*tasks) : std::vector<Task>{};
  }
  // Until nothing is left to do.
  Job run_job() {
    for (auto tasks = claim(); !tasks.empty(); tasks = claim()) {
      for (const Task& task : tasks) {
        EXPECT_THAT(*call(store_.commit({handle(task)})), testing::ElementsAre(Verdict::accepted));
      }
    }
    return job();
  }
  void refuse(const Outcome& outcome, Handler& handler) {
    std::vector<boost::asio::awaitable<void>> one;
    one.push_back(handler.refused(outcome));
    boost::asio::co_spawn(loop_, run_all(std::move(one)), boost::asio::detached);
    loop_.restart();
    loop_.run();
  }
  std::string result(const Job& job, const std::string& format) {
    return blobs_.blobs.at(json::parse(job.result).at(format).get<std::string>());
  }
  // What `lectern read` prints for the same document.
  std::string read_by_run(reading::OutputFormat format) {
    options_.format = format;
    run_well();
    return output_;
  }

  boost::asio::io_context loop_;
  CpuPool cpu_{2};
  SystemTimers timers_;
  InlineState database_{system_clock()};
  Store store_{std::make_unique<InlineDatabase>(database_), Policy{}, timers_};
  MemoryBlobs blobs_;
  FakeReaders readers_{reader_};
  JobDocuments documents_{
      blobs_,
      timers_,
      [this](UniqueFd fd, std::string name, std::string) { return open_pretended(std::move(fd), std::move(name)); },
      {}};
  std::unique_ptr<Handler> split_ = make_split_handler({.blobs = blobs_,
                                                        .documents = documents_,
                                                        .readers = readers_,
                                                        .cpu = cpu_,
                                                        .scratch = "/tmp",
                                                        .pages_max = 1000});
  std::unique_ptr<Handler> read_ = make_read_handler(
      {.blobs = blobs_, .documents = documents_, .readers = readers_, .cpu = cpu_, .clock = system_clock()});
  std::unique_ptr<Handler> assemble_ = make_assemble_handler(
      {.store = store_, .blobs = blobs_, .cpu = cpu_, .disk = real_disk(), .clock = system_clock(), .scratch = "/tmp"});
};

TEST_F(HandlersTest, TheResultIsWhatReadPrintsInEveryFormat) {
  reader_.failing = {2};
  submit("600 fox");
  add("a.pdf", "600 fox");
  const Job done = run_job();
  EXPECT_EQ(done.phase, Phase::succeeded);
  EXPECT_EQ(done.pages, (Counts{.ok = 599, .failed = 1}));
  for (const auto format : {reading::OutputFormat::markdown, reading::OutputFormat::json, reading::OutputFormat::text,
                            reading::OutputFormat::html}) {
    const std::string name(reading::format_name(format));
    const std::string expected = read_by_run(format);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(result(done, name), expected) << name;
  }
}

TEST_F(HandlersTest, SoItIsWithAModelAndSomePages) {
  reader_.model = "m";
  reader_.fallen_back = {4};
  options_.pages = *reading::PageSelection::parse("2-5,9-");
  submit("11 fox", {.pages = "2-5,9-"});
  add("a.pdf", "11 fox");
  const Job done = run_job();
  EXPECT_EQ(done.pages, (Counts{.ok = 6, .fallback = 1}));
  EXPECT_EQ(done.pages_total, 7);
  for (const auto format :
       {reading::OutputFormat::markdown, reading::OutputFormat::json, reading::OutputFormat::html}) {
    EXPECT_EQ(result(done, std::string(reading::format_name(format))), read_by_run(format));
  }
}

TEST_F(HandlersTest, APagesBlobHasPromptAndResponse) {
  reader_.model = "m";
  submit("1 fox");
  run_job();
  const auto page = json::parse(blobs_.blobs.at("jobs/job/pages/000001-1.json"));
  EXPECT_EQ(page["page_number"], 1);
  EXPECT_EQ(page["prompt"], "the prompt");
  EXPECT_EQ(page["response"], "**Page** 1 about the fox");
  EXPECT_EQ(page["record"]["state"], "ok");
}

TEST_F(HandlersTest, TheEventOfAPageSaysWhoReadIt) {
  reader_.model = "m";
  submit("1 fox");
  run_job();
  const auto events = call(store_.events("job", 0, 100));
  const auto done = std::ranges::find(*events, "page.done", &Event::kind);
  ASSERT_NE(done, events->end());
  const auto data = json::parse(done->data);
  EXPECT_EQ(data["model"], "m");
  EXPECT_EQ(data["reader"], "model");
  EXPECT_EQ(data["tokens"]["prompt"], 100);
  EXPECT_TRUE(data.contains("ms"));
}

TEST_F(HandlersTest, ADocumentThatIsNoneFailsTheJobInTheWordsOfRead) {
  submit("nonsense");
  const Job failed = run_job();
  EXPECT_EQ(failed.phase, Phase::failed);
  EXPECT_EQ(failed.error, "is not a pretend document");
}

TEST_F(HandlersTest, PagesThatAreNotThereFailTheJob) {
  submit("3 fox", {.pages = "7-9"});
  EXPECT_EQ(run_job().error, "has 3 pages, none of them in 'pages' 7-9");
}

TEST_F(HandlersTest, TooManyPagesFailTheJob) {
  submit("1001 fox");
  EXPECT_THAT(run_job().error,
              HasSubstr("has 1001 pages to read, more than the limit of 1000: choose some with 'pages'"));
}

TEST_F(HandlersTest, AWishThatCannotBeFulfilledFailsTheJobBeforeAnyPage) {
  readers_.failure = Error{ErrorKind::not_found, "x", "language 'xyz' is not installed"};
  submit("3 fox");
  const Job failed = run_job();
  EXPECT_EQ(failed.phase, Phase::failed);
  EXPECT_EQ(failed.error, "language 'xyz' is not installed");
}

TEST_F(HandlersTest, AnUnknownHashIsFoundOut) {
  submit("1 fox");
  EXPECT_THAT(result(run_job(), "json"), HasSubstr(sha256_hex("1 fox")));
}

TEST_F(HandlersTest, BlobsThatAreAwayGiveTheTaskBack) {
  submit("2 fox");
  const auto split = claim();
  blobs_.failure = Error{ErrorKind::unavailable, "away", "away"};
  EXPECT_EQ(handle(split[0]).ending, Ending::give_back);
  blobs_.failure.reset();
  ASSERT_TRUE(call(store_.commit({handle(split[0])})));
  auto pages = claim();
  ASSERT_EQ(pages.size(), 2U);
  blobs_.failure = Error{ErrorKind::overloaded, "full", "full"};
  EXPECT_EQ(handle(pages[0]).ending, Ending::give_back) << "the document is open, but the result finds no place";
  blobs_.failure.reset();
  for (const Task& task : pages) ASSERT_TRUE(call(store_.commit({handle(task)})));
  const auto assemble = claim();
  blobs_.failure = Error{ErrorKind::unavailable, "away", "away"};
  EXPECT_EQ(handle(assemble[0]).ending, Ending::give_back);
}

TEST_F(HandlersTest, ALostAnswerToAPutIsNotAFailure) {
  submit("1 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  const Task page = claim()[0];
  EXPECT_EQ(handle(page).ending, Ending::done);
  EXPECT_EQ(handle(page).ending, Ending::done) << "the same lease finds its own blob";
}

TEST_F(HandlersTest, WhatARefusedCommitWroteIsRemoved) {
  submit("1 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  const Task page = claim()[0];
  const Outcome outcome = handle(page);
  EXPECT_EQ(blobs_.blobs.size(), 2U);
  refuse(outcome, *read_);
  EXPECT_EQ(blobs_.blobs.size(), 1U);
}

// A worker that was taken for dead may come back when the result it was making has been made twice.
TEST_F(HandlersTest, ALateAssemblyDoesNotTouchTheResultOfTheNextRound) {
  reader_.failing = {2};
  submit("2 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  for (const Task& page : claim()) ASSERT_TRUE(call(store_.commit({handle(page)})));
  const Task assemble = claim()[0];
  const Job before = job();
  const Outcome first = handle(assemble);
  ASSERT_TRUE(call(store_.commit({first})));
  reader_.failing = {};
  ASSERT_TRUE(call(store_.retry("job")));
  const Job after = run_job();
  ASSERT_EQ(after.phase, Phase::succeeded);
  const std::string text = result(after, "md");
  ASSERT_NE(text, result(Job{.result = first.job_result}, "md"));
  const Outcome late = call(assemble_->handle({assemble, before, {}}));
  EXPECT_EQ(result(after, "md"), text);
  refuse(late, *assemble_);
  EXPECT_EQ(result(after, "md"), text);
}

TEST_F(HandlersTest, ACancelledPageLeavesNothing) {
  submit("1 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  Cancellation cancelled;
  cancelled.request();
  handle(claim()[0], cancelled);
  EXPECT_EQ(blobs_.blobs.size(), 1U);
}

// A reader whose models refuse to go on: a key that was withdrawn, money that ran out.
class RefusedReader final : public reading::PageReader {
 public:
  boost::asio::awaitable<reading::PageResult> read(std::shared_ptr<document::OpenDocument>, int page,
                                                   reading::FigureSink, Cancellation) override {
    co_return reading::PageResult{
        .page = page, .attempts = {{"m", "cancelled", "the key was refused"}}, .error = "a.pdf: the key was refused"};
  }
  std::string fingerprint() const override { return "refused"; }
};

TEST_F(HandlersTest, APageThatModelsRefuseIsTriedAgainLaterAndSaysWhy) {
  submit("1 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  RefusedReader refused;
  FakeReaders readers(refused);
  read_ = make_read_handler(
      {.blobs = blobs_, .documents = documents_, .readers = readers, .cpu = cpu_, .clock = system_clock()});
  const Outcome outcome = handle(claim()[0]);
  EXPECT_EQ(outcome.ending, Ending::give_back);
  EXPECT_EQ(outcome.error, "the key was refused");
  EXPECT_GE(outcome.delay, 30'000) << "a person has to mend it";
  EXPECT_EQ(blobs_.blobs.size(), 1U);
}

// A worker whose renderer or OCR data went while it worked.
class LackingReader final : public reading::PageReader {
 public:
  boost::asio::awaitable<reading::PageResult> read(std::shared_ptr<document::OpenDocument>, int page,
                                                   reading::FigureSink, Cancellation) override {
    co_return reading::PageResult{
        .page = page, .attempts = {{"builtin", "unavailable", "no renderer"}}, .error = "a.pdf: no renderer"};
  }
  std::string fingerprint() const override { return "lacking"; }
};

TEST_F(HandlersTest, APageForWhichTheWorkerLacksSomethingIsHandedBack) {
  submit("1 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  LackingReader lacking;
  FakeReaders readers(lacking);
  read_ = make_read_handler(
      {.blobs = blobs_, .documents = documents_, .readers = readers, .cpu = cpu_, .clock = system_clock()});
  const Outcome outcome = handle(claim()[0]);
  EXPECT_EQ(outcome.ending, Ending::give_back);
  EXPECT_EQ(outcome.for_log, "no renderer");
  EXPECT_EQ(blobs_.blobs.size(), 1U) << "nothing is published";
}

TEST_F(HandlersTest, APageThatKilledItsWorkersKeepsItsPlaceAndSaysWhy) {
  submit("3 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  auto pages = claim();
  ASSERT_EQ(pages.size(), 3U);
  ASSERT_TRUE(call(store_.commit({handle(pages[0])})));
  Outcome failed{.task = pages[1].id, .token = pages[1].token, .ending = Ending::failed, .error = "it bit"};
  ASSERT_TRUE(call(store_.commit({failed})));
  ASSERT_TRUE(call(store_.commit({handle(pages[2])})));
  const Job done = run_job();
  EXPECT_EQ(done.pages, (Counts{.ok = 2, .failed = 1}));
  EXPECT_EQ(result(done, "md"),
            "Page 1 about the fox.\n\n<!-- page 2 could not be read: it bit -->\n\nPage 3 about the fox.\n");
}

TEST_F(HandlersTest, ADamagedPageFailsTheAssemblyAndLeavesNothing) {
  submit("2 fox");
  ASSERT_TRUE(call(store_.commit({handle(claim()[0])})));
  for (const Task& page : claim()) ASSERT_TRUE(call(store_.commit({handle(page)})));
  blobs_.blobs.at("jobs/job/pages/000002-1.json") = "{";
  const Job failed = run_job();
  EXPECT_EQ(failed.phase, Phase::failed);
  EXPECT_THAT(failed.error, HasSubstr("the stored result of page 2 is damaged"));
  EXPECT_EQ(blobs_.blobs.size(), 3U) << "the original and the pages";
}

}  // namespace
}  // namespace lectern::job
