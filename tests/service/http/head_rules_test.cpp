#include "service/http/head_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace lectern::service::http {
namespace {

std::string code_of(std::string_view head) {
  const auto broken = broken_rule(head);
  return broken ? std::string(about(broken->code).name) : "";
}

TEST(HeadRules, WhatIsFine) {
  const std::string_view fine[] = {
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /x?y=%20 HTTP/1.1\r\nHost: a.example:8080\r\nAccept:\t*/*  \r\nX-Empty:\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\nExpect: 100-Continue\r\n\r\n",
      "GET http://A/x HTTP/1.1\r\nHost: a\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX-Latin: caf\xe9\r\n\r\n",
  };
  for (const std::string_view head : fine) EXPECT_EQ(code_of(head), "") << head;
}

struct Case {
  std::string_view name;
  std::string head;
  std::string_view code = "bad_request";
};

TEST(HeadRules, WhatIsRefused) {
  const std::string start = "POST / HTTP/1.1\r\nHost: a\r\n";
  const Case cases[] = {
      {"two lengths", start + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"},
      {"the same length twice", start + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"},
      {"a list of lengths", start + "Content-Length: 5, 5\r\n\r\n"},
      {"a negative length", start + "Content-Length: -5\r\n\r\n"},
      {"a length with a sign", start + "Content-Length: +5\r\n\r\n"},
      {"a length in hex", start + "Content-Length: 0x5\r\n\r\n"},
      {"an empty length", start + "Content-Length:\r\n\r\n"},
      {"a length beyond numbers", start + "Content-Length: 99999999999999999999\r\n\r\n"},
      {"length and coding", start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"coding and length", start + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"},
      {"coding twice", start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"an unknown coding", start + "Transfer-Encoding: gzip\r\n\r\n"},
      {"a list of codings", start + "Transfer-Encoding: gzip, chunked\r\n\r\n"},
      {"identity", start + "Transfer-Encoding: identity\r\n\r\n"},
      {"a coding with a parameter", start + "Transfer-Encoding: chunked;q=1\r\n\r\n"},
      {"a coding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"a blank before the colon", start + "Content-Length : 5\r\n\r\n"},
      {"a tab before the colon", start + "Transfer-Encoding\t: chunked\r\n\r\n"},
      {"a folded line", start + "X-A: b\r\n c\r\n\r\n"},
      {"a folded first line", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"},
      {"a name with a control character", start + "X\x01: b\r\n\r\n"},
      {"an empty name", start + ": b\r\n\r\n"},
      {"no colon", start + "X-A\r\n\r\n"},
      {"a control character in a value", start + "X-A: b\x0b\r\n\r\n"},
      {"a bare LF", "POST / HTTP/1.1\r\nHost: a\nContent-Length: 5\r\n\r\n"},
      {"a bare CR", start + "X-A: b\rTransfer-Encoding: chunked\r\n\r\n"},
      {"a NUL", start + std::string("X-A: b\0c\r\n\r\n", 12)},
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
      {"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
      {"a Host that is a URL", "GET / HTTP/1.1\r\nHost: http://a/\r\n\r\n"},
      {"a Host with a user", "GET / HTTP/1.1\r\nHost: b@a\r\n\r\n"},
      {"a Host with a bad port", "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n"},
      {"another host in the target", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a user in the target", "GET http://a@b/ HTTP/1.1\r\nHost: b\r\n\r\n"},
      {"another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"an authority", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"},
      {"an asterisk", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a target that is not ASCII", "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"two blanks", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a blank in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no version", "GET /\r\nHost: a\r\n\r\n"},
      {"version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n"},
      {"a method that is none", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"another version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "http_version"},
      {"an older version", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", "http_version"},
      {"another expectation", start + "Expect: wonders\r\n\r\n", "expectation_failed"},
      {"a long target", "GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", "uri_too_long"},
  };
  for (const Case& c : cases) EXPECT_EQ(code_of(c.head), c.code) << c.name;
}

TEST(HeadRules, TooManyFields) {
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 100; ++i) head += "X-A: b\r\n";
  EXPECT_EQ(code_of(head + "\r\n"), "headers_too_large");
}

TEST(HeadRules, OtherProtocolsAreToldApartEarly) {
  EXPECT_TRUE(could_be_head("GET / HTT"));
  EXPECT_TRUE(could_be_head("GET / HTTP/1.1\r\nHost: a\r"));
  EXPECT_FALSE(could_be_head("\x16\x03\x01\x02"));  // TLS
  EXPECT_FALSE(could_be_head("GET / HTTP/1.1\nHost: a\n\n"));
  EXPECT_FALSE(could_be_head(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace lectern::service::http
