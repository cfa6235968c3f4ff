// A run over pretend documents: a file that holds "3 fox" is a document of three pages about foxes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/async.h"
#include "reading/page_result.h"
#include "reading/read_run.h"
#include "reading/waiter.h"
#include "run_coroutine.h"
#include "temp_folder.h"

namespace lectern::reading {

inline std::string slurp(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FakeDocument final : public document::OpenDocument {
 public:
  FakeDocument(int pages, std::string subject) : subject(std::move(subject)) { info_.pages = pages; }
  const document::DocumentInfo& info() const override { return info_; }
  boost::asio::awaitable<Result<document::PageContent>> inspect(int) override {
    co_return fail(ErrorKind::internal, "not part of this fake");
  }
  boost::asio::awaitable<Result<document::Rendered>> render(document::RenderRequest) override {
    co_return fail(ErrorKind::internal, "not part of this fake");
  }
  std::string subject;

 private:
  document::DocumentInfo info_;
};

// Page n takes n % 4 turns of the loop, so pages finish out of order.
class FakeReader final : public PageReader {
 public:
  boost::asio::awaitable<PageResult> read(std::shared_ptr<document::OpenDocument> document, int page_number,
                                          FigureSink figures, Cancellation) override {
    const std::string subject = static_cast<FakeDocument&>(*document).subject;
    in_flight_most = std::max(in_flight_most, ++in_flight);
    if (gather > 0) co_await wait_for_others();
    for (int turn = 0; turn < 1 + page_number % 4; ++turn) {
      co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
    }
    --in_flight;
    ++pages_read;
    PageResult result{.page = page_number, .reader = "fake"};
    if (failing.contains(page_number)) {
      result.error = prefix + "the fake failed -- on purpose";
    } else {
      if (!model.empty()) {
        result.reader = "model";
        result.model = fallen_back.contains(page_number) ? "" : model;
        result.markdown = "**Page** " + std::to_string(page_number) + " about the " + subject;
        result.attempts.push_back(
            {model, result.model.empty() ? "unavailable" : "ok", result.model.empty() ? "it is away" : ""});
        result.tokens = Tokens{100, 10};
        tokens_used += 110;
      }
      if (!model.empty() && result.model.empty()) {
        result.reader = "builtin";
        result.markdown.clear();
        result.attempts.push_back({"builtin", "ok"});
      }
      result.blocks.push_back({.text = "Page " + std::to_string(page_number) + " about the " + subject + "."});
      result.blocks.back().bbox = {72, 72, 300, 90};
      if (figures && with_figures) {
        auto file = figures(page_number, 1, image::Image(4, 4, image::PixelFormat::gray8));
        if (file) result.blocks.push_back({.kind = BlockKind::figure, .file = *file});
      }
    }
    if (after_page) after_page(pages_read);
    co_return result;
  }
  std::string fingerprint() const override { return print; }

  std::string print = "fake 1";
  std::set<int> failing;
  std::string prefix;  // of errors
  std::string model;   // when set, a model reads: 110 tokens a page
  std::set<int> fallen_back;
  int tokens_used = 0;
  bool with_figures = false;
  std::function<void(int pages_read)> after_page;
  int gather = 0;  // that many pages wait until they are all being read at once; what comes later does not wait
  int in_flight = 0;
  int in_flight_most = 0;
  int pages_read = 0;

 private:
  boost::asio::awaitable<void> wait_for_others() {
    const auto executor = co_await boost::asio::this_coro::executor;
    if (in_flight < gather) {
      auto waiter = std::make_shared<Waiter>(executor);
      gathered_.push_back(waiter);
      co_await waiter->wait();
    } else {
      gather = 0;
      for (const auto& waiter : std::exchange(gathered_, {})) waiter->wake(true);
    }
  }
  std::vector<std::shared_ptr<Waiter>> gathered_;
};

class EventList final : public RunObserver {
 public:
  void document_started(const RunDocument& document, int pages_wanted, int pages_to_read) override {
    lines.push_back(fmt::format("start {} {}/{}", document.name, pages_to_read, pages_wanted));
  }
  void page_done(const RunDocument& document, const PageRecord& record) override {
    lines.push_back(fmt::format("page {} {} {}", document.name, record.page, to_string(record.state)));
  }
  void document_done(const DocumentReport& report) override {
    lines.push_back(fmt::format("done {} {} ok={} failed={} read={}", report.name, to_string(report.outcome),
                                report.pages_ok, report.pages_failed, report.pages_read));
    reports.push_back(report);
  }
  std::vector<std::string> lines;
  std::vector<DocumentReport> reports;
};

class RunTest : public testing::Test {
 protected:
  // Writes a pretend document and adds it to the run.
  void add(const std::string& name, const std::string& content) {
    const auto file = folder_.path() / "in" / name;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::remove(file);
    std::ofstream(file) << content;
    const std::string stem = std::filesystem::path(name).replace_extension().string();
    const RunDocument document{file, name, stem};
    if (std::ranges::find(options_.documents, document) == options_.documents.end()) {
      options_.documents.push_back(document);
    }
  }
  std::filesystem::path out() const { return folder_.path() / "out"; }

  Result<RunReport> run(Disk& disk = real_disk()) {
    events_ = {};
    reader_.pages_read = 0;
    reader_.tokens_used = 0;
    opened_ = 0;
    output_.clear();
    RunOptions options = options_;
    options.cancellation = cancellation_ = Cancellation();
    options.temporary_folder = folder_.path();
    boost::asio::io_context loop;
    CpuPool cpu(2);
    auto open = [this](std::filesystem::path file,
                       std::string) -> boost::asio::awaitable<Result<std::shared_ptr<document::OpenDocument>>> {
      ++opened_;
      std::istringstream content(slurp(file));
      int pages = 0;
      std::string subject;
      if (!(content >> pages >> subject)) co_return fail(ErrorKind::invalid_input, "is not a pretend document");
      co_return std::make_shared<FakeDocument>(pages, subject);
    };
    const ByteSink output = [this](std::string_view bytes) -> Status {
      if (output_.size() + bytes.size() > output_room_) return fail(ErrorKind::unavailable, "the reader has gone");
      output_ += bytes;
      return {};
    };
    std::function<Spent()> spent;
    if (!reader_.model.empty()) spent = [this] { return Spent{.tokens = {reader_.tokens_used, 0}}; };
    return run_coroutine(loop, read_documents({.open = open,
                                               .reader = reader_,
                                               .cpu = cpu,
                                               .disk = disk,
                                               .clock = system_clock(),
                                               .observer = events_,
                                               .output = output,
                                               .spent = spent},
                                              std::move(options)));
  }
  // A run that must not fail as a whole.
  RunReport run_well() {
    const auto report = run();
    EXPECT_TRUE(report) << report.error().for_log;
    return report.value_or(RunReport{});
  }

  TempFolder folder_;
  RunOptions options_;
  FakeReader reader_;
  EventList events_;
  Cancellation cancellation_;
  int opened_ = 0;
  std::string output_;
  std::size_t output_room_ = std::size_t{1} << 30;
};

}  // namespace lectern::reading
