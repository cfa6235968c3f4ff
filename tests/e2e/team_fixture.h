// Where the tests of a team's set-up run: once on one machine (SQLite and a folder), once as a team runs it (PostgreSQL
// and S3). team_test.cpp says so to GoogleTest for all files of tests.
#pragma once

#include <algorithm>
#include <set>

#include "read_fixture.h"
#include "servers/postgres_server.h"
#include "servers/s3_server.h"
#include "team.h"

namespace lectern::e2e {

enum class Where { one_machine, team };

class TeamOnceTest : public ReadTest {  // for what is the same in both places, or takes long
 protected:
  // Empty, and the same for all who are started with it.
  Place place(Where where) const {
    const std::string scratch = out("scratch");
    if (where == Where::one_machine) {
      return {.store = {"--data", out("data")}, .blobs = {}, .environment = {{"TMPDIR", scratch}}};
    }
    test::S3Server& s3 = test::shared_s3();
    test::PostgresServer& postgres = test::shared_postgres();
    Place place{.store = {"--store", postgres.url(postgres.new_database())},
                .blobs = {"--blobs", s3.url(s3.new_prefix())},
                .environment = {{"TMPDIR", scratch}}};
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
      if (const auto value = s3.environment(name)) place.environment[name] = *value;
    }
    return place;
  }
  static std::set<std::string> values(const std::vector<Json>& events, const std::string& kind, const char* name) {
    std::set<std::string> found;
    for (const Json& event : events) {
      if (event["kind"] == kind) found.insert(event["data"][name].dump());
    }
    return found;
  }
  static int count(const std::vector<Json>& events, const std::string& kind) {
    return static_cast<int>(std::ranges::count_if(events, [&](const Json& event) { return event["kind"] == kind; }));
  }
  static void expect_same_as_read(const Service& service, const std::string& id, const std::string& file,
                                  const std::vector<std::string>& flags = {}) {
    for (const char* format : {"md", "json", "text", "html"}) {
      const std::string expected = read_prints(file, format, flags);
      EXPECT_FALSE(expected.empty());
      const std::string result = service.result(id, format);
      if (std::string(format) == "json") {
        EXPECT_EQ(without_times(result), without_times(expected));
      } else {
        EXPECT_EQ(result, expected) << format;
      }
    }
  }
};

class TeamTest : public TeamOnceTest, public testing::WithParamInterface<Where> {
 protected:
  Place place() const { return TeamOnceTest::place(GetParam()); }
  // All its power goes at once.
  void crash_servers() {
    if (GetParam() == Where::one_machine) return;
    test::shared_postgres().kill();
    test::shared_s3().kill();
    test::shared_postgres().start();
    test::shared_s3().start();
  }
};

}  // namespace lectern::e2e
