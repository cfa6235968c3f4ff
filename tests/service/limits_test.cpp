#include "service/limits.h"

#include <gtest/gtest.h>

namespace lectern::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TokenBucket, ABurstThenARate) {
  TokenBucket bucket(10, 3);
  TimePoint now{};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.take(now).count(), 0);
  EXPECT_EQ(bucket.take(now), milliseconds(100));
  now += milliseconds(60);
  EXPECT_EQ(bucket.take(now), milliseconds(40));
  now += milliseconds(40);
  EXPECT_EQ(bucket.take(now).count(), 0);
  EXPECT_FALSE(bucket.full(now));
  now += seconds(100);
  EXPECT_TRUE(bucket.full(now));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.take(now).count(), 0);  // no more than the burst was saved up
  EXPECT_GT(bucket.take(now).count(), 0);
}

TEST(SubmitGate, SoManyAtOnceAndSoManyOfOneKey) {
  SubmitGate gate({.uploads_max = 3, .uploads_per_key_max = 2});
  const TimePoint now{};
  auto a1 = gate.enter("a", now);
  auto a2 = gate.enter("a", now);
  ASSERT_TRUE(a1 && a2);
  EXPECT_EQ(gate.enter("a", now).error().code, ProblemCode::too_many_uploads);
  auto b1 = gate.enter("b", now);
  ASSERT_TRUE(b1);
  const auto c1 = gate.enter("c", now);
  ASSERT_FALSE(c1);
  EXPECT_GT(c1.error().retry_after, 0);
  a1->release();
  a1->release();  // twice is once
  EXPECT_EQ(gate.under_way(), 2);
  SubmitGate::Ticket moved = std::move(*a2);
  EXPECT_TRUE(gate.enter("a", now));  // the ticket is dropped at once
  EXPECT_EQ(gate.under_way(), 2);
}

TEST(SubmitGate, EachKeyHasItsOwnRate) {
  SubmitGate gate({.per_second = 0.5, .burst = 1});
  const TimePoint now{};
  EXPECT_TRUE(gate.enter("a", now));
  const auto again = gate.enter("a", now);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ProblemCode::rate_limited);
  EXPECT_EQ(again.error().retry_after, 2);
  EXPECT_TRUE(gate.enter("b", now));
  EXPECT_TRUE(gate.enter("a", now + seconds(2)));
}

TEST(Room, HasAnEnd) {
  Room room(1);
  auto place = room.enter();
  EXPECT_TRUE(place);
  EXPECT_FALSE(room.enter());
  place.reset();
  EXPECT_EQ(room.inside(), 0);
  EXPECT_TRUE(room.enter());
}

}  // namespace
}  // namespace lectern::service
