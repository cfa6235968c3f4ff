#include "reading/figure_files.h"

#include <fstream>

#include "faulty_disk.h"
#include "reading/output/render.h"
#include "temp_folder.h"

namespace lectern::reading {
namespace {

image::Image noise(int side) {
  image::Image picture(side, side, image::PixelFormat::rgb24);
  std::uint32_t state = 1;
  for (auto& byte : picture.pixels) byte = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24U);
  return picture;
}

image::Image bars(int side) {
  image::Image picture(side, side, image::PixelFormat::gray8);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) picture.row(y)[x] = (x / 10) % 2 == 0 ? 255 : 40;
  }
  return picture;
}

TEST(FigureFiles, PhotosAreToldFromDrawings) {
  EXPECT_TRUE(looks_like_photo(noise(100)));
  EXPECT_FALSE(looks_like_photo(bars(100)));
  EXPECT_FALSE(looks_like_photo(noise(8)));
  EXPECT_FALSE(looks_like_photo({}));
}

TEST(FigureFiles, LinksAreRelativeToTheOutput) {
  const TempFolder folder;
  const FigureSink save = figure_files(real_disk(), folder.path() / "sub/a.figures");
  EXPECT_EQ(save(3, 1, bars(40)).value(), "a.figures/page-3-1.png");
  EXPECT_EQ(save(3, 2, noise(40)).value(), "a.figures/page-3-2.jpg");
  EXPECT_GT(file_size(folder.path() / "sub/a.figures/page-3-1.png"), 0U);
  EXPECT_GT(file_size(folder.path() / "sub/a.figures/page-3-2.jpg"), 0U);
}

TEST(FigureFiles, OnlyOurNamesAreOurs) {
  for (const char* name : {"page-1-1.png", "page-12-30.jpg"}) EXPECT_TRUE(is_figure_name(name)) << name;
  for (const char* name : {"page-1.png", "page-0-1.png", "page-01-1.png", "page-1-1.jpeg", "page-1-1.png.bak",
                           "my-page-1-1.png", "page-1-1", "page--1.png", ""}) {
    EXPECT_FALSE(is_figure_name(name)) << name;
  }
}

TEST(FigureFiles, RemovingThemLeavesWhatPeoplePutThere) {
  const TempFolder folder;
  const auto figures = folder.path() / "a.figures";
  EXPECT_TRUE(remove_figures(real_disk(), figures)) << "there are none";
  const FigureSink save = figure_files(real_disk(), figures);
  ASSERT_TRUE(save(1, 1, bars(40)));
  ASSERT_TRUE(save(2, 1, noise(40)));
  EXPECT_TRUE(remove_figures(real_disk(), figures));
  EXPECT_FALSE(exists(figures));
  ASSERT_TRUE(save(1, 1, bars(40)));
  std::ofstream(figures / "notes.txt") << "mine";
  std::filesystem::create_directories(figures / "page-9-9.png");
  EXPECT_EQ(figure_files_in(figures).size(), 1U);
  EXPECT_TRUE(remove_figures(real_disk(), figures));
  EXPECT_FALSE(exists(figures / "page-1-1.png"));
  EXPECT_TRUE(exists(figures / "notes.txt"));
  EXPECT_TRUE(exists(figures / "page-9-9.png"));
}

TEST(FigureFiles, APictureThatCannotBeEncodedIsNotTheDisksFault) {
  const TempFolder folder;
  const auto saved = figure_files(real_disk(), folder.path() / "a.figures")(1, 1, image::Image());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::corrupt);
}

TEST(FigureFiles, NamesWithBlanksCanBeLinked) {
  PageResult page{.page = 1};
  page.blocks.push_back({.kind = BlockKind::figure, .file = "My (first) report.figures/page-1-1.png"});
  EXPECT_EQ(to_markdown(page), "![](My%20%28first%29%20report.figures/page-1-1.png)\n");
  EXPECT_NE(to_html(page).find("src=\"My%20%28first%29%20report.figures/page-1-1.png\""), std::string::npos);
}

TEST(FigureFiles, AFullDiskIsAnErrorAndLeavesNothingHalf) {
  const TempFolder folder;
  FaultyDisk disk(real_disk(), 3);
  const auto saved = figure_files(disk, folder.path() / "a.figures")(1, 1, bars(40));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::overloaded);
  EXPECT_TRUE(is_empty(folder.path() / "a.figures"));
}

}  // namespace
}  // namespace lectern::reading
