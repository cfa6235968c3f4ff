#include "engine/sim/fault.h"

#include <gtest/gtest.h>

#include <vector>

namespace lectern::sim {
namespace {

const Sha256Digest one_image = {0xAB, 0xCD, 1, 2, 3, 4, 5, 6, 7};

std::vector<std::uint64_t> hit_requests(std::string_view rule, std::uint64_t count) {
  const std::vector<FaultRule> rules = {parse_fault(rule).value()};
  std::vector<std::uint64_t> hit;
  for (std::uint64_t request = 1; request <= count; ++request)
    if (choose_fault(rules, {.seed = 1, .request = request, .digest = &one_image}) != nullptr) hit.push_back(request);
  return hit;
}

TEST(Fault, SchedulesHitWhatTheySay) {
  struct Case {
    std::string_view rule;
    std::vector<std::uint64_t> hit;
  };
  const Case cases[] = {{"cut:first=2", {1, 2}},
                        {"cut:every=3", {3, 6, 9}},
                        {"cut:after=4:first=2", {5, 6}},
                        {"cut:after=2:every=4", {6, 10}},
                        {"cut:1", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
                        {"cut:0", {}},
                        {"cut:image=abcd:first=1", {1}},
                        {"cut:image=abce", {}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.rule);
    EXPECT_EQ(hit_requests(c.rule, 10), c.hit);
  }
}

TEST(Fault, ARateIsKeptAndRepeats) {
  const auto hit = hit_requests("429:0.1", 20'000);
  EXPECT_NEAR(static_cast<double>(hit.size()), 2000, 150);
  EXPECT_EQ(hit_requests("429:0.1", 20'000), hit);
}

TEST(Fault, ByImageChoosesPagesNotRequests) {
  // Whatever this image's fate is, it is the same on every request.
  const std::size_t hits = hit_requests("loop:by=image:0.5", 100).size();
  EXPECT_TRUE(hits == 0 || hits == 100) << hits;
  const std::vector<FaultRule> rules = {parse_fault("loop:by=image:0.5").value()};
  int chosen = 0;
  for (int i = 0; i < 256; ++i) {
    Sha256Digest digest{};
    digest[0] = static_cast<std::uint8_t>(i);
    chosen += choose_fault(rules, {.seed = 1, .request = 1, .digest = &digest}) != nullptr ? 1 : 0;
  }
  EXPECT_NEAR(chosen, 128, 40);
}

TEST(Fault, TimesAreSecondsAfterTheFirstRequest) {
  const std::vector<FaultRule> rules = {parse_fault("503:from=2s:until=4s").value()};
  const auto hits_at = [&](double elapsed_s) {
    return choose_fault(rules, {.request = 1, .digest = &one_image, .elapsed_s = elapsed_s}) != nullptr;
  };
  EXPECT_FALSE(hits_at(1.9));
  EXPECT_TRUE(hits_at(2));
  EXPECT_TRUE(hits_at(3.9));
  EXPECT_FALSE(hits_at(4));
}

TEST(Fault, TheFirstRuleThatHitsCounts) {
  const std::vector<FaultRule> rules = {parse_fault("empty:first=1").value(), parse_fault("oom").value()};
  EXPECT_EQ(choose_fault(rules, {.request = 1, .digest = &one_image})->kind, FaultKind::empty);
  EXPECT_EQ(choose_fault(rules, {.request = 2, .digest = &one_image})->kind, FaultKind::oom);
}

TEST(Fault, WrittenOutAndReadAgainItIsTheSame) {
  for (const std::string_view text :
       {"429:0.25:retry-after=3s", "slow-bytes:bytes=1:interval=0.5s", "hang:after=3:first=1", "abort:by=image:0.5",
        "503:from=1s:until=2s", "refusal:every=7", "drop:image=00ff"}) {
    SCOPED_TRACE(text);
    const FaultRule rule = parse_fault(text).value();
    EXPECT_EQ(parse_fault(to_string(rule)).value(), rule);
  }
}

TEST(Fault, WhatIsNotUnderstoodIsNamed) {
  for (const std::string_view text : {"explode", "cut:2", "cut:first", "cut:first=x", "cut:bytes=3",
                                      "hang:retry-after=1", "cut:every=0", "loop:by=page", "cut:image=XY"}) {
    SCOPED_TRACE(text);
    const auto rule = parse_fault(text);
    ASSERT_FALSE(rule.has_value());
    EXPECT_EQ(rule.error().kind, ErrorKind::invalid_input);
    EXPECT_NE(rule.error().for_caller.find(text.substr(0, text.find(':'))), std::string::npos)
        << rule.error().for_caller;
  }
}

}  // namespace
}  // namespace lectern::sim
