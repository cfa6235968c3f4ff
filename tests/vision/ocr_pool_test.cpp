#include "vision/ocr_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "vision/test_images.h"

namespace lectern::vision {
namespace {

TEST(OcrPool, ReusesAnEngineThatWasReturned) {
  OcrPool pool(2);
  const OcrEngine* first = nullptr;
  {
    const auto lease = pool.acquire({});
    ASSERT_TRUE(lease);
    first = &**lease;
    EXPECT_EQ(pool.idle(), 0U);
  }
  EXPECT_EQ(pool.idle(), 1U);
  const auto again = pool.acquire({});
  ASSERT_TRUE(again);
  EXPECT_EQ(&**again, first);
}

TEST(OcrPool, NeverLendsOneEngineTwice) {
  OcrPool pool(2);
  const auto one = pool.acquire({});
  const auto two = pool.acquire({});
  ASSERT_TRUE(one && two);
  EXPECT_NE(&**one, &**two);
}

TEST(OcrPool, KeepsNoMoreThanItsBound) {
  OcrPool pool(1);
  {
    const auto one = pool.acquire({});
    const auto two = pool.acquire({});
    ASSERT_TRUE(one && two);
  }
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(OcrPool, OtherOptionsAreAnotherEngine) {
  OcrPool pool(2);
  {
    ASSERT_TRUE(pool.acquire({}));
  }
  {
    const auto twice = pool.acquire({.languages = "eng+eng"});  // the same model by another name
    ASSERT_TRUE(twice);
    EXPECT_EQ(pool.idle(), 1U) << "the waiting engine was made with other options";
  }
  EXPECT_EQ(pool.idle(), 2U);
}

TEST(OcrPool, AFailureCostsNoEngine) {
  OcrPool pool(1);
  {
    ASSERT_TRUE(pool.acquire({}));
  }
  EXPECT_FALSE(pool.acquire({.languages = "zzz"}));
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(OcrPool, ALeaseReads) {
  OcrPool pool(1);
  std::optional<OcrPage> first;
  for (int round = 0; round < 2; ++round) {
    const auto lease = pool.acquire({});
    ASSERT_TRUE(lease);
    auto page = (*lease)->read(load_picture("letter.png"));
    ASSERT_TRUE(page);
    if (!first) first = *page;
    EXPECT_EQ(*page, *first);
    EXPECT_FALSE(page->words.empty());
  }
}

}  // namespace
}  // namespace lectern::vision
