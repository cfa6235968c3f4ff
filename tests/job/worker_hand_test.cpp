#include "job/worker_hand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lectern::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Task a_task(std::int64_t id, std::int64_t token = 1) {
  return {.id = id, .token = token};
}
Outcome an_outcome(std::int64_t id, std::int64_t token = 1) {
  return {.task = id, .token = token};
}
std::vector<std::int64_t> ids(const std::vector<Held>& held) {
  std::vector<std::int64_t> ids;
  for (const Held& one : held) ids.push_back(one.task);
  return ids;
}

TEST(Hand, ATaskIsInHandUntilItsOutcomeIsSettled) {
  Hand hand;
  hand.take(a_task(1), {});
  EXPECT_TRUE(hand.ended({1, 1}, an_outcome(1)));
  EXPECT_EQ(hand.size(), 1);
  EXPECT_THAT(ids(hand.held()), ElementsAre(1)) << "a commit may take long: the lease must not run out meanwhile";
  EXPECT_EQ(hand.take_outcomes(10).size(), 1U);
  EXPECT_THAT(hand.take_outcomes(10), IsEmpty());
  hand.settled({1, 1});
  EXPECT_EQ(hand.size(), 0);
}

TEST(Hand, WhatIsNotRenewedIsCancelled) {
  Hand hand;
  const Cancellation first;
  const Cancellation second;
  hand.take(a_task(1), first);
  hand.take(a_task(2), second);
  const auto asked = hand.held();
  for (Cancellation one : hand.renewed(asked, std::vector<std::int64_t>{2})) one.request();
  EXPECT_TRUE(first.requested());
  EXPECT_FALSE(second.requested());
  EXPECT_THAT(ids(hand.held()), ElementsAre(2));
  EXPECT_EQ(hand.size(), 2) << "its handler has not ended yet and needs room";
  EXPECT_FALSE(hand.ended({1, 1}, an_outcome(1)));
  hand.left({1, 1});
  EXPECT_EQ(hand.size(), 1);
}

TEST(Hand, AnOutcomeOnItsWayIsNotLost) {
  Hand hand;
  hand.take(a_task(1), {});
  const auto asked = hand.held();
  hand.ended({1, 1}, an_outcome(1));
  hand.take_outcomes(10);
  // The commit was there first: nothing is left to renew, and nothing was lost.
  EXPECT_THAT(hand.renewed(asked, {}), IsEmpty());
  hand.settled({1, 1});
  EXPECT_THAT(hand.renewed(asked, {}), IsEmpty());
}

TEST(Hand, AnAnswerAboutAnOldLeaseDoesNotTouchTheNewOne) {
  Hand hand;
  hand.take(a_task(1, 1), {});
  const auto asked = hand.held();
  hand.ended({1, 1}, an_outcome(1));
  hand.take_outcomes(10);
  hand.settled({1, 1});
  hand.take(a_task(1, 2), {});
  EXPECT_THAT(hand.renewed(asked, {}), IsEmpty());
  EXPECT_THAT(ids(hand.held()), ElementsAre(1));
}

TEST(Hand, TheSameTaskMayComeBackWhileItsOldHandlerStillRuns) {
  Hand hand;
  hand.take(a_task(1, 1), {});
  hand.renewed(hand.held(), {});
  hand.take(a_task(1, 3), {});
  EXPECT_EQ(hand.size(), 2);
  EXPECT_FALSE(hand.ended({1, 1}, an_outcome(1, 1)));
  hand.left({1, 1});
  EXPECT_TRUE(hand.ended({1, 3}, an_outcome(1, 3)));
}

TEST(Hand, GivingBackLeavesFinishedOutcomesAlone) {
  Hand hand;
  const Cancellation working;
  hand.take(a_task(1), working);
  hand.take(a_task(2), {});
  hand.ended({2, 1}, an_outcome(2));
  for (Cancellation one : hand.give_back()) one.request();
  EXPECT_TRUE(working.requested());
  const auto outcomes = hand.take_outcomes(10);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].ending, Ending::give_back);
  EXPECT_EQ(outcomes[1].ending, Ending::done);
  hand.settled({1, 1});
  EXPECT_EQ(hand.size(), 2) << "the handler of the first still runs, the second is not settled";
  EXPECT_FALSE(hand.ended({1, 1}, an_outcome(1)));
  hand.left({1, 1});
  hand.settled({2, 1});
  EXPECT_EQ(hand.size(), 0);
}

TEST(Hand, KnowsItsSuspects) {
  Hand hand;
  hand.take(a_task(1), {});
  EXPECT_FALSE(hand.has_suspect());
  hand.take({.id = 2, .token = 1, .alone = true}, {});
  EXPECT_TRUE(hand.has_suspect());
  hand.left({2, 1});
  EXPECT_FALSE(hand.has_suspect());
}

TEST(Hand, BatchesHaveABound) {
  Hand hand;
  for (int id = 1; id <= 5; ++id) {
    hand.take(a_task(id), {});
    hand.ended({id, 1}, an_outcome(id));
  }
  EXPECT_EQ(hand.take_outcomes(3).size(), 3U);
  EXPECT_EQ(hand.take_outcomes(3).size(), 2U);
}

}  // namespace
}  // namespace lectern::job
