#include "service/auth.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/timers.h"
#include "job/memory/memory_database.h"
#include "run_coroutine.h"

namespace lectern::service {
namespace {

TEST(Keys, ScopesAreWordsThatAreKnown) {
  EXPECT_EQ(parse_scopes("submit read"), (Scopes{.submit = true, .read = true}));
  EXPECT_EQ(parse_scopes("admin,read"), (Scopes{.read = true, .admin = true}));
  EXPECT_EQ(parse_scopes("write").error().kind, ErrorKind::invalid_input);
  EXPECT_FALSE(parse_scopes(" "));
  EXPECT_EQ(to_string(Scopes{.submit = true, .admin = true}), "submit admin");
}

TEST(Keys, AKeyIsMadeOnceAndKeptAsAHash) {
  SeededRandom random(1);
  const auto made = make_key({.name = "ci", .tenant = "team-a", .scopes = "read"}, random);
  ASSERT_TRUE(made);
  EXPECT_TRUE(is_key_secret(made->secret));
  EXPECT_EQ(made->key.sha256, key_sha256(made->secret));
  EXPECT_EQ(made->key.scopes, "read");
  EXPECT_FALSE(made->key.sha256.contains(made->secret.substr(4)));
  EXPECT_NE(make_key({}, random)->secret, made->secret);
  EXPECT_FALSE(make_key({.tenant = "a b"}, random));
  EXPECT_FALSE(make_key({.scopes = "everything"}, random));
}

http::Fields authorization(std::string value) {
  http::Fields fields;
  fields.add("Authorization", std::move(value));
  return fields;
}

TEST(Auth, TheKeyOfARequest) {
  const std::string secret = "lct_" + std::string(64, 'a');
  EXPECT_EQ(bearer_of({}), std::nullopt);
  EXPECT_EQ(bearer_of(authorization("Bearer " + secret)), secret);
  EXPECT_EQ(bearer_of(authorization("bearer  " + secret)), secret);
  for (const std::string& bad : {std::string("Basic abc"), std::string("Bearer"), "Bearer " + secret + "a",
                                 "Bearer lct_" + std::string(64, 'G'), std::string("Bearer ")}) {
    ASSERT_FALSE(bearer_of(authorization(bad))) << bad;
    EXPECT_EQ(bearer_of(authorization(bad)).error().code, ProblemCode::unauthorized);
  }
}

TEST(Auth, WhatAKeyMeans) {
  job::ApiKey key{.id = "key_1", .tenant = "a", .scopes = "submit"};
  const auto caller = caller_of(key);
  ASSERT_TRUE(caller);
  EXPECT_TRUE(caller->may(Scope::submit));
  EXPECT_FALSE(caller->may(Scope::read));
  EXPECT_TRUE(caller->sees("a"));
  EXPECT_FALSE(caller->sees("b"));
  EXPECT_EQ(caller_of(std::nullopt).error().code, ProblemCode::unauthorized);
  key.revoked_at = 1;
  EXPECT_EQ(caller_of(key).error().code, ProblemCode::unauthorized);
  const auto admin = caller_of(job::ApiKey{.id = "key_2", .tenant = "a", .scopes = "admin"});
  EXPECT_TRUE(admin->may(Scope::submit) && admin->may(Scope::read) && admin->sees("b"));
}

http::Request from(bool local, std::initializer_list<http::Field> fields, std::string peer = "127.0.0.1") {
  http::Request request;
  request.local = local;
  request.peer = std::move(peer);
  for (const http::Field& field : fields) request.fields.add(field.name, field.value);
  return request;
}

TEST(Auth, WithoutAnyKeyOnlyThisMachineIsWelcome) {
  EXPECT_TRUE(nobody_of(from(true, {{"Host", "127.0.0.1:8080"}})));
  EXPECT_TRUE(nobody_of(from(true, {{"Host", "127.1.2.3"}})));
  EXPECT_TRUE(nobody_of(from(true, {{"Host", "LocalHost"}})));
  EXPECT_TRUE(nobody_of(from(true, {{"Host", "[::1]:8080"}})));
  EXPECT_TRUE(nobody_of(from(true, {{"Host", "anything"}}, "unix")));
  EXPECT_TRUE(nobody_of(from(true, {{"Host", "localhost:80"}, {"Origin", "http://localhost:80"}})));
  EXPECT_EQ(nobody_of(from(false, {{"Host", "127.0.0.1"}})).error().code, ProblemCode::unauthorized);
  // A name that somebody has pointed at 127.0.0.1, a proxy, and a page of another site.
  for (const std::string name : {"evil.example", "127.evil.example", "127.0.0.1.nip.io", "127.0.0.1.", "127.",
                                 "10.0.0.1", "[::1].evil.example"}) {
    EXPECT_FALSE(nobody_of(from(true, {{"Host", name + ":8080"}, {"Origin", "http://" + name + ":8080"}}))) << name;
  }
  EXPECT_FALSE(nobody_of(from(true, {{"Host", "localhost"}, {"X-Forwarded-For", "10.0.0.1"}})));
  EXPECT_EQ(nobody_of(from(true, {{"Host", "localhost"}, {"Origin", "http://evil.example"}})).error().code,
            ProblemCode::forbidden);
  EXPECT_FALSE(nobody_of(from(true, {{"Host", "localhost"}, {"Origin", "null"}})));
}

class TestExchange final : public http::Exchange {
 public:
  explicit TestExchange(http::Request request) { request_ = std::move(request); }
  boost::asio::awaitable<std::expected<std::string, Problem>> read_body() override { co_return ""; }
  Cancellation stopping() const override { return {}; }
  Cancellation gone() override { return {}; }
  void set_user(std::string user) override { user_ = std::move(user); }

 private:
  std::string user_;
};

class AuthStoreTest : public testing::Test {
 protected:
  std::string ask(const std::string& secret, Scope scope) {
    http::Request request = from(true, {{"Host", "localhost"}});
    if (!secret.empty()) request.fields.add("Authorization", "Bearer " + secret);
    const auto caller = run_coroutine(loop_, auth_.caller(std::make_shared<TestExchange>(request), scope));
    return caller ? "tenant " + caller->tenant : std::string(about(caller.error().code).name);
  }

  boost::asio::io_context loop_;
  ManualTimers timers_;
  job::Store store_{job::make_memory_database(timers_.clock()), {}, timers_};
  Auth auth_{store_, timers_.clock(), std::chrono::seconds(3)};
};

TEST_F(AuthStoreTest, KeysOpenAndRevokedKeysCloseSoon) {
  EXPECT_EQ(ask("", Scope::admin), "tenant default");  // nobody has made a key yet
  const auto made = run_coroutine(loop_, create_key(&store_, {.tenant = "a", .scopes = "read"}));
  ASSERT_TRUE(made);
  timers_.advance(std::chrono::seconds(4));
  EXPECT_EQ(ask("", Scope::read), "unauthorized");
  EXPECT_EQ(ask(made->secret, Scope::read), "tenant a");
  EXPECT_EQ(ask(made->secret, Scope::submit), "forbidden");
  EXPECT_EQ(ask("lct_" + std::string(64, '0'), Scope::read), "unauthorized");
  ASSERT_TRUE(run_coroutine(loop_, revoke_key(&store_, made->key.id)));
  timers_.advance(std::chrono::seconds(4));
  EXPECT_EQ(ask(made->secret, Scope::read), "unauthorized");
  EXPECT_EQ(ask("", Scope::read), "unauthorized");  // and the store does not open up again
  EXPECT_EQ(run_coroutine(loop_, revoke_key(&store_, "key_none")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(run_coroutine(loop_, auth_.has_working_key()), false);
  EXPECT_EQ(run_coroutine(loop_, list_keys(&store_))->size(), 1U);
}

}  // namespace
}  // namespace lectern::service
