#include "reading/model/page_gate.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <vector>

namespace lectern::reading {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> come_in(std::shared_ptr<PageGate> gate, std::vector<PageGate::Place>* places) {
  places->push_back(co_await gate->enter());
}

TEST(PageGate, LetsInAsManyAsItsBoundSaysAtTheTime) {
  asio::io_context loop;
  int pages_max = 2;
  const auto gate = std::make_shared<PageGate>([&] { return pages_max; });
  std::vector<PageGate::Place> places;
  places.reserve(16);
  for (int i = 0; i < 6; ++i) asio::co_spawn(loop, come_in(gate, &places), asio::detached);
  const auto settle = [&loop] {
    loop.restart();
    loop.poll();
  };
  settle();
  EXPECT_EQ(gate->inside(), 2);
  places.back().leave();
  settle();
  EXPECT_EQ(places.size(), 3U) << "a place that was left is taken";
  pages_max = 4;
  settle();
  EXPECT_EQ(gate->inside(), 2) << "nobody told it";
  gate->changed();
  settle();
  EXPECT_EQ(gate->inside(), 4);
  pages_max = 1;
  gate->changed();
  settle();
  EXPECT_EQ(gate->inside(), 4) << "nobody is thrown out";
  places.clear();
  settle();
  EXPECT_EQ(places.size(), 1U) << "the last one";
}

}  // namespace
}  // namespace lectern::reading
