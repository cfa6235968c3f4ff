#include "job/request.h"

#include <gtest/gtest.h>

namespace lectern::job {
namespace {

TEST(JobSecret, GoesToTheStoreAndBack) {
  const JobSecret secret{.password = "pa\"ss", .webhook_secret = "whsec_x"};
  EXPECT_EQ(job_secret_from_json(to_json(secret)), secret);
  EXPECT_EQ(to_json(JobSecret{}), "");
  EXPECT_EQ(job_secret_from_json(""), JobSecret{});
  EXPECT_EQ(job_secret_from_json("[1]").error().kind, ErrorKind::corrupt);
}

TEST(JobOptions, AreCanonicalAndStrict) {
  const JobOptions options{.pages = "1-3", .languages = "por", .model = "m", .prompt = "p", .auto_rotate = false};
  EXPECT_EQ(job_options_from_json(to_json(options)), options);
  EXPECT_EQ(to_json(JobOptions{}), "{}");
  EXPECT_EQ(job_options_from_json(R"({"page":"1"})").error().for_caller.substr(0, 13), "options.page:");
  EXPECT_FALSE(job_options_from_json(R"({"pages":1})"));
  EXPECT_FALSE(job_options_from_json("[]"));
}

}  // namespace
}  // namespace lectern::job
