#include "vision/ocr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "vision/test_images.h"

namespace lectern::vision {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<OcrEngine> make_engine(const std::string& languages = "eng") {
  auto engine = OcrEngine::create({.languages = languages});
  if (!engine) throw std::runtime_error(engine.error().for_log);
  return std::move(*engine);
}

OcrPage read(OcrEngine& engine, const image::Image& image, OcrLayout layout = OcrLayout::page) {
  auto page = engine.read(image, layout);
  if (!page) throw std::runtime_error(page.error().for_log);
  return std::move(*page);
}

std::string text_of(const OcrPage& page) {
  std::string text;
  int line = -1;
  for (const OcrWord& word : page.words) {
    if (!text.empty()) text += word.line == line ? ' ' : '\n';
    text += word.text;
    line = word.line;
  }
  return text;
}

TEST(OcrEngine, ReadsWordsInOrder) {
  const auto engine = make_engine();
  EXPECT_EQ(text_of(read(*engine, load_picture("letter.png"))),
            "Dear Margaret,\n"
            "thank you for the invoice of 14 March. We have paid 1,250.00 euros\n"
            "into your account; please confirm the receipt by Friday.\n"
            "Yours sincerely, the Bookkeeping");
}

TEST(OcrEngine, ReadsFromRightToLeft) {
  const auto engine = make_engine("heb");
  const OcrPage page = read(*engine, load_picture("hebrew.png"));
  EXPECT_EQ(text_of(page), "שלום לכל הילדים\nספר חדש על השולחן");
  for (const OcrWord& word : page.words) EXPECT_TRUE(word.rtl) << word.text;
}

TEST(OcrEngine, ColourReadsLikeGray) {
  const auto engine = make_engine();
  const image::Image letter = load_picture("letter.png");
  EXPECT_EQ(read(*engine, to_rgb(letter)), read(*engine, letter));
}

TEST(OcrEngine, SaysWhereEachWordStands) {
  const auto engine = make_engine();
  const OcrPage page = read(*engine, load_picture("letter.png"));
  ASSERT_EQ(page.words.size(), 28U);
  EXPECT_EQ(page.width_px, 960);
  EXPECT_EQ(page.height_px, 320);
  const OcrWord& dear = page.words[0];
  // Drawn at (60, 60) in 24 pixels; capitals stand about 0.73 of that above the baseline.
  EXPECT_NEAR(dear.box.x0, 62, 4);
  EXPECT_NEAR(dear.box.y0, 64, 5);
  EXPECT_NEAR(dear.line_baseline_y, 82, 4);
  EXPECT_NEAR(static_cast<double>(dear.line_height_px), 24, 8);
  EXPECT_FALSE(dear.rtl);
  int line = 0;
  int end_of_previous = 0;
  for (const OcrWord& word : page.words) {
    SCOPED_TRACE(word.text);
    EXPECT_GT(word.confidence, 0.5F);
    EXPECT_LE(word.confidence, 1.0F);
    EXPECT_LT(word.box.x0, word.box.x1);
    EXPECT_LT(word.box.y0, word.box.y1);
    if (word.line == line) {
      EXPECT_GE(word.box.x0, end_of_previous);
    }
    EXPECT_GE(word.line, line);
    line = word.line;
    end_of_previous = word.box.x1 - 2;
  }
  EXPECT_EQ(line, 3);
  EXPECT_GT(page.mean_confidence, 0.8F);
}

TEST(OcrEngine, ReadsOneLine) {
  const auto engine = make_engine();
  EXPECT_EQ(text_of(read(*engine, load_picture("label.png"), OcrLayout::single_line)), "Shipping department");
}

TEST(OcrEngine, ReadsWhiteOnBlack) {
  const auto engine = make_engine();
  EXPECT_THAT(text_of(read(*engine, inverted(load_picture("letter.png")))), HasSubstr("thank you for the invoice"));
}

TEST(OcrEngine, ReadsAnotherLanguageWhereInstalled) {
  const auto installed = installed_languages();
  ASSERT_TRUE(installed);
  if (std::ranges::find(*installed, "fra") == installed->end()) GTEST_SKIP() << "fra is not installed";
  const auto engine = make_engine("fra");
  EXPECT_EQ(text_of(read(*engine, load_picture("french.png"))),
            "L'été dernier, à Besançon,\nle garçon a reçu une forêt.");
}

// What was read before must not show: pages are spread over engines in an order that differs from run to run.
TEST(OcrEngine, SamePageSameWordsWhateverWasReadBefore) {
  const auto fresh = make_engine();
  const image::Image letter = load_picture("letter.png");
  const image::Image story = load_picture("story.png");
  const OcrPage expected = read(*fresh, letter);
  const auto used = make_engine();
  read(*used, story);
  read(*used, story, OcrLayout::sparse);
  read(*used, filled(300, 300, 0));
  EXPECT_EQ(read(*used, letter), expected);
  EXPECT_EQ(read(*used, letter), expected);
}

TEST(OcrEngine, NothingToReadGivesNoWords) {
  const auto engine = make_engine();
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 2000}, {2000, 3}, {5, 5}, {40, 2000}, {600, 800}}) {
    for (const int gray : {0, 128, 255}) {
      for (const OcrLayout layout :
           {OcrLayout::page, OcrLayout::single_block, OcrLayout::sparse, OcrLayout::single_line}) {
        SCOPED_TRACE(testing::Message() << width << 'x' << height << " of " << gray);
        const OcrPage page = read(*engine, filled(width, height, static_cast<std::uint8_t>(gray)), layout);
        EXPECT_TRUE(page.words.empty());
        EXPECT_EQ(page.mean_confidence, 0.0F);
      }
    }
  }
}

TEST(OcrEngine, RefusesWhatItsCoordinatesCannotHold) {
  const auto engine = make_engine();
  const auto page = engine->read(filled(40'000, 10, 255));
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(page.error().for_caller, HasSubstr("40000×10"));
}

// One engine must cost one core: the pool of workers is what makes pages parallel.
TEST(OcrEngine, StaysOnItsThread) {
  const auto engine = make_engine();
  const image::Image story = load_picture("story.png");
  const auto cpu_now = [](int who) {
    rusage usage{};
    getrusage(who, &usage);
    const auto of = [](timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
    return of(usage.ru_utime) + of(usage.ru_stime);
  };
  std::thread([&] {  // a thread that has never called Tesseract: the setting must hold there as well
    const double process_before = cpu_now(RUSAGE_SELF);
    const double thread_before = cpu_now(RUSAGE_THREAD);
    read(*engine, story);
    const double process = cpu_now(RUSAGE_SELF) - process_before;
    const double thread = cpu_now(RUSAGE_THREAD) - thread_before;
    EXPECT_LE(process - thread, 0.1 * thread);
  })
      .join();
}

TEST(OcrEngineCreate, NamesTheMissingLanguageAndItsPackage) {
  const auto engine = OcrEngine::create({.languages = "eng+xyz_latn"});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::not_found);
  EXPECT_THAT(
      engine.error().for_caller,
      AllOf(HasSubstr("language 'xyz_latn' is not installed: apt-get install tesseract-ocr-xyz-latn; installed: "),
            HasSubstr("eng"), Not(HasSubstr("'eng'"))));
}

TEST(OcrEngineCreate, RefusesWhatIsNoLanguageList) {
  for (const char* languages : {"", "+", "eng+", "+eng", "../../etc/passwd", "eng por", "eng,por"}) {
    SCOPED_TRACE(languages);
    const auto engine = OcrEngine::create({.languages = languages});
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().kind, ErrorKind::invalid_input);
  }
}

TEST(OcrEngineCreate, NamesAFolderThatIsNotThere) {
  const auto engine = OcrEngine::create({.data_folder = "/no/such/folder"});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::not_found);
  EXPECT_THAT(engine.error().for_caller, HasSubstr("'/no/such/folder'"));
}

TEST(InstalledLanguages, AreSortedAndWithoutOsd) {
  const auto languages = installed_languages();
  ASSERT_TRUE(languages);
  EXPECT_TRUE(std::ranges::is_sorted(*languages));
  EXPECT_THAT(*languages, testing::Contains("eng"));
  EXPECT_THAT(*languages, Not(testing::Contains("osd")));
}

}  // namespace
}  // namespace lectern::vision
