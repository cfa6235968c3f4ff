#include "provider/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace lectern::provider {
namespace {

using Events = std::vector<std::string>;

Events parse(std::string_view bytes, std::size_t step) {
  SseParser parser;
  Events events;
  const auto collect = [&](std::string_view event) {
    events.emplace_back(event);
    return true;
  };
  for (std::size_t at = 0; at < bytes.size(); at += step) parser.feed(bytes.substr(at, step), collect);
  parser.finish(collect);
  return events;
}

struct Case {
  std::string_view name;
  std::string_view bytes;
  Events events;
};

const Case cases[] = {
    {"two events", "data: a\n\ndata: b\n\n", {"a", "b"}},
    {"no blank after the colon", "data:a\n\n", {"a"}},
    {"only one blank is dropped", "data:  a\n\n", {" a"}},
    {"line ends of the network", "data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"}},
    {"line ends of old", "data: a\r\rdata: b\r\r", {"a", "b"}},
    {"comments keep a connection alive", ":\n\n: ping\n\ndata: a\n:\n\n", {"a"}},
    {"several data lines are one event", "data: {\"a\":\ndata: 1}\n\n", {"{\"a\":\n1}"}},
    {"other fields are passed over", "event: message\nid: 7\nretry: 10\ndata: a\n\n", {"a"}},
    {"a field without data is no event", "event: ping\n\ndata: a\n\n", {"a"}},
    {"an empty data line is an event", "data:\n\ndata\n\n", {"", ""}},
    {"many blank lines", "\n\n\ndata: a\n\n\n\n", {"a"}},
    {"no blank line at the end", "data: a\n\ndata: b\n", {"a", "b"}},
    {"no line end at the end", "data: a\n\ndata: b", {"a", "b"}},
    {"nothing", "", {}},
};

TEST(Sse, CutsOutEventsHoweverTheBytesArrive) {
  for (const Case& c : cases) {
    for (std::size_t step = 1; step <= c.bytes.size() + 1; ++step) {
      SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(step) + " bytes at a time");
      EXPECT_EQ(parse(c.bytes, step), c.events);
    }
  }
}

TEST(Sse, StopsWhenToldTo) {
  SseParser parser;
  Events events;
  const bool went_on = parser.feed("data: a\n\ndata: b\n\n", [&](std::string_view event) {
    events.emplace_back(event);
    return false;
  });
  EXPECT_FALSE(went_on);
  EXPECT_EQ(events, Events{"a"});
}

TEST(Sse, AnEventWithoutEndIsNotKept) {
  const std::string piece(1 << 20, 'x');
  for (const std::string_view opening : {"data: ", "data: a\ndata: "}) {
    SseParser parser;
    const auto take = [](std::string_view) { return true; };
    EXPECT_TRUE(parser.feed(opening, take));
    int pieces = 0;
    while (pieces < 100 && parser.feed(piece, take) && !parser.overlong()) ++pieces;
    EXPECT_LE(pieces, 16);
    EXPECT_FALSE(parser.feed("more\n\n", take));
  }
}

TEST(Sse, ManyEventsAreNotOneLongOne) {
  const std::string event = "data: " + std::string(10 << 20, 'x') + "\n\n";
  SseParser parser;
  int events = 0;
  const auto take = [&](std::string_view) { return ++events > 0; };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(parser.feed(event, take));
  EXPECT_EQ(events, 3);
  EXPECT_FALSE(parser.overlong());
}

}  // namespace
}  // namespace lectern::provider
