// Which way the builtin reader takes for which page. The document is a fake that counts what is asked of it; layout and
// OCR are the real ones.
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/async.h"
#include "reading/one_page_document.h"
#include "reading/page_reader.h"
#include "run_coroutine.h"

namespace lectern::reading {
namespace {

namespace asio = boost::asio;

class BuiltinReaderTest : public testing::Test {
 protected:
  PageResult read(BuiltinReaderOptions options = {}, FigureSink figures = {}) {
    auto reader = make_builtin_reader(std::move(options), cpu_);
    EXPECT_TRUE(reader) << (reader ? "" : reader.error().for_caller);
    return run_coroutine(loop_, (*reader)->read(document_, 3, std::move(figures), cancellation_));
  }

  CpuPool cpu_{1};
  asio::io_context loop_;
  Cancellation cancellation_;
  std::shared_ptr<OnePageDocument> document_ = std::make_shared<OnePageDocument>();
};

TEST_F(BuiltinReaderTest, ATrustedTextLayerNeedsNoPixels) {
  document_->content = page_of_prose();
  const PageResult result = read();
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.page, 3);
  EXPECT_TRUE(document_->requests.empty());
  ASSERT_FALSE(result.blocks.empty());
  EXPECT_NE(result.blocks[0].text.find("old bridge should be repaired"), std::string::npos) << result.blocks[0].text;
  EXPECT_GT(result.confidence.value_or(0), 0.8);
  ASSERT_EQ(result.attempts.size(), 1U);
  EXPECT_EQ(result.attempts[0].outcome, "ok");
}

TEST_F(BuiltinReaderTest, OcrIsForcedWhenAskedFor) {
  document_->content = page_of_prose();
  const PageResult result = read({.force_ocr = true});
  ASSERT_EQ(document_->requests.size(), 1U);
  EXPECT_EQ(document_->requests[0].dpi, 300);
  EXPECT_EQ(document_->requests[0].page_number, 3);
  EXPECT_TRUE(result.blocks.empty()) << "the pixels are white: nothing of the text layer may leak in";
}

TEST_F(BuiltinReaderTest, AScanIsRendered) {
  document_->content.size = {595, 842};
  document_->content.pictures.push_back({0, {0, 0, 595, 842}, 2480, 3508, 8, document::ImageCoding::jpeg});
  const PageResult result = read();
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(document_->requests.size(), 1U);
  EXPECT_EQ(result.content_class, "blank");
}

TEST_F(BuiltinReaderTest, ACancelledPageIsNotRead) {
  document_->content.size = {595, 842};
  document_->content.pictures.push_back({0, {0, 0, 595, 842}, 2480, 3508, 8, document::ImageCoding::jpeg});
  cancellation_.request();
  const PageResult result = read();
  EXPECT_EQ(result.error, "stopped");
  ASSERT_EQ(result.attempts.size(), 1U);
  EXPECT_EQ(result.attempts[0].outcome, "cancelled");
}

TEST_F(BuiltinReaderTest, AnEmptyPageNeedsNeitherPixelsNorOcr) {
  document_->content.size = {595, 842};
  const PageResult result = read();
  EXPECT_EQ(result.content_class, "blank");
  EXPECT_TRUE(document_->requests.empty());
}

TEST_F(BuiltinReaderTest, AFailedPageSaysWhyAndKeepsItsNumber) {
  document_->inspect_error = Error{ErrorKind::corrupt, "pid 7 died", "page 3 crashed the renderer"};
  const PageResult result = read();
  EXPECT_EQ(result.page, 3);
  EXPECT_EQ(result.error, "page 3 crashed the renderer");
  ASSERT_EQ(result.attempts.size(), 1U);
  EXPECT_EQ(result.attempts[0].outcome, "corrupt");
}

TEST_F(BuiltinReaderTest, TheInvisibleLayerOfADamagedScanIsBetterThanNothing) {
  document_->content = page_of_prose();
  document_->content.pictures.push_back({0, {0, 0, 595, 842}, 2480, 3508, 1, document::ImageCoding::jbig2});
  document_->render_error = Error{ErrorKind::corrupt, "damaged", "page 3 is a picture that is damaged"};
  for (document::Char& c : document_->content.chars) c.flags |= document::Char::invisible;
  const PageResult result = read();
  EXPECT_EQ(result.error, "");
  ASSERT_FALSE(result.blocks.empty());
  EXPECT_NE(result.blocks[0].text.find("old bridge should be repaired"), std::string::npos) << result.blocks[0].text;
  EXPECT_LE(result.confidence.value_or(1), 0.5);
  EXPECT_EQ(read({.force_ocr = true}).error, "page 3 is a picture that is damaged");
}

TEST_F(BuiltinReaderTest, FiguresAreDrawnInColourAndLinked) {
  document_->content = page_of_prose();
  document_->content.pictures.push_back({0, {72, 300, 372, 500}, 900, 600, 24, document::ImageCoding::jpeg});
  int figure_number = 0;
  const PageResult result = read({}, [&](int page, int number, const image::Image& pixels) -> Result<std::string> {
    EXPECT_EQ(page, 3);
    EXPECT_EQ(pixels.format, image::PixelFormat::rgb24);
    figure_number = number;
    return "report.figures/page-3-1.png";
  });
  EXPECT_EQ(figure_number, 1);
  const auto figure = std::ranges::find(result.blocks, BlockKind::figure, &Block::kind);
  ASSERT_NE(figure, result.blocks.end());
  EXPECT_EQ(figure->file, "report.figures/page-3-1.png");
}

TEST_F(BuiltinReaderTest, AFigureThatCannotBeSavedCostsOnlyTheFigure) {
  document_->content = page_of_prose();
  document_->content.pictures.push_back({0, {72, 300, 372, 500}, 900, 600, 24, document::ImageCoding::jpeg});
  const PageResult result = read({}, [](int, int, const image::Image&) -> Result<std::string> {
    return fail(ErrorKind::overloaded, "disk full");
  });
  EXPECT_EQ(result.error, "");
  EXPECT_FALSE(result.blocks.empty());
  ASSERT_EQ(result.attempts.size(), 2U);
  EXPECT_EQ(result.attempts[0].reason, "disk full");
}

TEST(MakeBuiltinReader, AMissingLanguageIsNamed) {
  CpuPool cpu(1);
  const auto reader = make_builtin_reader({.languages = "eng+xyz"}, cpu);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::not_found);
  EXPECT_NE(reader.error().for_caller.find("xyz"), std::string::npos) << reader.error().for_caller;
}

}  // namespace
}  // namespace lectern::reading
