#include "service/submission.h"

#include <gtest/gtest.h>

namespace lectern::service {
namespace {

std::string set(Submission& submission, std::string_view name, std::string_view value) {
  const auto done = set_field(submission, name, value);
  return done ? "" : std::string(about(done.error().code).name) + " " + done.error().detail;
}

TEST(Submission, FieldsOfAForm) {
  Submission submission;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"operation", "ocr"},
                                                                            {"name", "x/report.pdf"},
                                                                            {"pages", " 3, 1-2"},
                                                                            {"lang", "eng+por"},
                                                                            {"model", "m"},
                                                                            {"prompt", "Read\nthis"},
                                                                            {"auto_rotate", "false"},
                                                                            {"priority", "-5"},
                                                                            {"timeout", "60"},
                                                                            {"deadline", "2026-08-06T12:00:00Z"},
                                                                            {"webhook", "https://example.org/hook"},
                                                                            {"webhook_secret", "whsec_c2VjcmV0"},
                                                                            {"password", "pässword"}}) {
    EXPECT_EQ(set(submission, name, value), "") << name;
  }
  EXPECT_EQ(submission.operation, "ocr");
  EXPECT_EQ(submission.name, "report.pdf");
  EXPECT_EQ(submission.options.pages, "1-3");
  EXPECT_EQ(submission.options.auto_rotate, false);
  EXPECT_EQ(submission.secret.password, "pässword");
  const job::NewJob job = job_of(submission, "job_x", "a", 1'000);
  EXPECT_EQ(job.deadline, 61'000);  // the earlier of the two
  EXPECT_EQ(job.operation, "ocr");
  EXPECT_FALSE(job.options.contains("password"));
  EXPECT_TRUE(job.secret.contains("pässword"));
}

TEST(Submission, WrongFieldsAreNamed) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"operation", "write"},
      {"operation", ""},
      {"pages", "0"},
      {"pages", "a-b"},
      {"lang", "eng por"},
      {"lang", "../eng"},
      {"model", "a\nb"},
      {"auto_rotate", "yes"},
      {"priority", "101"},
      {"priority", "1.5"},
      {"priority", "high"},
      {"timeout", "0"},
      {"timeout", "2592001"},
      {"deadline", "tomorrow"},
      {"webhook", "ftp://x"},
      {"webhook", "https://"},
      {"webhook", "https://user:pw@example.org/"},
      {"webhook", "https://a:b/"},
      {"webhook", "https://a b"},
      {"name", ""},
      {"prompt", ""},
      {"password", ""},
      {"webhook_secret", "a\nb"},
      {"webhook_secret", "whsec_~"},
  };
  for (const auto& [name, value] : cases) {
    Submission submission;
    const std::string said = set(submission, name, value);
    EXPECT_TRUE(said.starts_with("invalid_parameter " + std::string(name) + ": "))
        << name << " = " << value << ": " << said;
  }
  Submission submission;
  EXPECT_TRUE(set(submission, "page", "1").contains("there is no such field; there are file, operation"))
      << set(submission, "page", "1");
}

TEST(Submission, FromJson) {
  const auto good =
      submission_from_json(R"({"url":"https://example.org/a.pdf","pages":"1-3","priority":7,"auto_rotate":true})");
  ASSERT_TRUE(good) << good.error().detail;
  EXPECT_EQ(good->url, "https://example.org/a.pdf");
  EXPECT_EQ(good->priority, 7);
  EXPECT_EQ(good->options.auto_rotate, true);
  EXPECT_EQ(submission_from_json(R"({"blob":"incoming/a"})")->blob, "incoming/a");
  EXPECT_EQ(submission_from_json(R"({"blob":"a","priority":-7.0})")->priority, -7);
  for (const std::string_view bad :
       {R"([])", R"({"url":"https://a/", )", R"({})", R"({"url":"https://a/","blob":"b"})",
        R"({"url":"file:///etc/passwd"})", R"({"url":"https://a/","priority":"7"})",
        R"({"url":"https://a/","auto_rotate":"true"})", R"({"url":"https://a/","pages":1})", R"({"url":7})",
        R"({"url":"https://a/","nonsense":null})", R"({"blob":""})", R"({"blob":"a","priority":7.5})",
        R"({"blob":"a","timeout":1e300})"}) {
    EXPECT_FALSE(submission_from_json(bad)) << bad;
  }
  EXPECT_EQ(submission_from_json("[]").error().code, ProblemCode::invalid_body);
}

TEST(Submission, FingerprintsTellRequestsApart) {
  Submission one;
  one.options.pages = "1-3";
  const std::string print = fingerprint_of(one, "sha");
  EXPECT_EQ(fingerprint_of(one, "sha"), print);
  EXPECT_NE(fingerprint_of(one, "other"), print);
  Submission same = one;
  same.operation = "read";  // said or not, it is the same request
  EXPECT_EQ(fingerprint_of(same, "sha"), print);
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"operation", "ocr"},
                                                                            {"pages", "1"},
                                                                            {"priority", "1"},
                                                                            {"password", "p"},
                                                                            {"webhook", "https://a/"},
                                                                            {"timeout", "9"},
                                                                            {"name", "n"}}) {
    Submission other = one;
    ASSERT_TRUE(set_field(other, name, value));
    EXPECT_NE(fingerprint_of(other, "sha"), print) << name;
  }
}

TEST(Rfc3339, Moments) {
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_rfc3339("2026-08-06T12:00:00.5Z"), 1'786'017'600'500);
  EXPECT_EQ(parse_rfc3339("2026-08-06t14:00:00.500123+02:00"), 1'786'017'600'500);
  EXPECT_EQ(to_rfc3339(1'786'017'600'500), "2026-08-06T12:00:00.500Z");
  for (const std::string_view bad :
       {"", "2026-08-06", "2026-08-06 12:00:00Z", "2026-13-06T12:00:00Z", "2026-02-30T12:00:00Z",
        "2026-08-06T24:00:00Z", "2026-08-06T12:00:00", "2026-08-06T12:00:00.Z", "2026-08-06T12:00:00+2:00",
        "2026-08-06T12:00:00Zx", "-026-08-06T12:00:00Z"}) {
    EXPECT_EQ(parse_rfc3339(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace lectern::service
