#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/bench_table.h"
#include "cli/process_tree.h"

namespace lectern::cli {
namespace {

using testing::HasSubstr;

TEST(Percentile, IsAValueThatOccurred) {
  const std::vector<double> sorted = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(percentile(sorted, 0.5), 5);
  EXPECT_EQ(percentile(sorted, 0.95), 10);
  EXPECT_EQ(percentile(sorted, 0), 1);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

TEST(ParallelList, NumbersAndAuto) {
  EXPECT_EQ(*parse_parallel_list("1,16,auto"), (std::vector<int>{1, 16, 0}));
  for (const char* wrong : {"", "0", "4,", "-1", "5000", "4 8", "many"}) {
    const auto list = parse_parallel_list(wrong);
    ASSERT_FALSE(list) << wrong;
    EXPECT_EQ(list.error().kind, ErrorKind::invalid_input);
  }
}

const BenchRow row{.parallel = 0,
                   .limit = 12,
                   .requests = 100,
                   .failed = 10,
                   .seconds = 9,
                   .completion_tokens = 9000,
                   .latencies_ms = {100, 200, 300},
                   .slot_utilisation = 0.876,
                   .cpu_ms = 7.5,
                   .memory_bytes = 64'000'000};

TEST(BenchTable, CountsOnlyWhatSucceeded) {
  const std::string text = bench_head(false) + bench_line(row);
  EXPECT_THAT(text, HasSubstr("pages/s"));
  EXPECT_THAT(text,
              testing::ContainsRegex("auto \\(12\\) +100 +10 +9\\.0 +10\\.0 +1000 +200 +300 +300 +88% +7\\.50 +64 MB"));
  BenchRow untold = row;
  untold.slot_utilisation.reset();
  EXPECT_THAT(bench_head(true) + bench_line(untold), HasSubstr("req/s"));
  EXPECT_FALSE(nlohmann::json::parse(bench_json({untold}, true))["rows"][0].contains("slot_utilisation"));
  const auto json = nlohmann::json::parse(bench_json({row}, false))["rows"][0];
  EXPECT_EQ(json["parallel"], "auto");
  EXPECT_EQ(json["per_second"], 10);
  EXPECT_EQ(json["p99_ms"], 300);
}

TEST(ProcessTree, SeesThisProcess) {
  EXPECT_GT(tree_use(::getpid()).memory_bytes, 1'000'000);
  EXPECT_EQ(tree_use(::getpid(), {::getpid()}).memory_bytes, 0) << "left out with all below it";
}

}  // namespace
}  // namespace lectern::cli
