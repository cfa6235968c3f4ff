#include "job/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace lectern::job {
namespace {

std::vector<int> versions(int found, std::span<const Migration> known) {
  const auto missing = migrations_after(found, known, "here");
  std::vector<int> all;
  for (const Migration& one : missing.value()) all.push_back(one.version);
  return all;
}

TEST(Migrations, RunsWhatIsMissingInOrder) {
  const Migration known[] = {{1, "a"}, {2, "b"}, {3, "c"}};
  EXPECT_THAT(versions(0, known), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(versions(1, known), testing::ElementsAre(2, 3));
  EXPECT_THAT(versions(3, known), testing::IsEmpty());
}

TEST(Migrations, RefusesANewerSchemaByName) {
  const Migration known[] = {{1, "a"}};
  const auto newer = migrations_after(2, known, "the file X");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind, ErrorKind::conflict);
  EXPECT_THAT(newer.error().for_caller, testing::HasSubstr("the file X has version 2"));
  EXPECT_THAT(newer.error().for_caller, testing::HasSubstr("up to 1"));
}

}  // namespace
}  // namespace lectern::job
