#include "vision/line_images.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <leptonica/allheaders.h>
#include <tesseract/baseapi.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vision/pix.h"
#include "vision/test_images.h"

namespace lectern::vision {
namespace {

std::vector<l_uint8> written(Pix* pix, int format = IFF_PNG) {
  l_uint8* data = nullptr;
  std::size_t size = 0;
  if (pixWriteMem(&data, &size, pix, format) != 0) return {};
  std::vector<l_uint8> bytes(data, data + size);
  lept_free(data);
  return bytes;
}

PixPtr read_back(const std::vector<l_uint8>& bytes) {
  return PixPtr(pixReadMem(bytes.data(), bytes.size()));
}

bool is_png(const std::vector<l_uint8>& bytes) {
  return bytes.size() > 4 && std::memcmp(bytes.data(), "\x89PNG", 4) == 0;
}

bool same_pixels(Pix* a, Pix* b) {
  l_int32 same = 0;
  return pixEqual(a, b, &same) == 0 && same == 1;
}

TEST(LineImages, ThePixelsComeBackAsFromAPng) {
  for (const int width : {1, 3, 4, 957}) {  // rows that do and do not fill their last word
    SCOPED_TRACE(width);
    image::Image line = image::Image(width, 17, image::PixelFormat::gray8);
    for (std::size_t i = 0; i < line.pixels.size(); ++i) line.pixels[i] = static_cast<std::uint8_t>(i * 31 + i / 97);
    line.dpi = 200;
    const PixPtr pix = to_pix(line);
    const PixPtr by_png = read_back(written(pix.get()));
    std::vector<l_uint8> raw;
    {
      const RawLineImages raw_line_images;
      raw = written(pix.get());
    }
    EXPECT_FALSE(is_png(raw));
    const PixPtr by_raw = read_back(raw);
    ASSERT_TRUE(by_png && by_raw);
    EXPECT_TRUE(same_pixels(by_raw.get(), pix.get()));
    EXPECT_TRUE(same_pixels(by_raw.get(), by_png.get()));
    EXPECT_EQ(pixGetXRes(by_raw.get()), pixGetXRes(by_png.get()));
    EXPECT_EQ(pixGetYRes(by_raw.get()), pixGetYRes(by_png.get()));
    EXPECT_EQ(pixGetSpp(by_raw.get()), pixGetSpp(by_png.get()));
    EXPECT_EQ(pixGetInputFormat(by_raw.get()), pixGetInputFormat(by_png.get()));
  }
}

TEST(LineImages, EverythingElseIsLeptonicas) {
  const image::Image letter = load_picture("letter.png");
  const PixPtr gray = to_pix(letter);
  const PixPtr colour = to_pix(to_rgb(letter));
  EXPECT_TRUE(is_png(written(gray.get()))) << "without RawLineImages";
  const RawLineImages raw_line_images;
  EXPECT_TRUE(is_png(written(colour.get())));
  const std::vector<l_uint8> pnm = written(gray.get(), IFF_PNM);
  ASSERT_GT(pnm.size(), 2U);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(pnm.data()), 2), "P5");
  EXPECT_TRUE(same_pixels(read_back(pnm).get(), gray.get()));
}

// What libraries call is what the dynamic linker finds first.
TEST(LineImages, LibrariesFindOurs) {
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "pixWriteMem"), reinterpret_cast<void*>(&pixWriteMem));
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "pixReadMem"), reinterpret_cast<void*>(&pixReadMem));
  EXPECT_NE(dlsym(RTLD_NEXT, "pixWriteMem"), reinterpret_cast<void*>(&pixWriteMem));
}

// Words with their places and confidences.
std::string recognised(tesseract::TessBaseAPI& api, Pix* pix) {
  api.SetImage(pix);
  const std::unique_ptr<char[]> text(api.GetTSVText(0));
  return text.get();
}

TEST(LineImages, TesseractReadsTheSame) {
  tesseract::TessBaseAPI api;
  ASSERT_EQ(api.Init(nullptr, "eng", tesseract::OEM_LSTM_ONLY), 0);
  const PixPtr pix = to_pix(load_picture("letter.png"));
  const std::string by_png = recognised(api, pix.get());
  EXPECT_NE(by_png.find("Bookkeeping"), std::string::npos);
  const RawLineImages raw_line_images;
  EXPECT_EQ(recognised(api, pix.get()), by_png);
}

TEST(LineImages, BytesThatAreTooFewGiveNoPicture) {
  const PixPtr pix = to_pix(filled(20, 10, 128));
  const RawLineImages raw_line_images;
  std::vector<l_uint8> raw = written(pix.get());
  raw.pop_back();
  EXPECT_FALSE(read_back(raw));
  raw.resize(20);
  EXPECT_FALSE(read_back(raw));
}

}  // namespace
}  // namespace lectern::vision
