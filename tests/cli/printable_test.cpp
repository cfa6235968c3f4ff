#include "cli/printable.h"

#include <gtest/gtest.h>

namespace lectern::cli {
namespace {

TEST(Printable, NothingCommandsTheTerminal) {
  EXPECT_EQ(printable("report.pdf"), "report.pdf");
  EXPECT_EQ(printable("r\u00e9sum\u00e9 \u4e2d\U0001F600.pdf"), "r\u00e9sum\u00e9 \u4e2d\U0001F600.pdf");
  EXPECT_EQ(printable("a\x1b[2Jb\x07\x7f"), "a?[2Jb??");
  EXPECT_EQ(printable("two\nlines\tand\rmore"), "two lines and more");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m");
  EXPECT_EQ(printable("\x9b"
                      "31m\xff"),
            "?31m?");
  EXPECT_EQ(printable("cut \xe4\xb8"), "cut ??");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace lectern::cli
