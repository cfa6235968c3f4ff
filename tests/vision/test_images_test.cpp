#include "vision/test_images.h"

#include <gtest/gtest.h>
#include <leptonica/allheaders.h>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <stdexcept>

namespace lectern::vision {

image::Image load_picture(const std::string& name) {
  const std::string path = std::string(LECTERN_SOURCE_DIR) + "/tests/vision/data/" + name;
  PIX* file = pixRead(path.c_str());
  if (file == nullptr) throw std::runtime_error("cannot read " + path);
  PIX* gray = pixConvertTo8(file, 0);
  image::Image image(static_cast<int>(pixGetWidth(gray)), static_cast<int>(pixGetHeight(gray)),
                     image::PixelFormat::gray8);
  image.dpi = static_cast<float>(pixGetXRes(file));
  for (int y = 0; y < image.height_px; ++y) {
    const l_uint32* line = pixGetData(gray) + static_cast<std::ptrdiff_t>(y) * pixGetWpl(gray);
    for (int x = 0; x < image.width_px; ++x) image.row(y)[x] = static_cast<std::uint8_t>(GET_DATA_BYTE(line, x));
  }
  pixDestroy(&gray);
  pixDestroy(&file);
  return image;
}

image::Image filled(int width_px, int height_px, std::uint8_t gray) {
  image::Image image(width_px, height_px, image::PixelFormat::gray8);
  std::ranges::fill(image.pixels, gray);
  return image;
}

image::Image inverted(image::Image image) {
  for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(255 - pixel);
  return image;
}

image::Image to_rgb(const image::Image& gray) {
  image::Image rgb(gray.width_px, gray.height_px, image::PixelFormat::rgb24);
  rgb.dpi = gray.dpi;
  for (std::size_t i = 0; i < gray.pixels.size(); ++i)
    std::fill_n(rgb.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, gray.pixels[i]);
  return rgb;
}

image::Image turned_clockwise(const image::Image& gray, int quarter_turns) {
  image::Image image = gray;
  for (int turn = 0; turn < quarter_turns; ++turn) {
    image::Image next(image.height_px, image.width_px, image::PixelFormat::gray8);
    next.dpi = gray.dpi;
    for (int y = 0; y < image.height_px; ++y) {
      for (int x = 0; x < image.width_px; ++x) next.row(x)[image.height_px - 1 - y] = image.row(y)[x];
    }
    image = std::move(next);
  }
  return image;
}

image::Image turned_by(const image::Image& gray, float clockwise_degrees) {
  image::Image image = gray;
  const cv::Mat source(gray.height_px, gray.width_px, CV_8UC1, const_cast<std::uint8_t*>(gray.pixels.data()));
  cv::Mat target(image.height_px, image.width_px, CV_8UC1, image.pixels.data());
  const cv::Point2f center(static_cast<float>(gray.width_px) / 2, static_cast<float>(gray.height_px) / 2);
  const cv::Mat turn = cv::getRotationMatrix2D(center, -static_cast<double>(clockwise_degrees), 1.0);
  cv::warpAffine(source, target, turn, target.size(), cv::INTER_LINEAR, cv::BORDER_CONSTANT, cv::Scalar(255));
  return image;
}

void fill_box(image::Image& gray, int x0, int y0, int x1, int y1, std::uint8_t value) {
  for (int y = y0; y < y1; ++y) std::fill(gray.row(y) + x0, gray.row(y) + x1, value);
}

TEST(TestImages, FourQuarterTurnsAreNone) {
  const image::Image letter = load_picture("letter.png");
  EXPECT_EQ(turned_clockwise(letter, 4), letter);
  EXPECT_NE(turned_clockwise(letter, 2), letter);
}

}  // namespace lectern::vision
