// Which database a URL names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/store.h"
#include "temp_folder.h"

namespace lectern::job {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OpenDatabase, FoldersAndFiles) {
  const TempFolder folder;
  const std::string root = folder.path().string();
  std::filesystem::create_directories(root + "/there");
  const std::pair<std::string, std::string> cases[] = {
      {"", root + "/data/jobs.sqlite"},
      {root + "/new/folder", root + "/new/folder/jobs.sqlite"},
      {root + "/there", root + "/there/jobs.sqlite"},
      {"sqlite:" + root + "/other.db", root + "/other.db"},
      {"sqlite://" + root + "/slashes.db", root + "/slashes.db"},
      {"sqlite:" + root + "/there", root + "/there/jobs.sqlite"},
  };
  for (const auto& [url, file] : cases) {
    SCOPED_TRACE(url);
    const auto opened = open_database(url, root + "/data");
    ASSERT_TRUE(opened) << opened.error().for_log;
    EXPECT_EQ((*opened)->description(), "SQLite, " + file);
    EXPECT_TRUE(std::filesystem::exists(file));
  }
}

TEST(OpenDatabase, WhoeverOnlyLooksMakesNothing) {
  const TempFolder folder;
  const std::string root = folder.path().string();
  for (const std::string& url : {std::string(), root + "/new", "sqlite:" + root + "/other.db"}) {
    SCOPED_TRACE(url);
    const auto opened = open_database(url, root + "/data", IfAbsent::fail);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::not_found);
    EXPECT_THAT(opened.error().for_caller, HasSubstr("there is no job store at " + root));
  }
  EXPECT_TRUE(std::filesystem::is_empty(root));
  open_database("", root + "/data").value().reset();
  EXPECT_TRUE(open_database("", root + "/data", IfAbsent::fail));
}

TEST(OpenDatabase, WhatIsNoStoreIsRefusedWithoutRepeatingPasswords) {
  const TempFolder folder;
  const std::string file = folder.write("file.txt", "x").string();
  const std::pair<std::string, std::string> cases[] = {
      {"mysql://me:hush@host/db", "mysql"},
      {"sqlite://host/hush", "sqlite:/"},
      {"sqlite:", "sqlite:/"},
      {file, "write sqlite:"},
      {file + "/below", "file.txt"},
  };
  for (const auto& [url, named] : cases) {
    SCOPED_TRACE(url);
    const auto opened = open_database(url, "");
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().for_caller, HasSubstr(named));
    EXPECT_THAT(opened.error().for_log, Not(HasSubstr("hush")));
  }
  EXPECT_EQ(open_database("", "").error().kind, ErrorKind::invalid_input);
}

}  // namespace
}  // namespace lectern::job
