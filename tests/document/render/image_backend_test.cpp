#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/render/backend_fixture.h"
#include "image/encode.h"
#include "image/test_files.h"
#include "image/transform.h"

namespace lectern::document {
namespace {

using image::FileBytes;
using image::Image;
using image::PixelFormat;

class ImageBackendTest : public BackendTest {};

TEST_F(ImageBackendTest, APhotoIsUprightWhateverTheCameraHeld) {
  // The same scene, stored as a camera held on its side stores it.
  const Image scene = image::sample_picture(60, 90, PixelFormat::gray8);
  const auto upright = must_open(as_text(*image::encode_jpeg(scene, 95)));
  const FileBytes sideways_file = image::with_exif(*image::encode_jpeg(image::rotate_quarter(scene, 270), 95), 6);
  const auto sideways = must_open(as_text(sideways_file));
  ASSERT_TRUE(upright && sideways);
  const auto page = sideways->inspect(1);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->page_rotate, 90);
  EXPECT_EQ(page->size, upright->inspect(1)->size);
  const RenderRequest request{.dpi = 72};
  const auto a = upright->render(request);
  const auto b = sideways->render(request);
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_LT(image::mean_difference(a->image, b->image), 3);
  EXPECT_EQ(sideways->render({.dpi = 300, .allow_passthrough = true})->path, RenderPath::jpeg_scaled)
      << "a picture that must be turned cannot be handed over as it is";
}

TEST_F(ImageBackendTest, EveryFrameOfATiffIsAPage) {
  const FileBytes file = image::tiff_of({{.width = 300, .height = 600}, {.width = 600, .height = 300, .bits = 1}});
  const auto backend = must_open(as_text(file));
  ASSERT_TRUE(backend);
  EXPECT_EQ(backend->info().pages, 2);
  EXPECT_EQ(backend->info().kind, DocumentKind::tiff);
  EXPECT_EQ(backend->inspect(1)->size, (SizePt{72, 144}));
  EXPECT_EQ(backend->inspect(2)->size, (SizePt{144, 72}));
  EXPECT_EQ(backend->inspect(3).error().kind, ErrorKind::not_found);
  const auto page = backend->render({.page_number = 2, .dpi = 150});
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->width_px, 300);
  EXPECT_EQ(page->height_px, 150);
  EXPECT_EQ(page->path, RenderPath::picture);
}

TEST_F(ImageBackendTest, ADamagedFrameOfATiffFailsAsAPage) {
  const FileBytes file = image::tiff_of(
      {{.width = 300, .height = 600}, {.width = 0, .height = 300, .data = {0x40}}, {.width = 600, .height = 300}});
  const auto backend = must_open(as_text(file));
  ASSERT_TRUE(backend);
  ASSERT_EQ(backend->info().pages, 3);
  EXPECT_EQ(backend->inspect(2).error().kind, ErrorKind::corrupt);
  const auto damaged = backend->render({.page_number = 2, .dpi = 150});
  ASSERT_FALSE(damaged.has_value());
  EXPECT_TRUE(damaged.error().for_caller.starts_with("picture 2: the TIFF is damaged")) << damaged.error().for_caller;
  EXPECT_TRUE(backend->render({.page_number = 3, .dpi = 150}).has_value());
}

TEST_F(ImageBackendTest, AJpegThatFitsIsHandedOver) {
  const FileBytes file = *image::encode_jpeg(image::sample_picture(200, 100, PixelFormat::rgb24));
  const auto backend = must_open(as_text(file));
  ASSERT_TRUE(backend);
  const auto handed = backend->render({.width_px_max = 1024, .height_px_max = 1024, .allow_passthrough = true});
  ASSERT_TRUE(handed.has_value());
  EXPECT_EQ(handed->jpeg, file);
  EXPECT_EQ(handed->path, RenderPath::passthrough);
}

TEST_F(ImageBackendTest, APartOfAPictureIsThatPart) {
  Image image = image::sample_picture(100, 100, PixelFormat::rgb24);
  const FileBytes file = *image::encode_png(image);
  const auto backend = must_open(as_text(file));
  ASSERT_TRUE(backend);
  const auto part = backend->render({.dpi = 72, .format = PixelFormat::rgb24, .clip = RectPt{20, 30, 60, 80}});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->image.pixels, image::crop(image, {20, 30, 60, 80}).pixels);
}

TEST_F(ImageBackendTest, PixelsStayWithinTheLimit) {
  const FileBytes file = *image::encode_png(image::sample_picture(1000, 800, PixelFormat::gray8));
  const auto backend = must_open(as_text(file), {.pixels_max = 50'000});
  ASSERT_TRUE(backend);
  const auto page = backend->render({.dpi = 600});
  ASSERT_TRUE(page.has_value());
  EXPECT_LE(page->width_px * page->height_px, 50'000);
}

TEST_F(ImageBackendTest, ADamagedPictureSaysSo) {
  FileBytes file = *image::encode_png(image::sample_picture(50, 50, PixelFormat::gray8));
  file.resize(file.size() / 2);
  const auto backend = open(as_text(file));
  const Error error = backend ? (*backend)->render({.dpi = 72}).error() : backend.error();
  EXPECT_EQ(error.kind, ErrorKind::corrupt);
  EXPECT_THAT(error.for_caller, testing::HasSubstr("PNG is damaged"));
}

}  // namespace
}  // namespace lectern::document
