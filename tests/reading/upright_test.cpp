#include "reading/upright.h"

#include <gtest/gtest.h>

namespace lectern::reading {
namespace {

document::PageContent page_with_text_at(float angle_deg) {
  document::PageContent content;
  content.size = {200, 100};
  for (int i = 0; i < 30; ++i) {
    document::Char c;
    c.code = U'a';
    c.angle_deg = angle_deg;
    c.box = c.loose = {static_cast<float>(i), 10, static_cast<float>(i) + 1, 12};
    content.chars.push_back(c);
  }
  content.rules.push_back({{0, 90, 200, 91}, 0});
  return content;
}

TEST(Upright, TheTurnUndoesTheDirectionOfTheText) {
  struct Case {
    float angle;
    int turn;
  };
  for (const Case& c : {Case{0, 0}, {90, 270}, {180, 180}, {270, 90}, {-90, 90}, {3, 0}, {45, 0}, {88, 270}}) {
    SCOPED_TRACE(c.angle);
    EXPECT_EQ(turn_of_text(page_with_text_at(c.angle)), c.turn);
  }
}

TEST(Upright, AFewSidewaysWordsDoNotTurnThePage) {
  auto content = page_with_text_at(0);
  for (int i = 0; i < 20; ++i) content.chars.push_back(page_with_text_at(90).chars[0]);
  EXPECT_EQ(turn_of_text(content), 0);
  content.chars.resize(5);
  for (auto& c : content.chars) c.angle_deg = 90;
  EXPECT_EQ(turn_of_text(content), 0) << "five characters are a stamp, not a page";
}

TEST(Upright, FourQuarterTurnsAreTheIdentity) {
  const auto content = page_with_text_at(0);
  auto turned_round = content;
  for (int i = 0; i < 4; ++i) turned_round = turned(std::move(turned_round), 90);
  EXPECT_EQ(turned_round, content);
}

TEST(Upright, AQuarterTurnMovesTheTopLeftCornerToTheTopRight) {
  const auto content = turned(page_with_text_at(0), 90);
  EXPECT_EQ(content.size, (SizePt{100, 200}));
  EXPECT_EQ(content.chars[0].box, (RectPt{88, 0, 90, 1}));
  EXPECT_EQ(content.rules[0].box, (RectPt{9, 0, 10, 200}));
  EXPECT_EQ(turned_box(content.rules[0].box, content.size, 270), (RectPt{0, 90, 200, 91}));
}

}  // namespace
}  // namespace lectern::reading
