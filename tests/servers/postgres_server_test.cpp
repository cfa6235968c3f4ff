#include "servers/postgres_server.h"

#include <gtest/gtest.h>

namespace lectern::test {
namespace {

TEST(PostgresServer, KeepsWhatWasCommittedThroughStopsAndKills) {
  PostgresServer server;
  EXPECT_EQ(server.run("SHOW fsync"), "on");
  const std::string database = server.new_database();
  EXPECT_NE(server.new_database(), database);
  server.run("CREATE TABLE t (a int); INSERT INTO t VALUES (42)", database);
  server.stop();
  server.start();
  EXPECT_EQ(server.run("SELECT a FROM t", database), "42");
  server.run("UPDATE t SET a = 43", database);
  server.kill();
  EXPECT_THROW(server.run("SELECT 1"), std::runtime_error);
  server.start();
  EXPECT_EQ(server.run("SELECT a FROM t", database), "43");
  server.pause();
  server.resume();
  EXPECT_EQ(server.run("SELECT a FROM t", database), "43");
}

}  // namespace
}  // namespace lectern::test
