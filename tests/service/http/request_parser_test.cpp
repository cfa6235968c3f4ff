#include "service/http/request_parser.h"

#include <gtest/gtest.h>

namespace lectern::service::http {
namespace {

struct Read {
  std::string method;
  std::string target;
  std::string body;
  std::string left;  // what belongs to the next request
  std::string problem;
  bool done = false;
  bool operator==(const Read&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Read& read) {
  return out << read.method << ' ' << read.target << " body '" << read.body << "' left '" << read.left << "' problem '"
             << read.problem << "' done " << read.done;
}

// As a connection does it, with bytes arriving `step` at a time and room for `room` bytes at a time.
Read read_in_steps(std::string_view bytes, std::size_t step, std::size_t room) {
  RequestParser parser;
  Read read;
  bool head = false;
  for (;;) {
    if (!head) {
      auto taken = parser.read_head(read.left);
      if (!taken) {
        read.problem = about(taken.error().code).name;
        return read;
      }
      if (*taken) {
        head = true;
        read.left.erase(0, **taken);
        read.method = parser.head().method;
        read.target = parser.head().target;
      }
    }
    while (head && !parser.body_done() && !read.left.empty()) {
      std::string piece;
      auto taken = parser.read_body(read.left, piece, room);
      if (!taken) {
        read.problem = about(taken.error().code).name;
        return read;
      }
      EXPECT_LE(piece.size(), room);
      read.body += piece;
      read.left.erase(0, *taken);
      if (*taken == 0 && piece.empty()) break;
    }
    if (bytes.empty()) break;
    read.left += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  read.done = head && parser.body_done();
  return read;
}

Read read_all(std::string_view bytes) {
  const Read whole = read_in_steps(bytes, bytes.size(), 64 * 1024);
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    for (const std::size_t room : {std::size_t{1}, std::size_t{3}, std::size_t{4096}}) {
      const Read again = read_in_steps(bytes, step, room);
      if (whole.problem.empty()) {
        EXPECT_EQ(again, whole) << "in steps of " << step << " with room for " << room;
      } else {
        EXPECT_EQ(again.problem, whole.problem) << "in steps of " << step << " with room for " << room;
      }
    }
  }
  return whole;
}

TEST(RequestParser, AHeadAlone) {
  const Read read = read_all("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\nGET /next");
  EXPECT_EQ(read,
            (Read{.method = "GET", .target = "/a?b", .body = "", .left = "GET /next", .problem = "", .done = true}));
}

TEST(RequestParser, AnAbsoluteTargetBecomesAPath) {
  EXPECT_EQ(read_all("GET http://x:80/a?b HTTP/1.1\r\nHost: x:80\r\n\r\n").target, "/a?b");
  EXPECT_EQ(read_all("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n").target, "/");
  EXPECT_EQ(read_all("GET http://x?q HTTP/1.1\r\nHost: x\r\n\r\n").target, "/?q");
}

TEST(RequestParser, ASizedBody) {
  const Read read = read_all("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloNEXT");
  EXPECT_EQ(read.body, "hello");
  EXPECT_EQ(read.left, "NEXT");
  EXPECT_TRUE(read.done);
}

TEST(RequestParser, AnEmptyLineBeforeARequestIsPassedOver) {
  EXPECT_EQ(read_all("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n").method, "GET");
}

TEST(RequestParser, ChunksWithExtensionsAndTrailers) {
  const Read read = read_all(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;a=b\r\nhello\r\nB\r\n wide world\r\n0\r\nX-Trailer: y\r\n\r\nNEXT");
  EXPECT_EQ(read.body, "hello wide world");
  EXPECT_EQ(read.left, "NEXT");
  EXPECT_TRUE(read.done);
}

TEST(RequestParser, BrokenChunksAreRefused) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string_view body : {"x\r\nhello\r\n", "5\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n",
                                      "0x5\r\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", " 5\r\nhello\r\n",
                                      "fffffffffffffffff\r\nhello\r\n", "5\r\nhello\n0\r\n\r\n", "5 5\r\nhello\r\n"}) {
    EXPECT_EQ(read_all(head + std::string(body)).problem, "bad_request") << body;
  }
}

TEST(RequestParser, ALineOfAChunkMustEnd) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(read_in_steps(head + "5;" + std::string(20'000, 'a'), 4'096, 100).problem, "bad_request");
  EXPECT_EQ(read_in_steps(head + "0\r\nX: " + std::string(20'000, 'a'), 4'096, 100).problem, "bad_request");
}

TEST(RequestParser, LongHeadsAreRefused) {
  const std::string line = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
  EXPECT_EQ(read_in_steps(line + std::string(20'000, 'a'), 4'096, 1).problem, "headers_too_large");
  EXPECT_EQ(read_in_steps(line + std::string(20'000, 'a') + "\r\n\r\n", 50'000, 1).problem, "headers_too_large");
  EXPECT_EQ(read_in_steps("GET /" + std::string(10'000, 'a'), 4'096, 1).problem, "uri_too_long");
}

TEST(RequestParser, WhatTheHeadSays) {
  const auto head_of = [](std::string_view bytes) {
    RequestParser parser;
    EXPECT_TRUE(parser.read_head(bytes).value_or(std::nullopt).has_value()) << bytes;
    return parser.head();
  };
  EXPECT_TRUE(head_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n").keep_alive);
  EXPECT_FALSE(head_of("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").keep_alive);
  EXPECT_FALSE(head_of("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(head_of("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
  const RequestHead upload =
      head_of("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nExpect: 100-continue\r\nX-Name: v\r\n\r\n");
  EXPECT_EQ(upload.content_length, 12);
  EXPECT_TRUE(upload.has_body);
  EXPECT_TRUE(upload.expects_continue);
  EXPECT_EQ(upload.fields.find("x-name"), "v");
}

}  // namespace
}  // namespace lectern::service::http
