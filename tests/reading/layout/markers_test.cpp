#include "reading/layout/markers.h"

#include <gtest/gtest.h>

namespace lectern::reading::layout {
namespace {

TEST(Markers, MarkerText) {
  for (const std::u32string_view yes : {U"•", U"-", U"3.", U"12)", U"(a)", U"iv.", U"[7]", U"①"})
    EXPECT_TRUE(is_marker_text(yes));
  for (const std::u32string_view no : {U"", U"3", U"word", U"1999.", U"e.g.", U"--", U"(see)"})
    EXPECT_FALSE(is_marker_text(no));
}

TEST(Markers, NumericText) {
  for (const std::u32string_view yes : {U"12", U"1,234.5", U"-7%", U"10/11/13", U"-"})
    EXPECT_TRUE(is_numeric_text(yes));
  for (const std::u32string_view no : {U"Total", U"Section 4"}) EXPECT_FALSE(is_numeric_text(no));
}

TEST(Markers, Captions) {
  for (const std::u32string_view sure : {U"Figure 3: A nut", U"Table 2-1 The view", U"Fig. 4. Results",
                                         U"Tabela 1 – Dados", U"[표 1] 비교", U"表 7.5 停车区"}) {
    EXPECT_TRUE(opens_caption_surely(sure));
  }
  for (const std::u32string_view no : {U"Table 2 shows that", U"Figures are", U"The table", U"Tableware 3:"})
    EXPECT_FALSE(opens_caption_surely(no));
  EXPECT_TRUE(opens_caption(U"Table 2 shows that"));
}

TEST(Markers, NumberingDepth) {
  struct Case {
    const char* text;
    int depth;
  };
  const Case cases[] = {{"1 Introduction", 1}, {"2.1 Roles", 2}, {"3.6.1 Assigning", 3}, {"4. Results", 1},
                        {"IV. Methods", 1},    {"A. Proofs", 1}, {"Chapter 2. X", 1},    {"2024 was", 0},
                        {"Plain", 0},          {"1.5", 0}};
  for (const Case& c : cases) EXPECT_EQ(numbering_depth(c.text), c.depth) << c.text;
}

TEST(Markers, NoteMarks) {
  EXPECT_EQ(note_mark(U"1 See"), 1U);
  EXPECT_EQ(note_mark(U"12) See"), 3U);
  EXPECT_EQ(note_mark(U"** See"), 2U);
  EXPECT_EQ(note_mark(U"See"), 0U);
}

TEST(Markers, Leaders) {
  EXPECT_TRUE(has_leaders(U"Preface . . . . . . xi"));
  EXPECT_TRUE(has_leaders(U"Preface..........3"));
  EXPECT_FALSE(has_leaders(U"and so on... then"));
}

}  // namespace
}  // namespace lectern::reading::layout
