// What is PostgreSQL's own: who may use it, its schema, text that it cannot keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "job/ledger_conformance.h"
#include "job/postgres/postgres_address.h"
#include "job/postgres/postgres_connection.h"
#include "job/postgres/postgres_database.h"
#include "job/postgres/postgres_schema.h"
#include "job/store.h"
#include "servers/postgres_server.h"

namespace lectern::job {
namespace {

using test::shared_postgres;
using testing::HasSubstr;
using testing::Not;

Error refused(const std::string& url) {
  auto opened = open_postgres({.url = url, .connect_timeout = std::chrono::seconds(2)});
  return opened ? Error{.for_log = "it was opened"} : opened.error();
}

TEST(Postgres, IsOpenedByItsUrlAndDescribedWithoutItsPassword) {
  const std::string name = shared_postgres().new_database();
  for (const std::string& url : {shared_postgres().url(name), shared_postgres().socket_url(name)}) {
    const auto opened = open_database(url, "");
    ASSERT_TRUE(opened) << opened.error().for_log;
    EXPECT_THAT((*opened)->description(), HasSubstr("PostgreSQL, lectern@"));
    EXPECT_THAT((*opened)->description(), HasSubstr(name));
    EXPECT_THAT((*opened)->description(), Not(HasSubstr(shared_postgres().password())));
  }
}

TEST(Postgres, WhoCannotGetInIsToldWhy) {
  const std::string good = shared_postgres().url("none_such");
  EXPECT_EQ(refused(good).kind, ErrorKind::unavailable);
  EXPECT_THAT(refused(good).for_caller, HasSubstr("none_such"));
  std::string wrong = shared_postgres().url("postgres");
  wrong.replace(wrong.find("hush"), 4, "hash");
  EXPECT_EQ(refused(wrong).kind, ErrorKind::unavailable);
  EXPECT_THAT(refused(wrong).for_caller, HasSubstr("password authentication failed"));
  const std::string nobody = "postgresql://me:hush-7261@127.0.0.1:1/d";
  EXPECT_EQ(refused(nobody).kind, ErrorKind::unavailable);
  EXPECT_THAT(refused(nobody).for_caller, HasSubstr("refused"));
  for (const std::string& url : {good, wrong, nobody}) {
    EXPECT_THAT(refused(url).for_log, Not(HasSubstr("hush-7261")));
    EXPECT_THAT(refused(url).for_log, Not(HasSubstr("hash-7261")));
  }
}

TEST(Postgres, WhoeverOnlyLooksMakesNoTables) {
  const std::string url = shared_postgres().url(shared_postgres().new_database());
  const auto none = open_database(url, "", IfAbsent::fail);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(open_database(url, "", IfAbsent::fail)) << "looking has not made it";
  open_database(url, "").value().reset();
  EXPECT_TRUE(open_database(url, "", IfAbsent::fail));
}

TEST(Postgres, WhoMayNotMakeTheSchemaIsToldSo) {
  const std::string name = shared_postgres().new_database();
  shared_postgres().run("CREATE USER guest_" + name + " PASSWORD 'hush-7261'");
  std::string url = shared_postgres().url(name);
  url.replace(url.find("lectern:"), 7, "guest_" + name);
  EXPECT_EQ(refused(url).kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused(url).for_caller, HasSubstr("permission denied"));
  // Once it is there, a user without the right to make one is enough.
  ASSERT_TRUE(open_postgres({.url = shared_postgres().url(name)}));
  const std::string user = "guest_" + name;
  shared_postgres().run("GRANT USAGE ON SCHEMA lectern TO " + user +
                            "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA lectern TO " + user,
                        name);
  auto opened = open_postgres({.url = url});
  ASSERT_TRUE(opened) << opened.error().for_log;
  const auto made = transact(**opened, Database::Access::write,
                             [](Ledger& ledger) { return submit(ledger, Policy{}, {.id = "job_1"}); });
  EXPECT_TRUE(made) << made.error().for_log;
}

TEST(Postgres, ADatabaseThatCannotKeepEveryTextIsRefused) {
  shared_postgres().run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const Error why = refused(shared_postgres().url("latin"));
  EXPECT_EQ(why.kind, ErrorKind::invalid_input);
  EXPECT_THAT(why.for_caller, HasSubstr("UTF8"));
}

TEST(Postgres, ManyOpenANewDatabaseAtOnce) {
  const std::string url = shared_postgres().url(shared_postgres().new_database());
  std::atomic<int> opened = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto database = open_postgres({.url = url});
        EXPECT_TRUE(database) << database.error().for_log;
        opened += database ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(opened, 4);
}

TEST(Postgres, ANewerSchemaIsRefusedAndLeftAlone) {
  const std::string name = shared_postgres().new_database();
  open_postgres({.url = shared_postgres().url(name)}).value().reset();
  shared_postgres().run("INSERT INTO lectern.schema_version VALUES (99)", name);
  const Error why = refused(shared_postgres().url(name));
  EXPECT_EQ(why.kind, ErrorKind::conflict);
  EXPECT_THAT(why.for_caller, HasSubstr("version 99"));
  shared_postgres().run("DELETE FROM lectern.schema_version WHERE version = 99", name);
  EXPECT_TRUE(open_postgres({.url = shared_postgres().url(name)}));
}

TEST(Postgres, AnOlderSchemaIsBroughtUpToDateWithWhatIsInIt) {
  const std::string name = shared_postgres().new_database();
  const PostgresOptions options{.url = shared_postgres().url(name)};
  {
    auto database = open_postgres(options).value();
    ASSERT_TRUE(transact(*database, Database::Access::write,
                         [](Ledger& ledger) { return submit(ledger, Policy{}, {.id = "job_1"}); }));
  }
  std::vector<Migration> later(postgres_migrations().begin(), postgres_migrations().end());
  const int newest = later.back().version;
  later.push_back({newest + 1, "ALTER TABLE jobs ADD COLUMN colour text NOT NULL DEFAULT 'red'"});
  later.push_back({newest + 2, "CREATE TABLE extra (a int); UPDATE jobs SET colour = 'blue'"});
  const auto connection = PostgresConnection::open(parse_postgres_url(options.url).value(), options).value();
  const auto value = [&](const std::string& sql) { return shared_postgres().run(sql, name); };

  std::vector<Migration> broken = later;
  broken.back().sql = "CREATE TABLE extra (a int); UPDATE nothing SET colour = 'blue'";
  EXPECT_FALSE(migrate(*connection, broken, "here"));
  EXPECT_EQ(value("SELECT max(version) FROM lectern.schema_version"), std::to_string(newest)) << "all of it or nothing";
  EXPECT_EQ(value("SELECT count(*) FROM information_schema.columns WHERE column_name = 'colour'"), "0");

  const auto done = migrate(*connection, later, "here");
  ASSERT_TRUE(done) << done.error().for_log;
  EXPECT_EQ(value("SELECT max(version) FROM lectern.schema_version"), std::to_string(newest + 2));
  EXPECT_EQ(value("SELECT colour FROM lectern.jobs WHERE id = 'job_1'"), "blue");
  EXPECT_TRUE(migrate(*connection, later, "here")) << "a second time there is nothing to do";
  EXPECT_EQ(refused(options.url).kind, ErrorKind::conflict) << "this program is the older one now";
}

TEST(Postgres, NothingIsSentAfterAStatementThatCouldNotBeSent) {
  const std::string name = shared_postgres().new_database();
  const PostgresOptions options{.url = shared_postgres().url(name)};
  const auto connection = PostgresConnection::open(parse_postgres_url(options.url).value(), options).value();
  ASSERT_TRUE(connection->execute("CREATE TABLE public.kept (a bigint)"));
  PostgresParameters too_many;  // for libpq, which refuses to send it
  for (int i = 0; i < 70'000; ++i) too_many.add(i);
  const PostgresParameters none;
  connection->queue("BEGIN", none);
  connection->queue("INSERT INTO public.kept VALUES (1)", none);
  connection->queue("INSERT INTO public.kept VALUES ($1)", too_many);
  connection->queue("COMMIT", none);
  const auto done = connection->flush();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(done.error().for_log, HasSubstr("number of parameters"));
  EXPECT_TRUE(connection->broken());
  EXPECT_EQ(shared_postgres().run("SELECT count(*) FROM public.kept", name), "0");
}

TEST(Postgres, TextThatIsNoUnicodeIsKeptAsFarAsPossible) {
  auto database = open_postgres({.url = shared_postgres().url(shared_postgres().new_database())}).value();
  const std::string name("r\xe9sum\xe9\0.pdf", 11);
  const auto done = transact(*database, Database::Access::write, [&](Ledger& ledger) {
    return submit(ledger, Policy{}, {.id = "job_1", .document = name});
  });
  ASSERT_TRUE(done) << done.error().for_log;
  const auto job = transact(*database, Database::Access::read, [](Ledger& ledger) { return ledger.job("job_1"); });
  EXPECT_EQ(job.value()->job.request.document, "r\uFFFDsum\uFFFD\uFFFD.pdf");
}

TEST(Postgres, ReadersCannotWrite) {
  auto database = open_postgres({.url = shared_postgres().url(shared_postgres().new_database())}).value();
  const auto done = transact(*database, Database::Access::read,
                             [](Ledger& ledger) { return submit(ledger, Policy{}, {.id = "job_1"}); });
  EXPECT_FALSE(done);
}

TEST(Postgres, CommitsAreDurableEvenWhereTheServerIsSetToHurry) {
  const std::string name = shared_postgres().new_database();
  shared_postgres().run("ALTER DATABASE " + name + " SET synchronous_commit = off");
  const PostgresOptions options{.url = shared_postgres().url(name)};
  const auto connection = PostgresConnection::open(parse_postgres_url(options.url).value(), options).value();
  auto shown = connection->execute("SHOW synchronous_commit").value();
  shown.next();
  EXPECT_EQ(shown.text(), "on");
}

}  // namespace
}  // namespace lectern::job
