#include "service/http/parameters.h"

#include <gtest/gtest.h>

#include <array>

#include "service/http/range.h"
#include "service/http/response_head.h"
#include "service/http/target.h"

namespace lectern::service::http {
namespace {

TEST(Parameters, ValuesWithParameters) {
  const auto parsed = parse_parameters("form-data; Name=\"a\\\"b\" ;x=y;");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->value, "form-data");
  ASSERT_EQ(parsed->parameters.size(), 2U);
  EXPECT_EQ(parsed->parameters[0], (std::pair<std::string, std::string>("name", "a\"b")));
  EXPECT_EQ(parsed->parameters[1], (std::pair<std::string, std::string>("x", "y")));
  EXPECT_FALSE(parse_parameters("a; b"));
  EXPECT_FALSE(parse_parameters("a; b=\"c"));
  EXPECT_FALSE(parse_parameters("a; b=\"c\"d"));
  EXPECT_FALSE(parse_parameters("a; b="));
}

TEST(Parameters, WhichTypeIsLikedBest) {
  static constexpr std::array<std::string_view, 3> types = {"text/markdown", "application/json", "text/html"};
  const std::pair<std::string_view, std::optional<std::size_t>> cases[] = {
      {"", 0},
      {"*/*", 0},
      {"application/json", 1},
      {"Application/JSON; charset=utf-8", 1},
      {"text/*", 0},
      {"text/html,application/xhtml+xml,*/*;q=0.8", 2},
      {"text/*;q=0.5, application/json;q=0.9", 1},
      {"text/markdown;q=0, */*", 1},
      {"image/png", std::nullopt},
      {"*/*;q=0", std::nullopt},
  };
  for (const auto& [accept, best] : cases) EXPECT_EQ(preferred_type(accept, types), best) << accept;
}

TEST(Parameters, NamesForSaving) {
  EXPECT_EQ(content_disposition("inline", "a b.md"), "inline; filename=\"a b.md\"");
  EXPECT_EQ(content_disposition("attachment", "ä\".md"),
            "attachment; filename=\"___.md\"; filename*=UTF-8''%C3%A4%22.md");
}

Fields range_fields(std::string range, std::string if_range = "") {
  Fields fields;
  fields.add("Range", std::move(range));
  if (!if_range.empty()) fields.add("If-Range", std::move(if_range));
  return fields;
}

TEST(Range, WhatIsSent) {
  using Kind = RangePlan::Kind;
  const std::pair<std::string, RangePlan> cases[] = {
      {"bytes=0-4", {Kind::part, {0, 5}}},    {"bytes=5-", {Kind::part, {5, 5}}},
      {"bytes=-3", {Kind::part, {7, 3}}},     {"bytes=-30", {Kind::part, {0, 10}}},
      {"bytes=0-100", {Kind::part, {0, 10}}}, {"bytes=10-", {Kind::outside, {}}},
      {"bytes=-0", {Kind::outside, {}}},      {"bytes=4-2", {Kind::whole, {}}},
      {"bytes=0-1,3-4", {Kind::whole, {}}},   {"lines=0-1", {Kind::whole, {}}},
      {"bytes=x-", {Kind::whole, {}}},        {"bytes=-", {Kind::whole, {}}},
      {"bytes=--1", {Kind::whole, {}}},       {"bytes=9-9", {Kind::part, {9, 1}}},
  };
  for (const auto& [range, plan] : cases) EXPECT_EQ(plan_range(range_fields(range), 10, "\"e\""), plan) << range;
  EXPECT_EQ(plan_range(range_fields("bytes=0-0"), 0, "\"e\"").kind, Kind::outside);
  EXPECT_EQ(plan_range(range_fields("bytes=0-0", "\"e\""), 10, "\"e\"").kind, Kind::part);
  EXPECT_EQ(plan_range(range_fields("bytes=0-0", "\"other\""), 10, "\"e\"").kind, Kind::whole);
  EXPECT_EQ(plan_range(range_fields("bytes=0-0", "Sun, 06 Nov 1994 08:49:37 GMT"), 10, "\"e\"").kind, Kind::whole);
  EXPECT_EQ(plan_range({}, 10, "\"e\"").kind, Kind::whole);
}

TEST(Range, WhatTheClientHas) {
  const auto has = [](std::string value) {
    Fields fields;
    fields.add("If-None-Match", std::move(value));
    return has_version(fields, "\"e\"");
  };
  EXPECT_TRUE(has("\"e\""));
  EXPECT_TRUE(has("\"a\", W/\"e\""));
  EXPECT_TRUE(has("*"));
  EXPECT_FALSE(has("\"a,e\""));
  EXPECT_FALSE(has_version({}, "\"e\""));
}

TEST(Target, TakenApart) {
  const auto target = parse_target("/v1/jobs/a%20b/?x=1&y=%26+z&flag&&=v");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string>{"v1", "jobs", "a b", ""}));
  EXPECT_EQ(target->query.find("x"), "1");
  EXPECT_EQ(target->query.find("y"), "& z");
  EXPECT_EQ(target->query.find("flag"), "");
  EXPECT_EQ(target->query.find("none"), std::nullopt);
  EXPECT_TRUE(parse_target("/")->segments.empty());
  EXPECT_EQ(parse_target("/a%2Fb")->segments, (std::vector<std::string>{"a/b"}));
  for (const std::string_view bad : {"/%", "/%4", "/%zz", "/%00", "/%ff", "/?a=%f", "/?%c3=1"}) {
    EXPECT_FALSE(parse_target(bad)) << bad;
  }
}

TEST(Target, Utf8) {
  for (const std::string_view good : {"", "abc", "ä", "€", "😀", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good));
  for (const std::string_view bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                                     "\xf5\x80\x80\x80", "\xf4\x90\x80\x80", "a\xffz"})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(ResponseHead, FieldsCannotBreakOut) {
  Response response = text_response(200, "text/plain", "");
  response.fields.add("X-Name", "a\r\nSet-Cookie: b\x01");
  const std::string head = response_head(response, {.content_length = 0, .request_id = "r", .now = WallTime{}});
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
  EXPECT_TRUE(head.contains("X-Name: aSet-Cookie: b\r\n")) << head;
  EXPECT_TRUE(head.contains("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace lectern::service::http
