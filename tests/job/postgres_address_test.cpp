// What needs no server: addresses without passwords, and text that PostgreSQL can keep.
#include "job/postgres/postgres_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/postgres/postgres_values.h"

namespace lectern::job {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PostgresAddress, IsDescribedWithoutItsPassword) {
  const auto address = parse_postgres_url("postgresql://me:hu%2Fsh-it@db.example:6543/jobs?sslmode=require");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->description, "PostgreSQL, me@db.example:6543/jobs");
  EXPECT_EQ(address->password, "hu/sh-it");
  EXPECT_EQ(address->discreet("it is hu/sh-it, hu/sh-it"), "it is ***, ***");
  EXPECT_THAT(address->settings, testing::Contains(testing::Pair("sslmode", "require")));
  EXPECT_THAT(address->settings, testing::Contains(testing::Pair("keepalives_idle", "5")));
}

TEST(PostgresAddress, WhatTheUrlSaysIsKept) {
  const auto address = parse_postgres_url("postgres://h/d?keepalives_idle=60&application_name=mine&user=u");
  ASSERT_TRUE(address);
  EXPECT_THAT(address->settings, testing::Contains(testing::Pair("keepalives_idle", "60")));
  EXPECT_THAT(address->settings, testing::Contains(testing::Pair("application_name", "mine")));
  EXPECT_EQ(address->description, "PostgreSQL, u@h:5432/d");
}

TEST(PostgresAddress, AWrongUrlIsRefusedAndNotRepeated) {
  for (const std::string url :
       {"postgresql://me:hush%zz@h/d", "postgresql://me:hush%00@h/d", "postgresql://h/d?password=hush&nonsense=hush",
        "postgresql://[hush/d", "postgresql://me:hush@h:1:2/d?x", "postgresql://me:hush@h/d?=hush"}) {
    SCOPED_TRACE(url);
    const auto address = parse_postgres_url(url);
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(address.error().for_log, HasSubstr("cannot be understood"));
    EXPECT_THAT(address.error().for_log, Not(HasSubstr("hush")));
    EXPECT_THAT(address.error().for_caller, Not(HasSubstr("hush")));
  }
}

TEST(PostgresText, WhatCannotBeKeptIsReplaced) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"plain ü 字 🙂", "plain ü 字 🙂"},
      {"a\0b"s, "a\uFFFDb"},
      {"\xff\xfe", "\uFFFD\uFFFD"},
      {"\xc3", "\uFFFD"},                                // cut off
      {"x\xe5\xad", "x\uFFFD\uFFFD"},                    // cut off
      {"\xc0\x80", "\uFFFD\uFFFD"},                      // too long for what it says
      {"\xe0\x80\x80", "\uFFFD\uFFFD\uFFFD"},            // the same
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},            // half a surrogate pair
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond Unicode
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},          // its last character
  };
  for (const auto& [text, kept] : cases) EXPECT_EQ(storable_text(text), kept);
}

}  // namespace
}  // namespace lectern::job
