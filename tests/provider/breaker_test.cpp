#include "provider/breaker.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

Failure failure_of(FailureReason reason) {
  Failure failure;
  failure.reason = reason;
  failure.message = std::string(to_string(reason));
  return failure;
}

constexpr TimePoint start = TimePoint{} + 1000s;

Breaker ejected_by(FailureReason reason) {
  Breaker breaker({});
  for (int i = 0; i < 5; ++i) breaker.failed(failure_of(reason), start);
  EXPECT_TRUE(breaker.ejected());
  return breaker;
}

TEST(Breaker, EjectsAfterFiveFailuresInARow) {
  Breaker breaker({});
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(breaker.failed(failure_of(FailureReason::bad_reply), start));
  EXPECT_FALSE(breaker.answered());
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(breaker.failed(failure_of(FailureReason::engine_failed), start));
  EXPECT_FALSE(breaker.ejected());
  EXPECT_TRUE(breaker.failed(failure_of(FailureReason::connection_lost), start));
  EXPECT_TRUE(breaker.ejected());
  EXPECT_FALSE(breaker.failed(failure_of(FailureReason::connection_lost), start)) << "it is out already";
  EXPECT_EQ(breaker.failure()->reason, FailureReason::connection_lost);
}

TEST(Breaker, NobodyThereIsEnoughOnce) {
  Breaker breaker({});
  Failure of_proxy = failure_of(FailureReason::unreachable);
  of_proxy.http_status = 502;
  EXPECT_FALSE(breaker.failed(of_proxy, start)) << "somebody is there and may have other engines behind it";
  EXPECT_TRUE(breaker.failed(failure_of(FailureReason::unreachable), start));
  EXPECT_EQ(breaker.hope_ends() - start, 30s);
}

TEST(Breaker, FailuresThatSayNothingAboutItsHealthDoNotCount) {
  Breaker breaker({});
  for (int i = 0; i < failure_reasons; ++i) {
    const auto reason = static_cast<FailureReason>(i);
    if (counts_against_engine(reason)) continue;
    for (int k = 0; k < 10; ++k) EXPECT_FALSE(breaker.failed(failure_of(reason), start)) << to_string(reason);
  }
  EXPECT_FALSE(breaker.failure().has_value());
}

TEST(Breaker, ProbesAreFarAndFartherApart) {
  Breaker breaker = ejected_by(FailureReason::unreachable);
  TimePoint now = start;
  for (const auto wait : {500ms, 1000ms, 2000ms, 4000ms, 5000ms, 5000ms}) {
    EXPECT_EQ(breaker.next_probe() - now, wait);
    now = breaker.next_probe() + 10ms;  // what the probe took
    breaker.probe_failed(failure_of(FailureReason::unreachable), now);
  }
  EXPECT_TRUE(breaker.answered());
  EXPECT_FALSE(breaker.ejected());
  EXPECT_FALSE(breaker.failure().has_value());
  EXPECT_TRUE(breaker.failed(failure_of(FailureReason::unreachable), now));
  EXPECT_EQ(breaker.next_probe() - now, 500ms) << "a new ejection begins anew";
}

TEST(Breaker, HopeEndsWithPatience) {
  Breaker breaker = ejected_by(FailureReason::unreachable);
  EXPECT_EQ(breaker.hope_ends() - start, 30s);
  breaker.probe_failed(failure_of(FailureReason::unreachable), start + 20s);
  EXPECT_EQ(breaker.hope_ends() - start, 30s) << "counted from the ejection";
}

TEST(Breaker, AnEngineThatLoadsIsWaitedFor) {
  Breaker breaker = ejected_by(FailureReason::unreachable);
  breaker.probe_failed(failure_of(FailureReason::loading), start + 40s);
  EXPECT_EQ(breaker.hope_ends(), TimePoint::max());
  breaker.probe_failed(failure_of(FailureReason::unreachable), start + 50s);
  EXPECT_EQ(breaker.hope_ends() - start, 70s) << "it died while loading: patience from its last sign of life";
}

TEST(Breaker, WhatNeedsAPersonLeavesNoHope) {
  for (const auto reason : {FailureReason::unauthorized, FailureReason::unknown_model, FailureReason::quota}) {
    EXPECT_EQ(ejected_by(reason).hope_ends(), TimePoint::min());
    Breaker breaker({});
    EXPECT_TRUE(breaker.failed(failure_of(reason), start)) << "once is enough";
  }
}

TEST(Breaker, AnEngineThatIsInHasHope) {
  EXPECT_EQ(Breaker({}).hope_ends(), TimePoint::max());
}

}  // namespace
}  // namespace lectern::provider
