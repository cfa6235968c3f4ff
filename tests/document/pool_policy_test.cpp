#include "document/pool_policy.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "document/page_budget.h"

namespace lectern::document {
namespace {

TEST(PoolPolicy, ChoosesTheRendererThatCostsLeast) {
  struct Case {
    std::string_view name;
    std::vector<RendererView> renderers;
    std::optional<std::size_t> chosen;
  };
  const RendererView busy{.busy = true, .started = true, .document = 7};
  const RendererView empty_place{};
  const RendererView idle{.started = true, .last_used = 9};
  const RendererView ours{.started = true, .document = 7, .last_used = 99};
  const RendererView other_old{.started = true, .document = 3, .last_used = 1};
  const RendererView other_new{.started = true, .document = 4, .last_used = 5};
  const Case cases[] = {
      {"the one with the document open", {empty_place, idle, ours, other_old}, 2},
      {"then one without a document", {empty_place, other_old, idle}, 2},
      {"then a new one", {other_old, empty_place}, 1},
      {"then the one unused longest", {other_new, other_old}, 1},
      {"never a busy one", {busy, other_new}, 1},
      {"nobody", {busy, busy}, std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(choose_renderer(c.renderers, 7), c.chosen);
  }
}

TEST(PoolPolicy, CallsForTheOpenDocumentGoFirstButNotForever) {
  EXPECT_EQ(choose_waiting({}, 7), std::nullopt);
  const std::vector<WaitingCall> mixed = {{.document = 3}, {.document = 7}, {.document = 7}};
  EXPECT_EQ(choose_waiting(mixed, 7), 1U);
  EXPECT_EQ(choose_waiting(mixed, 0), 0U);
  EXPECT_EQ(choose_waiting(mixed, 4), 0U);
  const std::vector<WaitingCall> patient = {{.document = 3, .overtaken = overtaken_max}, {.document = 7}};
  EXPECT_EQ(choose_waiting(patient, 7), 0U);
}

TEST(PoolPolicy, RecyclesWhatHasGrownNotWhatIsLarge) {
  constexpr std::int64_t mib = 1 << 20;
  const RecycleRule rule{.threshold_bytes = 128 * mib, .limit_bytes = 1024 * mib};
  const std::uint64_t many = pages_between_small_recycles;
  const std::uint64_t some = pages_between_recycles;
  EXPECT_FALSE(should_recycle({.pages = many, .rss_at_first = 40 * mib, .rss_now = 100 * mib}, rule));
  EXPECT_TRUE(should_recycle({.pages = many, .rss_at_first = 40 * mib, .rss_now = 130 * mib}, rule));
  EXPECT_FALSE(should_recycle({.pages = many, .rss_at_first = 100 * mib, .rss_now = 130 * mib}, rule));
  EXPECT_FALSE(should_recycle({.pages = 8, .rss_at_first = 40 * mib, .rss_now = 130 * mib}, rule)) << "too soon";
  EXPECT_FALSE(should_recycle({.pages = some, .rss_at_first = 40 * mib, .rss_now = 130 * mib}, rule)) << "not so large";
  EXPECT_TRUE(should_recycle({.pages = some, .rss_at_first = 40 * mib, .rss_now = 260 * mib}, rule));
  EXPECT_TRUE(should_recycle({.pages = 8, .rss_at_first = 40 * mib, .rss_now = 600 * mib}, rule)) << "near its limit";
}

TEST(StartPolicy, TriesAgainAfterAWhile) {
  using std::chrono::seconds;
  std::chrono::steady_clock::time_point now{seconds(100)};
  StartPolicy starts;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(starts.may_try(now)) << i;
    starts.note_failure(now);
  }
  EXPECT_FALSE(starts.may_try(now));
  now += seconds(1);
  EXPECT_TRUE(starts.may_try(now));
  for (int i = 0; i < 40; ++i) starts.note_failure(now);
  EXPECT_FALSE(starts.may_try(now + seconds(29)));
  EXPECT_TRUE(starts.may_try(now + seconds(30)));
  starts.note_success();
  EXPECT_TRUE(starts.may_try(now));
}

TEST(PageBudget, LookingTakesTimeOffDrawing) {
  using std::chrono::milliseconds;
  PageBudget budget(milliseconds(1000));
  EXPECT_EQ(budget.for_inspecting(), milliseconds(1000));
  EXPECT_EQ(budget.for_rendering(1), milliseconds(1000));
  budget.inspected(1, milliseconds(50));
  EXPECT_EQ(budget.for_rendering(1), milliseconds(1000)) << "a quick look costs nothing";
  budget.inspected(1, milliseconds(400));
  EXPECT_EQ(budget.for_rendering(1), milliseconds(600));
  EXPECT_EQ(budget.for_rendering(2), milliseconds(1000));
  budget.inspected(1, milliseconds(990));
  EXPECT_EQ(budget.for_rendering(1), milliseconds(250)) << "never nothing at all";
}

}  // namespace
}  // namespace lectern::document
