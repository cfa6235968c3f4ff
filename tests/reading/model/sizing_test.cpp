#include "reading/model/sizing.h"

#include <gtest/gtest.h>

#include <string>

#include "reading/model/sizing_table.h"

namespace lectern::reading {

static void PrintTo(const SizePx& size, std::ostream* out) {
  *out << size.width << "x" << size.height;
}

namespace {

constexpr SizePt a4{595.276F, 841.89F};
constexpr SizePt a3{841.89F, 1190.55F};

// A picture of so many pixels: a page that holds no more than them.
PageShape picture(int width, int height) {
  return {.size = {static_cast<float>(width), static_cast<float>(height)}, .dpi_stored = 72};
}

TEST(Sizing, SmartResizeFollowsThePublishedRule) {
  for (const SmartResizeRow& row : smart_resize_rows) {
    SCOPED_TRACE(std::to_string(row.width) + "x" + std::to_string(row.height) + " by " + std::to_string(row.factor) +
                 " in " + std::to_string(row.least) + ".." + std::to_string(row.most));
    const auto size = smart_resize({row.width, row.height}, row.factor, row.least, row.most);
    ASSERT_EQ(size.has_value(), row.to_width > 0);
    if (size) EXPECT_EQ(*size, (SizePx{row.to_width, row.to_height}));
  }
}

TEST(Sizing, PicturesFollowTheRuleOfEachFamily) {
  for (const PictureRow& row : picture_rows) {
    SCOPED_TRACE(std::to_string(row.width) + "x" + std::to_string(row.height));
    const PageShape page = picture(row.width, row.height);
    EXPECT_EQ(target_size(page, {}), (SizePx{row.generic_width, row.generic_height}));
    EXPECT_EQ(target_size(page, {.family = ModelFamily::pixtral}),
              (SizePx{row.pixtral_columns * 16, row.pixtral_rows * 16}));
    EXPECT_EQ(image_tokens({row.width, row.height}, ModelFamily::pixtral),
              (row.pixtral_columns + 1) * row.pixtral_rows);
    EXPECT_EQ(image_tokens({row.width, row.height}, ModelFamily::deepseek_ocr), row.deepseek_tokens);
  }
}

TEST(Sizing, AnA4PageCostsWhatItShould) {
  struct Case {
    SizePx size;
    int qwen25, capped, qwen3, pixtral, deepseek;
  };
  const Case cases[] = {{{595, 842}, 630, 630, 494, 2067, 903},
                        {{794, 1122}, 1120, 1120, 875, 3008, 903},
                        {{1191, 1683}, 2580, 1260, 1961, 3008, 903},
                        {{1654, 2338}, 4956, 1260, 3796, 3008, 903},
                        {{2481, 3507}, 11125, 1260, 8580, 3008, 903}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.size.width);
    EXPECT_EQ(image_tokens(c.size, ModelFamily::qwen25_vl), c.qwen25);
    const auto capped = smart_resize(c.size, 28, 3136, 1280 * 28 * 28);
    ASSERT_TRUE(capped);
    EXPECT_EQ(image_tokens(*capped, ModelFamily::qwen25_vl), c.capped);
    EXPECT_EQ(image_tokens(c.size, ModelFamily::qwen3_vl), c.qwen3);
    EXPECT_EQ(image_tokens(c.size, ModelFamily::pixtral), c.pixtral);
    EXPECT_EQ(image_tokens(c.size, ModelFamily::deepseek_ocr), c.deepseek);
  }
}

TEST(Sizing, PagesGetTheSizeOfTheirPolicy) {
  struct Case {
    const char* name;
    PageShape page;
    SizePolicy policy;
    SizePx size;
  };
  const auto text = SizeClass::text;
  const auto diagram = SizeClass::diagram;
  const Case cases[] = {
      {"a drawn page reaches the longest side", {.size = a4}, {}, {736, 1024}},
      {"so does one that lies", {.size = {841.89F, 595.276F}}, {}, {1024, 736}},
      {"a small drawn page too", {.size = {240, 150}}, {}, {1024, 640}},
      {"a good scan is no larger", {.size = a4, .dpi_stored = 300}, {}, {736, 1024}},
      {"a coarse scan is not enlarged", {.size = a4, .dpi_stored = 50}, {}, {416, 576}},
      {"another factor", {.size = a4}, {.factor = 28}, {728, 1036}},
      {"another side", {.size = a4}, {.side_max = 1536}, {1088, 1536}},
      {"a strip keeps one factor", {.size = {2000, 20}}, {}, {1024, 32}},
      {"small print stays in the side", {.size = a4, .text_height_pt = 2.5F}, {}, {736, 1024}},
      {"small print grows where pixels allow",
       {.size = a4, .text_height_pt = 5},
       {.pixels_max = 4'000'000},
       {832, 1184}},
      {"by no more than half", {.size = a4, .text_height_pt = 1}, {.pixels_max = 4'000'000}, {1088, 1536}},
      {"and no more than the pixels", {.size = a4, .text_height_pt = 1}, {.pixels_max = 1'000'000}, {832, 1184}},
      {"nor than the scan holds",
       {.size = a4, .dpi_stored = 90, .text_height_pt = 1},
       {.pixels_max = 4'000'000},
       {736, 1056}},
      {"general things are small", {.size = a4}, {.by_class = true}, {640, 896}},
      {"text", {.size = a4, .size_class = text}, {.by_class = true}, {832, 1216}},
      {"diagram", {.size = a4, .size_class = diagram}, {.by_class = true}, {1280, 1824}},
      {"a card reaches the least of its class",
       {.size = {243, 153}, .dpi_stored = 72, .size_class = text},
       {.by_class = true},
       {672, 416}},
      {"qwen at its own budget", {.size = a4}, {.family = ModelFamily::qwen25_vl}, {1204, 1680}},
      {"qwen with small print", {.size = a4, .text_height_pt = 2.5F}, {.family = ModelFamily::qwen25_vl}, {1680, 2352}},
      {"qwen by class",
       {.size = a4, .size_class = text},
       {.family = ModelFamily::qwen3_vl, .by_class = true},
       {832, 1216}},
      {"pixtral", {.size = a4}, {.family = ModelFamily::pixtral}, {736, 1024}},
      {"deepseek fills its tiles", {.size = a4}, {.family = ModelFamily::deepseek_ocr}, {1358, 1920}},
      {"however large the page", {.size = a3}, {.family = ModelFamily::deepseek_ocr}, {1358, 1920}},
      {"but a scan is not enlarged",
       {.size = a4, .dpi_stored = 100},
       {.family = ModelFamily::deepseek_ocr},
       {827, 1169}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(target_size(c.page, c.policy), c.size);
  }
}

TEST(Sizing, AnyPageHasASizeInItsBudget) {
  for (const float width : {0.0F, 0.5F, 3.0F, 200.0F, 595.0F, 14400.0F, 1e9F}) {
    for (const float height : {-1.0F, 1.0F, 842.0F, 14400.0F}) {
      for (const float dpi : {0.0F, 1.0F, 72.0F, 1200.0F}) {
        for (const auto family : {ModelFamily::generic, ModelFamily::qwen25_vl, ModelFamily::qwen3_vl,
                                  ModelFamily::pixtral, ModelFamily::deepseek_ocr}) {
          for (const bool by_class : {false, true}) {
            const PageShape page{.size = {width, height}, .dpi_stored = dpi, .text_height_pt = 0.1F};
            const SizePx size = target_size(page, {.family = family, .by_class = by_class});
            EXPECT_GT(size.width, 0);
            EXPECT_GT(size.height, 0);
            EXPECT_LE(size.pixels(), by_class ? 900'000 : 17'000'000)
                << to_string(family) << " " << width << "x" << height;
          }
        }
      }
    }
  }
}

TEST(Sizing, TheLadderGoesDownAndEnds) {
  for (const auto family : {ModelFamily::generic, ModelFamily::qwen25_vl, ModelFamily::qwen3_vl, ModelFamily::pixtral,
                            ModelFamily::deepseek_ocr}) {
    SCOPED_TRACE(to_string(family));
    const SizePolicy policy{.family = family};
    SizePx size = target_size({.size = a4}, policy);
    int steps = 0;
    while (const auto next = smaller(size, policy)) {
      EXPECT_LT(next->pixels(), size.pixels());
      EXPECT_LT(image_tokens(*next, family), image_tokens(size, family));
      EXPECT_NEAR(static_cast<double>(next->width) / next->height, 0.707, 0.06);
      size = *next;
      ASSERT_LT(++steps, 10);
    }
    EXPECT_GE(steps, 1);
  }
  EXPECT_EQ(smaller({736, 1024}, {}), (SizePx{512, 736}));
  EXPECT_EQ(smaller({256, 256}, {}), std::nullopt);
  EXPECT_EQ(smaller({736, 1024}, {.pixels_min = 500'000}), std::nullopt);
}

TEST(Sizing, FamiliesHaveNames) {
  for (const auto family : {ModelFamily::generic, ModelFamily::qwen25_vl, ModelFamily::qwen3_vl, ModelFamily::pixtral,
                            ModelFamily::deepseek_ocr}) {
    EXPECT_EQ(family_from_name(to_string(family)), family);
  }
  EXPECT_EQ(family_from_name("Qwen2_5_VL"), ModelFamily::qwen25_vl);
  EXPECT_EQ(family_from_name("auto"), std::nullopt);
  EXPECT_EQ(family_from_name(""), std::nullopt);

  EXPECT_EQ(family_of_model("Qwen/Qwen2.5-VL-7B-Instruct-AWQ"), ModelFamily::qwen25_vl);
  EXPECT_EQ(family_of_model("allenai/olmOCR-7B-0825"), ModelFamily::qwen25_vl);
  EXPECT_EQ(family_of_model("Qwen/Qwen3-VL-30B-A3B-Instruct"), ModelFamily::qwen3_vl);
  EXPECT_EQ(family_of_model("mistralai/Pixtral-12B-2409"), ModelFamily::pixtral);
  EXPECT_EQ(family_of_model("deepseek-ai/DeepSeek-OCR"), ModelFamily::deepseek_ocr);
  EXPECT_EQ(family_of_model("llava-1.6"), ModelFamily::generic);
  EXPECT_EQ(family_of_model(""), ModelFamily::generic);
}

}  // namespace
}  // namespace lectern::reading
