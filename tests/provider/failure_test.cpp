#include "provider/failure.h"

#include <gtest/gtest.h>

#include <set>

namespace lectern::provider {
namespace {

FailureReason reason_number(int number) {
  return static_cast<FailureReason>(number);
}

TEST(Failure, EveryReasonHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < failure_reasons; ++i) names.insert(to_string(reason_number(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(failure_reasons));
  EXPECT_EQ(reason_number(failure_reasons - 1), FailureReason::bad_reply);
}

TEST(Failure, WhatCannotGetBetterIsNotRetried) {
  for (int i = 0; i < failure_reasons; ++i) {
    const FailureReason reason = reason_number(i);
    SCOPED_TRACE(to_string(reason));
    const ErrorKind kind = kind_of(reason);
    if (kind == ErrorKind::invalid_input || kind == ErrorKind::not_found || kind == ErrorKind::cancelled) {
      EXPECT_FALSE(worth_retrying(reason));
    }
    if (means_too_much_work(reason)) EXPECT_TRUE(worth_retrying(reason));
    if (needs_a_person(reason)) EXPECT_FALSE(worth_retrying(reason));
    if (needs_a_person(reason)) EXPECT_TRUE(counts_against_engine(reason)) << "nobody goes on asking it";
  }
  EXPECT_FALSE(worth_retrying(FailureReason::quota)) << "no money will not be there a second later";
}

TEST(Failure, KeysNamesAndMoneyAreForAPersonToMend) {
  std::set<FailureReason> found;
  for (int i = 0; i < failure_reasons; ++i) {
    if (needs_a_person(reason_number(i))) found.insert(reason_number(i));
  }
  EXPECT_EQ(found, (std::set{FailureReason::unauthorized, FailureReason::unknown_model, FailureReason::quota}));
}

}  // namespace
}  // namespace lectern::provider
