#include "provider/web_address.h"

#include <gtest/gtest.h>

#include "provider/retry_after.h"

namespace lectern::provider {
namespace {

TEST(WebAddress, IsTakenApart) {
  const auto address = parse_web_address("HTTPS://User:Pass@Example.COM/some/file.pdf?x=1#part");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->scheme, "https");
  EXPECT_EQ(address->host, "example.com");
  EXPECT_EQ(address->port, 443);
  EXPECT_EQ(address->path, "/some/file.pdf");
  EXPECT_TRUE(address->credentials);
  EXPECT_EQ(address->url.find("Pass"), std::string::npos) << address->url;
  EXPECT_EQ(address->url.find('#'), std::string::npos) << address->url;

  const auto plain = parse_web_address("http://[::1]:8080");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "::1");
  EXPECT_EQ(plain->port, 8080);
  EXPECT_EQ(plain->path, "/");
  EXPECT_FALSE(plain->credentials);
}

TEST(WebAddress, IsNothingElse) {
  for (const std::string text : {"", "example.com", "ftp://example.com/", "file:///etc/passwd", "gopher://x/",
                                 "http://", "http://a b/", "http://host:99999/", "javascript:alert(1)", "//host/x",
                                 "dict://127.0.0.1:11211/stats", "http://exa mple.com"}) {
    const auto address = parse_web_address(text);
    ASSERT_FALSE(address) << text << " -> " << address->url;
    EXPECT_EQ(address.error().kind, ErrorKind::invalid_input);
  }
}

TEST(WebAddress, FollowsRedirects) {
  const auto from = parse_web_address("https://example.com/a/b?c");
  ASSERT_TRUE(from);
  EXPECT_EQ(redirected(*from, "d e")->url, "https://example.com/a/d%20e");
  EXPECT_EQ(redirected(*from, "/d")->url, "https://example.com/d");
  EXPECT_EQ(redirected(*from, "//other.example/d")->host, "other.example");
  EXPECT_EQ(redirected(*from, "http://other.example")->scheme, "http");
  EXPECT_TRUE(redirected(*from, "https://u:p@other.example/")->credentials);
  EXPECT_FALSE(redirected(*from, "ftp://other.example/"));
  EXPECT_FALSE(redirected(*from, "file:///etc/passwd"));
}

TEST(WebAddress, DecodesPercents) {
  EXPECT_EQ(percent_decoded("a%20b%C3%A9"), "a b\xC3\xA9");
  EXPECT_EQ(percent_decoded("100%"), "100%");
}

TEST(RetryAfter, IsSecondsOrADate) {
  using namespace std::chrono_literals;
  const WallTime now = WallTime(std::chrono::seconds(1794721775));
  EXPECT_EQ(retry_after("120", now), 120s);
  EXPECT_EQ(retry_after("Sun, 15 Nov 2026 05:50:35 GMT", now), 60s);
  EXPECT_EQ(retry_after("Sun, 15 Nov 2020 05:50:35 GMT", now), 0s);
  EXPECT_EQ(retry_after("-5", now), 0s);
  EXPECT_EQ(retry_after("1e9", now), 24h);
  EXPECT_EQ(retry_after("", now), std::nullopt);
  EXPECT_EQ(retry_after("soon", now), std::nullopt);
}

}  // namespace
}  // namespace lectern::provider
