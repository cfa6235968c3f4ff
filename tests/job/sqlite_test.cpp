// What is SQLite's own: the file, its schema, and others who use it at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "job/ledger_conformance.h"
#include "job/sqlite/sqlite_connection.h"
#include "job/sqlite/sqlite_database.h"
#include "temp_folder.h"

namespace lectern::job {
namespace {

using testing::HasSubstr;

// Another program with the same file.
class Stranger {
 public:
  explicit Stranger(const std::filesystem::path& file) {
    if (sqlite3_open(file.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error("sqlite3_open failed");
  }
  ~Stranger() { sqlite3_close(handle_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  void run(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle_));
    }
  }

 private:
  sqlite3* handle_ = nullptr;
};

Error refused(const std::filesystem::path& file) {
  auto opened = open_sqlite({.file = file});
  return opened ? Error{} : opened.error();
}

TEST(Sqlite, FileIsForItsOwnerAlone) {
  const TempFolder folder;
  const auto database = open_sqlite({.file = folder.path() / "jobs.sqlite"}).value();
  EXPECT_EQ(database->description(), "SQLite, " + (folder.path() / "jobs.sqlite").string());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    struct stat about{};
    ASSERT_EQ(::stat(entry.path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 2);  // the file and its log
}

TEST(Sqlite, FilesThatAreNotOursAreRefused) {
  const TempFolder folder;
  const auto text = folder.write("text", std::string(5000, 'x'));
  EXPECT_EQ(refused(text).kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused(text).for_caller, HasSubstr("not an SQLite database"));

  const auto foreign = folder.path() / "foreign.sqlite";
  Stranger(foreign).run("CREATE TABLE recipes (name)");
  EXPECT_EQ(refused(foreign).kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused(foreign).for_caller, HasSubstr("another program's"));

  const auto nowhere = folder.path() / "none" / "jobs.sqlite";
  EXPECT_EQ(refused(nowhere).kind, ErrorKind::not_found);
  EXPECT_THAT(refused(nowhere).for_caller, HasSubstr(nowhere.string()));
}

TEST(Sqlite, ANewerSchemaIsRefusedAndLeftAlone) {
  const TempFolder folder;
  const auto file = folder.path() / "jobs.sqlite";
  open_sqlite({.file = file}).value().reset();
  Stranger(file).run("PRAGMA user_version = 99");
  const Error why = refused(file);
  EXPECT_EQ(why.kind, ErrorKind::conflict);
  EXPECT_THAT(why.for_caller, HasSubstr("version 99"));
  EXPECT_THAT(why.for_caller, HasSubstr("newer lectern"));
  Stranger(file).run(fmt::format("PRAGMA user_version = {}", sqlite_migrations().back().version));
  EXPECT_TRUE(open_sqlite({.file = file}));
}

TEST(Sqlite, AnOlderSchemaIsBroughtUpToDateWithWhatIsInIt) {
  const TempFolder folder;
  const auto file = folder.path() / "jobs.sqlite";
  {
    auto database = open_sqlite({.file = file}).value();
    const auto made = transact(*database, Database::Access::write,
                               [](Ledger& ledger) { return submit(ledger, Policy{}, {.id = "job_1"}); });
    ASSERT_TRUE(made);
  }
  std::vector<Migration> later(sqlite_migrations().begin(), sqlite_migrations().end());
  const int newest = later.back().version;
  later.push_back({newest + 1, "ALTER TABLE jobs ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"});
  later.push_back({newest + 2, "CREATE TABLE extra (a); UPDATE jobs SET colour = 'blue'"});
  const auto connection = SqliteConnection::open({.file = file}, false).value();
  const auto number = [&](const char* sql) {
    auto found = connection->statement(sql);
    EXPECT_TRUE(found.step().value());
    return found.number();
  };

  std::vector<Migration> broken = later;
  broken.back().sql = "CREATE TABLE extra (a); UPDATE nothing SET colour = 'blue'";
  EXPECT_FALSE(migrate(*connection, broken, "here"));
  EXPECT_EQ(number("PRAGMA user_version"), newest) << "all of it or nothing";
  EXPECT_EQ(number("SELECT count(*) FROM pragma_table_info('jobs') WHERE name = 'colour'"), 0);

  ASSERT_TRUE(migrate(*connection, later, "here"));
  EXPECT_EQ(number("PRAGMA user_version"), newest + 2);
  EXPECT_EQ(number("SELECT count(*) FROM jobs WHERE id = 'job_1' AND colour = 'blue'"), 1);
  ASSERT_TRUE(migrate(*connection, later, "here")) << "a second time there is nothing to do";
  EXPECT_EQ(refused(file).kind, ErrorKind::conflict) << "this program is the older one now";
}

TEST(Sqlite, ManyOpenANewFileAtOnce) {
  const TempFolder folder;
  const auto file = folder.path() / "jobs.sqlite";
  std::atomic<int> opened = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        auto database = open_sqlite({.file = file});
        EXPECT_TRUE(database) << database.error().for_log;
        opened += database ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(opened, 4);
}

TEST(Sqlite, AFileThatOthersHoldIsUnavailableForWritingAlone) {
  const TempFolder folder;
  const auto file = folder.path() / "jobs.sqlite";
  auto database = open_sqlite({.file = file, .busy_timeout = std::chrono::milliseconds(5)}).value();
  const auto submit_it = [&](const std::string& id) {
    return transact(*database, Database::Access::write,
                    [&](Ledger& ledger) { return submit(ledger, Policy{}, {.id = id}); });
  };
  ASSERT_TRUE(submit_it("job_1"));
  Stranger other(file);
  other.run("BEGIN IMMEDIATE");
  const auto refused_one = submit_it("job_2");
  ASSERT_FALSE(refused_one);
  EXPECT_EQ(refused_one.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(refused_one.error().for_caller, HasSubstr("another process"));
  const auto seen = transact(*database, Database::Access::read, [](Ledger& ledger) { return ledger.job("job_1"); });
  EXPECT_TRUE(seen.value()) << "readers do not wait";
  other.run("ROLLBACK");
  EXPECT_TRUE(submit_it("job_2"));
}

TEST(Sqlite, ReadersCannotWrite) {
  const TempFolder folder;
  auto database = open_sqlite({.file = folder.path() / "jobs.sqlite"}).value();
  const auto done = transact(*database, Database::Access::read,
                             [](Ledger& ledger) { return submit(ledger, Policy{}, {.id = "job_1"}); });
  EXPECT_FALSE(done);
  const auto seen = transact(*database, Database::Access::read, [](Ledger& ledger) { return ledger.job("job_1"); });
  EXPECT_EQ(seen.value(), std::nullopt);
}

}  // namespace
}  // namespace lectern::job
