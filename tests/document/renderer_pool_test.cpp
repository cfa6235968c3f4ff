// The pool against a renderer that misbehaves on purpose (fake_renderer_main.cpp). Its documents are lists of switches.
#include "document/renderer_pool.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "document/pool_fixture.h"
#include "temp_folder.h"

namespace lectern::document {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
using namespace std::chrono_literals;

RendererPoolOptions fake_options() {
  RendererPoolOptions options;
  options.renderer = LECTERN_BIN_DIR "/fake_renderer";
  options.pdfium = "none";
  options.processes = 1;
  return options;
}

image::Image gray_image(int width, int height, std::uint8_t value, float dpi) {
  image::Image image(width, height, image::PixelFormat::gray8, value);
  image.dpi = dpi;
  return image;
}

class RendererPoolTest : public testing::Test {
 protected:
  RendererPool& make_pool(RendererPoolOptions options = fake_options()) {
    pool_.emplace(context_.get_executor(), std::move(options));
    return *pool_;
  }
  std::shared_ptr<OpenDocument> open(const std::string& switches) {
    auto opened = run(context_, pool_->open(scratch_.write("doc.pdf", switches), ""));
    if (!opened) throw std::runtime_error(opened.error().for_log);
    return *opened;
  }
  Result<PageContent> inspect(OpenDocument& document, int page_number) {
    return run(context_, document.inspect(page_number));
  }

  TempFolder scratch_;
  asio::io_context context_;
  std::optional<RendererPool> pool_;
};

TEST_F(RendererPoolTest, ReadsPagesAndPixels) {
  make_pool();
  auto document = open("pages=3");
  EXPECT_EQ(document->info().pages, 3);
  EXPECT_EQ(document->info().title, "fake");
  for (int page = 1; page <= 3; ++page) EXPECT_EQ(inspect(*document, page).value().page_number, page);
  RenderRequest request{.page_number = 2, .dpi = 72, .format = image::PixelFormat::rgb24};
  const Rendered rendered = run(context_, document->render(request)).value();
  EXPECT_EQ(rendered.width_px, 30);
  EXPECT_EQ(rendered.image.pixels, image::Pixels(std::size_t{30} * 20 * 3, 2));
  EXPECT_EQ(pool_->stats().started, 1U);
}

TEST_F(RendererPoolTest, ACrashCostsItsPageAlone) {
  make_pool();
  auto document = open("pages=5 crash=3");
  EXPECT_TRUE(inspect(*document, 2));
  const auto crashed = inspect(*document, 3);
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(crashed.error().for_caller, "doc.pdf: page 3 crashed the renderer (SIGSEGV)");
  EXPECT_TRUE(inspect(*document, 4));
  // Once for the renderer that had served page 2, once for the fresh one in which the page was tried again.
  EXPECT_EQ(pool_->stats().crashed, 2U);
}

TEST_F(RendererPoolTest, AHangCostsItsPageAlone) {
  auto options = fake_options();
  options.limits.page_timeout = 1s;
  make_pool(options);
  auto document = open("pages=9 hang=5");
  const auto hung = inspect(*document, 5);
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().kind, ErrorKind::timeout);
  EXPECT_EQ(hung.error().for_caller, "doc.pdf: page 5 took longer than 1 s and was given up");
  EXPECT_TRUE(inspect(*document, 6));
  EXPECT_EQ(pool_->stats().timed_out, 1U);
}

TEST_F(RendererPoolTest, EveryMisbehaviourHasItsError) {
  struct Case {
    const char* switches;
    ErrorKind kind;
    const char* text;
  };
  const Case cases[] = {
      {"garbage=2", ErrorKind::corrupt, "page 2 made the renderer answer nonsense"},
      {"oversized=2", ErrorKind::corrupt, "page 2 made the renderer answer nonsense"},
      {"wrong-call=2", ErrorKind::corrupt, "page 2 made the renderer answer nonsense"},
      {"wrong-page=2", ErrorKind::corrupt, "page 2 made the renderer answer nonsense"},
      {"truncated=2", ErrorKind::corrupt, "page 2 ended the renderer (exit status 0)"},
      {"close-socket=2", ErrorKind::corrupt, "page 2 had its renderer killed"},
      {"exit=2", ErrorKind::corrupt, "page 2 ended the renderer (exit status 7)"},
      {"memory=2", ErrorKind::corrupt, "page 2 needs more memory than the renderer's limit of 1 GiB"},
      {"error=2", ErrorKind::corrupt, "page 2: the drawing is broken"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.switches);
    make_pool();  // a fresh one: the fake knows the number of its call by counting from the start
    auto document = open(c.switches);
    const auto outcome = inspect(*document, 2);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, c.kind);
    EXPECT_THAT(outcome.error().for_caller, HasSubstr(c.text));
    EXPECT_THAT(outcome.error().for_caller, HasSubstr("doc.pdf"));
    EXPECT_TRUE(inspect(*document, 3));
  }
}

TEST_F(RendererPoolTest, LiesAboutPicturesAreFound) {
  make_pool();
  auto document = open("lie=1 lie-jpeg=2");
  const auto lie = run(context_, document->render({.page_number = 1, .dpi = 72}));
  ASSERT_FALSE(lie);
  EXPECT_EQ(lie.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(lie.error().for_log, HasSubstr("bytes do not match its size"));
  const auto not_asked = run(context_, document->render({.page_number = 2, .dpi = 72}));
  EXPECT_THAT(not_asked.error().for_log, HasSubstr("although pixels were asked for"));
  const auto no_jpeg = run(context_, document->render({.page_number = 2, .dpi = 72, .allow_passthrough = true}));
  EXPECT_THAT(no_jpeg.error().for_log, HasSubstr("no JPEG"));
  EXPECT_TRUE(run(context_, document->render({.page_number = 3, .dpi = 72})));
}

TEST_F(RendererPoolTest, ColoursComeApartOnlyWhereThatIsAllowed) {
  make_pool();
  auto document = open("chroma=2");
  const RenderRequest allowed{.page_number = 2, .dpi = 72, .format = image::PixelFormat::rgb24, .allow_chroma = true};
  const Rendered rendered = run(context_, document->render(allowed)).value();
  ASSERT_TRUE(rendered.chroma);
  EXPECT_EQ(rendered.image, gray_image(30, 20, 2, 72));
  EXPECT_EQ(rendered.chroma->blue, gray_image(15, 10, 100, 0));
  EXPECT_EQ(rendered.chroma->red, gray_image(15, 10, 200, 0));
  const auto not_asked = run(context_, document->render({.page_number = 2, .dpi = 72}));
  EXPECT_THAT(not_asked.error().for_log, HasSubstr("colours apart"));
}

TEST_F(RendererPoolTest, AnOpeningThatCrashesOrHangsIsTheDocumentsError) {
  auto options = fake_options();
  options.limits.open_timeout = 2s;  // also the time to start, which takes longer on a busy machine
  make_pool(options);
  const auto crashed = run(context_, pool_->open(scratch_.write("bad.pdf", "open-crash"), ""));
  EXPECT_EQ(crashed.error().for_caller, "bad.pdf: opening it crashed the renderer (SIGSEGV)");
  EXPECT_EQ(crashed.error().kind, ErrorKind::corrupt);
  const auto hung = run(context_, pool_->open(scratch_.write("slow.pdf", "open-hang"), ""));
  EXPECT_EQ(hung.error().for_caller, "slow.pdf: opening it took longer than 2 s and was given up");
  EXPECT_EQ(hung.error().kind, ErrorKind::timeout);
  EXPECT_TRUE(run(context_, pool_->open(scratch_.write("good.pdf", "pages=1"), "")));
}

// Once a page of a sound document failed ("asked for a page before a document") because another one in the same run
// could not be opened.
TEST_F(RendererPoolTest, ADocumentThatCannotBeOpenedLeavesTheOthersAlone) {
  make_pool();
  auto document = open("pages=2");
  EXPECT_TRUE(inspect(*document, 1));
  EXPECT_FALSE(run(context_, pool_->open(scratch_.write("locked.pdf", "password"), "guess")));
  const auto second = inspect(*document, 2);
  EXPECT_TRUE(second) << second.error().for_log;
}

TEST_F(RendererPoolTest, ThePasswordTravels) {
  make_pool();
  const auto file = scratch_.write("locked.pdf", "password");
  const auto refused = run(context_, pool_->open(file, "guess"));
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(refused.error().for_caller, "locked.pdf: needs a password");
  EXPECT_TRUE(run(context_, pool_->open(file, "secret")));
  EXPECT_EQ(run(context_, pool_->open(file, std::string(5000, 'x'))).error().kind, ErrorKind::invalid_input);
}

TEST_F(RendererPoolTest, PagesThatDoNotExistAreRefusedHere) {
  make_pool();
  auto document = open("pages=2");
  for (const int page : {0, -1, 3}) {
    const auto refused = inspect(*document, page);
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(refused.error().for_caller, HasSubstr("doc.pdf: there is no page"));
  }
}

TEST_F(RendererPoolTest, ARendererThatCannotStartIsTriedAFewTimesOnly) {
  struct Case {
    const char* how;
    const char* text;
  };
  const Case cases[] = {{"exit-at-start", "error while loading shared libraries: libnothing.so"},
                        {"noise-at-start", "does not start"},
                        {"error-at-start", "PDFium is missing"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.how);
    auto options = fake_options();
    options.pdfium = c.how;
    make_pool(options);
    for (int i = 0; i < 6; ++i) {
      const auto checked = run(context_, pool_->check());
      ASSERT_FALSE(checked);
      EXPECT_EQ(checked.error().kind, ErrorKind::unavailable);
      EXPECT_THAT(checked.error().for_caller, HasSubstr(c.text));
    }
    EXPECT_EQ(pool_->stats().started, 0U);
  }
}

TEST_F(RendererPoolTest, AMissingRendererIsNamed) {
  auto options = fake_options();
  options.renderer = "/nowhere/lectern-render";
  make_pool(options);
  const auto checked = run(context_, pool_->check());
  EXPECT_EQ(checked.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(checked.error().for_caller, HasSubstr("/nowhere/lectern-render"));
}

TEST_F(RendererPoolTest, ARendererThatDiedWhileIdleIsReplacedSilently) {
  make_pool();
  auto document = open("pages=2");
  ASSERT_TRUE(inspect(*document, 1));
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(entry.path() / "children");
    for (pid_t pid = 0; list >> pid;) {
      kill(pid, SIGKILL);
      siginfo_t info{};
      waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
    }
  }
  EXPECT_TRUE(inspect(*document, 2));
  EXPECT_EQ(pool_->stats().crashed, 0U);
  EXPECT_EQ(pool_->stats().started, 2U);
}

TEST_F(RendererPoolTest, AGrownRendererIsReplaced) {
  auto options = fake_options();
  options.recycle_rss_bytes = std::int64_t{40} << 20;
  make_pool(options);
  auto document = open("pages=200 grow=2");
  for (int page = 1; page <= 200; ++page) ASSERT_TRUE(inspect(*document, page)) << page;
  EXPECT_GE(pool_->stats().recycled, 2U);
  EXPECT_EQ(pool_->stats().crashed, 0U);
}

TEST_F(RendererPoolTest, AHeldPageIsRenderedByTheRendererThatInspectedIt) {
  auto options = fake_options();
  options.processes = 2;
  make_pool(options);
  auto document = open("pages=9 name-yourself");
  // The fake shows its process in the page's words and in its pixels.
  const auto inspected_by = [&](int page) { return static_cast<int>(inspect(*document, page).value().chars[0].code); };
  const auto rendered_by = [&](int page) {
    return static_cast<int>(run(context_, document->render({.page_number = page, .dpi = 72})).value().image.pixels[0]);
  };
  for (int page = 2; page <= 5; ++page) {
    SCOPED_TRACE(page);
    PageHold hold = document->hold(page);
    const int name = inspected_by(page);
    EXPECT_NE(inspected_by(page + 1), name) << "the held one is nobody else's";
    EXPECT_NE(inspected_by(page + 2), name);
    EXPECT_EQ(rendered_by(page), name);
  }
  // A hold that is dropped without a rendering gives its renderer back.
  {
    const PageHold first = document->hold(6);
    const int name = inspected_by(6);
    const PageHold second = document->hold(7);
    EXPECT_NE(inspected_by(7), name);
  }
  EXPECT_TRUE(inspect(*document, 8));
}

TEST_F(RendererPoolTest, AHeldRendererThatDiesIsReplaced) {
  make_pool();
  auto document = open("pages=9 crash-after-look=3");
  const PageHold hold = document->hold(3);
  ASSERT_TRUE(inspect(*document, 3));
  EXPECT_TRUE(run(context_, document->render({.page_number = 3, .dpi = 72})));
  EXPECT_EQ(pool_->stats().started, 2U);
}

TEST_F(RendererPoolTest, ManyCallsShareFewRenderers) {
  auto options = fake_options();
  options.processes = 3;
  make_pool(options);
  auto first = open("pages=50");
  auto second = run(context_, pool_->open(scratch_.write("other.pdf", "pages=50"), "")).value();
  int answered = 0;
  for (int page = 1; page <= 50; ++page) {
    for (const auto& document : {first, second}) {
      asio::co_spawn(context_, document->inspect(page), [&](const std::exception_ptr&, Result<PageContent> content) {
        if (content) ++answered;
      });
    }
  }
  context_.restart();
  context_.run();
  EXPECT_EQ(answered, 100);
  EXPECT_LE(pool_->stats().started, 3U);
}

TEST_F(RendererPoolTest, WorksFromManyThreads) {
  asio::thread_pool threads(4);
  auto options = fake_options();
  options.processes = 2;
  RendererPool pool(threads.get_executor(), options);
  const auto file = scratch_.write("doc.pdf", "pages=60 crash=30");
  auto document = asio::co_spawn(threads, pool.open(file, ""), asio::use_future).get().value();
  std::vector<std::future<Result<PageContent>>> outcomes;
  for (int page = 1; page <= 60; ++page) {
    outcomes.push_back(asio::co_spawn(threads, document->inspect(page), asio::use_future));
  }
  for (int page = 1; page <= 60; ++page) {
    EXPECT_EQ(outcomes[static_cast<std::size_t>(page - 1)].get().has_value(), page != 30) << page;
  }
}

// A cancelled call takes its renderer with it; the place is free again, for those who wait too.
TEST_F(RendererPoolTest, CancellingACallFreesItsRenderer) {
  make_pool();
  auto document = open("pages=9 hang=5");
  asio::cancellation_signal stop;
  bool ended = false;
  asio::co_spawn(
      context_, document->inspect(5),
      asio::bind_cancellation_slot(stop.slot(), [&](const std::exception_ptr& thrown, const Result<PageContent>&) {
        EXPECT_TRUE(thrown);
        ended = true;
      }));
  context_.restart();
  context_.poll();  // the call is sent, and will never be answered
  asio::post(context_, [&] { stop.emit(asio::cancellation_type::terminal); });
  EXPECT_TRUE(inspect(*document, 6));
  EXPECT_TRUE(ended);
}

TEST_F(RendererPoolTest, CancellingAWaitingCallLeavesTheLine) {
  auto options = fake_options();
  options.limits.page_timeout = 1s;
  make_pool(options);
  auto document = open("pages=9 hang=5");
  asio::co_spawn(context_, document->inspect(5), [](const std::exception_ptr&, const Result<PageContent>&) {});
  asio::cancellation_signal stop;
  bool cancelled = false;
  asio::co_spawn(
      context_, document->inspect(6),
      asio::bind_cancellation_slot(stop.slot(), [&](const std::exception_ptr& thrown, const Result<PageContent>& r) {
        cancelled = thrown || r.error().kind == ErrorKind::cancelled;
      }));
  context_.restart();
  context_.poll();
  asio::post(context_, [&] { stop.emit(asio::cancellation_type::terminal); });
  EXPECT_TRUE(inspect(*document, 7));
  EXPECT_TRUE(cancelled);
}

TEST_F(RendererPoolTest, DestroyingThePoolEndsCallsInFlight) {
  make_pool();
  auto document = open("pages=9 hang=5");
  std::optional<Result<PageContent>> hanging;
  std::optional<Result<PageContent>> waiting;
  asio::co_spawn(context_, document->inspect(5),
                 [&](const std::exception_ptr&, Result<PageContent> r) { hanging = r; });
  asio::co_spawn(context_, document->inspect(6),
                 [&](const std::exception_ptr&, Result<PageContent> r) { waiting = r; });
  context_.restart();
  context_.poll();
  pool_.reset();
  context_.run();
  ASSERT_TRUE(hanging);
  EXPECT_EQ(hanging->error().kind, ErrorKind::cancelled);
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->error().kind, ErrorKind::cancelled);
  EXPECT_EQ(inspect(*document, 1).error().kind, ErrorKind::cancelled);
}

// A context that is destroyed takes its suspended coroutines with it; their renderers must go too.
TEST_F(RendererPoolTest, DestroyingTheContextEndsCallsInFlight) {
  const int before = children();
  {
    asio::io_context context;
    auto pool = std::make_unique<RendererPool>(context.get_executor(), fake_options());
    auto document = run(context, pool->open(scratch_.write("doc.pdf", "hang=5"), "")).value();
    asio::co_spawn(context, document->inspect(5), asio::detached);
    context.restart();
    context.poll();
    document.reset();
    pool.reset();
  }
  EXPECT_EQ(children(), before);
}

TEST_F(RendererPoolTest, LeaksNeitherDescriptorsNorProcesses) {
  {  // The thread that starts renderers comes with the first of them and stays.
    make_pool();
    ASSERT_TRUE(run(context_, pool_->check()));
    pool_.reset();
  }
  const int descriptors = open_descriptors();
  const int processes = children();
  {
    auto options = fake_options();
    options.processes = 2;
    options.limits.page_timeout = 1s;
    make_pool(options);
    auto document = open("pages=9 crash=2 hang=3 garbage=4 exit=5");
    for (int round = 0; round < 3; ++round) {
      for (int page = 1; page <= 9; ++page) {
        EXPECT_EQ(inspect(*document, page).has_value(), page == 1 || page > 5) << page;
      }
    }
    EXPECT_LE(children(), processes + 2);
    document.reset();
    pool_.reset();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(children(), processes);
}

TEST_F(RendererPoolTest, WhatIsNoFileIsRefusedByName) {
  make_pool();
  const auto refused = [&](const std::filesystem::path& file) {
    const auto outcome = run(context_, pool_->open(file, ""));
    return outcome ? std::string("opened") : outcome.error().for_caller;
  };
  EXPECT_EQ(refused(scratch_.path() / "none.pdf"), "none.pdf: there is no such file");
  EXPECT_EQ(refused(scratch_.write("empty.pdf", "")), "empty.pdf: is empty");
  EXPECT_EQ(refused("/dev/zero"), "zero: is a device, not a document");
  std::filesystem::create_directory(scratch_.path() / "folder");
  EXPECT_EQ(refused(scratch_.path() / "folder"), "folder: is a folder, not a document");
  ASSERT_EQ(mkfifo((scratch_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refused(scratch_.path() / "pipe"), "pipe: is a pipe; save it to a file first");
}

TEST_F(RendererPoolTest, AFileThatIsOpenAlreadyIsReadUnderItsName) {
  make_pool();
  const auto opened = [&](const std::filesystem::path& file) {
    return run(context_, pool_->open(UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), "upload.pdf", ""));
  };
  const auto file = scratch_.write("named otherwise.pdf", "pages=4");
  auto document = opened(file);
  ASSERT_TRUE(document) << document.error().for_log;
  std::filesystem::remove(file);  // nobody needs its name
  EXPECT_TRUE(inspect(**document, 1));
  const auto refused = opened(scratch_.write("empty.pdf", ""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().for_caller, "upload.pdf: is empty");
}

}  // namespace
}  // namespace lectern::document
