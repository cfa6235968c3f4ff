#include "service/http/response_head.h"

#include <gtest/gtest.h>

#include <set>

#include "service/problem.h"

namespace lectern::service::http {
namespace {

TEST(ReasonPhrase, EveryStatusThatWeSendHasItsOwn) {
  std::set<int> statuses = {200, 201, 202, 204, 206, 304};
  for (const ProblemKind& kind : problem_kinds()) statuses.insert(kind.status);
  std::set<std::string_view> phrases;
  for (const int status : statuses) {
    EXPECT_NE(reason_phrase(status), reason_phrase(599)) << status;
    EXPECT_TRUE(phrases.insert(reason_phrase(status)).second) << status;
  }
  EXPECT_EQ(reason_phrase(406), "Not Acceptable");
  EXPECT_EQ(reason_phrase(422), "Unprocessable Content");
}

TEST(ReasonPhrase, OthersAreNeutral) {
  EXPECT_EQ(reason_phrase(299), "OK");
  EXPECT_EQ(reason_phrase(499), "Error");
}

}  // namespace
}  // namespace lectern::service::http
