// The pure judgements behind the backends: fonts, Unicode, sizes, places.
#include <gtest/gtest.h>

#include <cmath>

#include "document/render/font_style.h"
#include "document/render/picture_page.h"
#include "document/render/picture_place.h"
#include "document/render/render_size.h"
#include "document/render/unicode.h"

namespace lectern::document {
namespace {

TEST(JudgeFont, FromNamesAndDescriptors) {
  struct Case {
    FontEvidence evidence;
    Font font;
  };
  const Case cases[] = {
      {{.base_name = "ABCDEF+TimesNewRomanPS-BoldMT"}, {.name = "TimesNewRomanPS-BoldMT", .bold = true, .serif = true}},
      {{.base_name = "CMBX10"}, {.name = "CMBX10", .bold = true}},
      {{.base_name = "CMTI10"}, {.name = "CMTI10", .italic = true}},
      {{.base_name = "NimbusRomNo9L-Medi"}, {.name = "NimbusRomNo9L-Medi", .bold = true}},
      {{.base_name = "Courier-Oblique"}, {.name = "Courier-Oblique", .italic = true, .monospace = true}},
      {{.base_name = "Arial", .weight = 400}, {.name = "Arial"}},
      {{.base_name = "F1", .weight = 800}, {.name = "F1", .bold = true}},
      {{.base_name = "Foo-Regular", .weight = 800}, {.name = "Foo-Regular"}},
      {{.base_name = "F2", .weight = 5000}, {.name = "F2"}},  // nonsense in the descriptor
      {{.base_name = "F3", .descriptor_flags = 1 | 2 | 64},
       {.name = "F3", .italic = true, .monospace = true, .serif = true}},
      {{.base_name = "Calibri", .stroked_outline = true}, {.name = "Calibri", .bold = true}},
      {{.base_name = "OpenSans", .descriptor_flags = 2}, {.name = "OpenSans"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.evidence.base_name));
    EXPECT_EQ(judge_font(c.evidence), c.font);
  }
}

TEST(Unicode, PairsAreJoinedAndHalvesReplaced) {
  const std::uint16_t pair[] = {0x0041, 0xD83D, 0xDE00, 0, 0x0042};
  EXPECT_EQ(utf8_from_utf16(pair), "A\xF0\x9F\x98\x80");
  const std::uint16_t half[] = {0xD83D, 0x0041};
  EXPECT_EQ(utf8_from_utf16(half),
            "\xEF\xBF\xBD"
            "A");
  std::string text;
  for (const char32_t c : {U'é', U'€', char32_t{0x110000}}) append_utf8(text, c);
  EXPECT_EQ(text, "é€\xEF\xBF\xBD");
}

TEST(Unicode, UrisKeepOnlySafeBytes) {
  EXPECT_EQ(clean_uri("http://a/b c\xC3\xA9\n"), "http://a/b%20c%C3%A9%0A");
}

TEST(Unicode, KnowsTheScriptsThatRunLeft) {
  EXPECT_TRUE(is_right_to_left(U'ש'));
  EXPECT_TRUE(is_right_to_left(U'ع'));
  EXPECT_TRUE(is_right_to_left(0xFEFB));
  EXPECT_FALSE(is_right_to_left(U'a'));
  EXPECT_FALSE(is_right_to_left(U'中'));
}

constexpr std::int64_t limit = 40'000'000;

TEST(RenderSize, ByResolutionByBoxAndByPart) {
  const SizePt page{612, 792};
  const auto by_dpi = render_size({.dpi = 150}, page, limit);
  ASSERT_TRUE(by_dpi.has_value());
  EXPECT_EQ(by_dpi->width_px, 1275);
  EXPECT_EQ(by_dpi->height_px, 1650);
  const auto by_box = render_size({.width_px_max = 1024, .height_px_max = 1024}, page, limit);
  EXPECT_EQ(by_box->height_px, 1024);
  EXPECT_EQ(by_box->width_px, 791);
  const auto exact = render_size({.width_px_max = 736, .height_px_max = 1024, .exact = true}, page, limit);
  EXPECT_EQ(exact->width_px, 736) << "stretched rather than short of a multiple";
  EXPECT_EQ(exact->height_px, 1024);
  EXPECT_FALSE(render_size({.dpi = 72, .exact = true}, page, limit).has_value());
  EXPECT_FALSE(render_size({.width_px_max = 90'000, .height_px_max = 90'000, .exact = true}, page, limit).has_value());
  const auto part = render_size({.dpi = 72, .clip = RectPt{-50, 700, 100, 900}}, page, limit);
  EXPECT_EQ(part->area, (RectPt{0, 700, 100, 792}));
  EXPECT_EQ(part->width_px, 100);
  EXPECT_EQ(part->height_px, 92);
}

TEST(RenderSize, NeverPassesTheLimits) {
  for (const SizePt page : {SizePt{612, 792}, SizePt{14400, 14400}, SizePt{0.5F, 14400}, SizePt{3, 3}}) {
    for (const float dpi : {1.0F, 300.0F, 5000.0F}) {
      const auto size = render_size({.dpi = dpi}, page, limit);
      ASSERT_TRUE(size.has_value());
      EXPECT_GE(size->width_px, 1);
      EXPECT_GE(size->height_px, 1);
      EXPECT_LE(std::max(size->width_px, size->height_px), side_px_max);
      EXPECT_LE(static_cast<std::int64_t>(size->width_px) * size->height_px, limit);
    }
  }
  const auto small_page = render_size({.width_px_max = 9000, .height_px_max = 9000}, {72, 72}, limit);
  EXPECT_EQ(small_page->width_px, 600) << "a box is not filled by enlarging beyond 600 dpi";
}

TEST(RenderSize, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(render_size({}, {100, 100}, limit).has_value());
  EXPECT_FALSE(render_size({.dpi = 72, .width_px_max = 5, .height_px_max = 5}, {100, 100}, limit).has_value());
  EXPECT_FALSE(render_size({.dpi = INFINITY}, {100, 100}, limit).has_value());
  EXPECT_EQ(render_size({.dpi = 72, .clip = RectPt{200, 200, 300, 300}}, {100, 100}, limit).error().kind,
            ErrorKind::invalid_input);
}

TEST(TurnOf, EveryWayToPutAPictureDown) {
  struct Case {
    fpdf::Matrix matrix;
    image::Turn turn;
  };
  const Case cases[] = {
      {{100, 0, 0, -100, 0, 100}, {0, false}},   {{-100, 0, 0, -100, 100, 100}, {0, true}},
      {{-100, 0, 0, 100, 100, 0}, {180, false}}, {{100, 0, 0, 100, 0, 0}, {180, true}},
      {{0, 100, 100, 0, 0, 0}, {90, false}},     {{0, -100, -100, 0, 100, 100}, {270, false}},
      {{0, 100, -100, 0, 100, 0}, {270, true}},  {{0, -100, 100, 0, 0, 100}, {90, true}},
  };
  for (const Case& c : cases) EXPECT_EQ(turn_of(c.matrix), c.turn);
  EXPECT_EQ(turn_of({100, 0.2F, 0.2F, -100, 0, 100}), image::Turn{}) << "a hair's breadth is no turn";
  EXPECT_EQ(turn_of({70, 70, 70, -70, 0, 0}), std::nullopt);
  EXPECT_EQ(turn_of({0, 0, 0, 0, 0, 0}), std::nullopt);
}

TEST(PicturePage, BelievesScannersAndDoubtsCameras) {
  const auto page_of = [](int width, int height, float dpi) {
    return place_on_page({.width_px = width, .height_px = height, .dpi_x = dpi, .dpi_y = dpi}).box;
  };
  EXPECT_EQ(page_of(2550, 3300, 300), (RectPt{0, 0, 612, 792}));
  EXPECT_NEAR(page_of(4000, 3000, 72).height(), 595, 1) << "a photo fills a sheet, it is not 55 inches wide";
  EXPECT_NEAR(page_of(3000, 4000, 0).width(), 595, 1);
  EXPECT_EQ(page_of(100, 50, 0), (RectPt{0, 0, 100, 50})) << "an icon stays small";
  EXPECT_EQ(page_of(1000, 600, 96), (RectPt{0, 0, 750, 450})) << "a screenshot is as large as on the screen";
}

TEST(PicturePlace, OwnPixelsWhenTheyAreNearEnough) {
  const PicturePlace scan{.width_px = 2480, .height_px = 3508, .box = {0, 0, 595.3F, 841.9F}};
  const SizePt page{595.3F, 841.9F};
  const RenderRequest request{.dpi = 250, .native_dpi_max = 100};
  const auto asked = render_size(request, page, limit);
  EXPECT_EQ(size_for_picture(request, *asked, scan, limit).width_px, 2480);
  const RenderRequest strict{.dpi = 150, .native_dpi_max = 100};
  const auto asked_less = render_size(strict, page, limit);
  EXPECT_EQ(size_for_picture(strict, *asked_less, scan, limit), *asked_less) << "300 is more than 150 + 100";
  EXPECT_EQ(size_for_picture(request, *asked, scan, 1'000'000), *asked) << "its own pixels are over the limit";
}

TEST(PicturePlace, PutsAPictureWhereItStands) {
  // A black picture on the right half of the page, and reaching past its edge.
  const PicturePlace place{.width_px = 40, .height_px = 20, .box = {50, 0, 150, 100}};
  const RenderSize size{.width_px = 100, .height_px = 100, .px_per_pt = 1, .area = {0, 0, 100, 100}};
  int asked_width = 0;
  const auto out = place_picture(place, size, {}, [&](int width, int, bool) -> Result<DecodedPicture> {
    asked_width = width;
    return DecodedPicture(image::Image(40, 20, image::PixelFormat::gray8));
  });
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(asked_width, 40) << "never more than is stored";
  EXPECT_EQ(out->image.row(50)[40], 255);
  EXPECT_EQ(out->image.row(50)[60], 0);
  EXPECT_EQ(out->image.row(99)[99], 0);
}

}  // namespace
}  // namespace lectern::document
