#include "reading/page_ranges.h"

namespace lectern::reading {
namespace {

TEST(PageRanges, Parse) {
  struct Case {
    std::string_view text;
    std::string_view canonical;
    std::vector<int> of_ten;
  };
  const Case cases[] = {
      {"1", "1", {1}},
      {"1-3", "1-3", {1, 2, 3}},
      {"3,1", "1,3", {1, 3}},
      {"1-2,4", "1-2,4", {1, 2, 4}},
      {"1-3,2-5", "1-5", {1, 2, 3, 4, 5}},
      {"1-2,3-4", "1-4", {1, 2, 3, 4}},
      {"5,5,5", "5", {5}},
      {"8-", "8-", {8, 9, 10}},
      {"-2", "1-2", {1, 2}},
      {"9-,2,10-", "2,9-", {2, 9, 10}},
      {" 1 - 2 , 9 ", "1-2,9", {1, 2, 9}},
      {"9-2000", "9-2000", {9, 10}},
      {"11", "11", {}},
      {"1-", "1-", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
      {"2147483646-2147483647", "2147483646-", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto selection = PageSelection::parse(c.text);
    ASSERT_TRUE(selection) << selection.error().for_caller;
    EXPECT_EQ(selection->to_string(), c.canonical);
    EXPECT_EQ(selection->of(10), c.of_ten);
  }
}

TEST(PageRanges, Errors) {
  struct Case {
    std::string_view text;
    std::string_view says;
  };
  const Case cases[] = {
      {"", "empty page range"},
      {",", "empty page range"},
      {"1,", "empty page range"},
      {"0", "pages count from 1"},
      {"0-3", "pages count from 1"},
      {"-", "not a range"},
      {"3-1", "write 1-3"},
      {"a", "'a' is not a page"},
      {"1-b", "'1-b' is not a page"},
      {"1--2", "'1--2' is not a page"},
      {"1.5", "'1.5' is not a page"},
      {"99999999999", "too big"},
      {"2,x-3", "'x-3' is not a page"},
      {"+1", "'+1' is not a page"},
      {"1;2", "'1;2' is not a page"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto selection = PageSelection::parse(c.text);
    ASSERT_FALSE(selection);
    EXPECT_EQ(selection.error().kind, ErrorKind::invalid_input);
    EXPECT_NE(selection.error().for_caller.find(c.says), std::string::npos) << selection.error().for_caller;
  }
}

TEST(PageRanges, TheDefaultIsEveryPage) {
  EXPECT_TRUE(PageSelection{}.everything());
  EXPECT_EQ(PageSelection{}.of(3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(*PageSelection::parse("1-"), PageSelection{});
  EXPECT_TRUE(PageSelection{}.of(0).empty());
}

}  // namespace
}  // namespace lectern::reading
