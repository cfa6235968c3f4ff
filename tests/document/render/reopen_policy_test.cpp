#include "document/render/reopen_policy.h"

#include <gtest/gtest.h>

#include <string_view>

namespace lectern::document {
namespace {

using namespace std::chrono_literals;

TEST(ShouldReopen, WhenItIsWorthItsPrice) {
  struct Case {
    std::string_view name;
    OpenSpell spell;
    bool reopen;
  };
  const std::size_t much = growth_bytes_max + 1;
  const Case cases[] = {
      {"nothing happened yet", {}, false},
      {"many pages, cheap to open", {.pages = 128, .opening = 2ms, .lasted = 100ms}, true},
      {"one page too few", {.pages = 127, .opening = 2ms, .lasted = 1h}, false},
      {"opening costs more than 2% of the time", {.pages = 128, .opening = 2ms, .lasted = 99ms}, false},
      {"a file that is slow to open serves on", {.pages = 10'000, .opening = 20s, .lasted = 900s}, false},
      {"until the time has made it cheap", {.pages = 10'000, .opening = 20s, .lasted = 1000s}, true},
      {"a large heap does not wait for pages", {.pages = 8, .opening = 2ms, .lasted = 10ms, .grown_bytes = much}, true},
      {"a heap just small enough does",
       {.pages = 8, .opening = 2ms, .lasted = 1h, .grown_bytes = growth_bytes_noticed},
       false},
      {"one that has grown may cost a fifth",
       {.pages = 8, .opening = 2ms, .lasted = 10ms, .grown_bytes = growth_bytes_noticed + 1},
       true},
      {"and no more", {.pages = 8, .opening = 2ms, .lasted = 9ms, .grown_bytes = growth_bytes_max}, false},
      {"nor does a large heap open more than it reads",
       {.pages = 200, .opening = 2s, .lasted = 1s, .grown_bytes = much},
       false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(should_reopen(c.spell), c.reopen);
  }
}

}  // namespace
}  // namespace lectern::document
