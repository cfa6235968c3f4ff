#include "base/places.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <optional>

namespace lectern {
namespace {

namespace asio = boost::asio;
using Place = std::shared_ptr<void>;

class PlacesTest : public testing::Test {
 protected:
  using Asked = std::shared_ptr<std::optional<Place>>;  // nothing while it waits

  Asked ask(Cancellation cancellation = {}) {
    auto asked = std::make_shared<std::optional<Place>>();
    asio::co_spawn(loop_, places_.enter(std::move(cancellation)),
                   [asked](const std::exception_ptr&, Place place) { *asked = std::move(place); });
    settle();
    return asked;
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_;
  Places places_{2};
};

TEST_F(PlacesTest, AreGivenToSoManyAndThenInTurn) {
  const Asked first = ask();
  const Asked second = ask();
  const Asked third = ask();
  const Asked fourth = ask();
  ASSERT_TRUE(*first && *second);
  EXPECT_FALSE(*third || *fourth);
  second->reset();
  settle();
  EXPECT_TRUE(*third && **third);
  EXPECT_FALSE(*fourth);
  first->reset();
  third->reset();
  settle();
  EXPECT_TRUE(*fourth && **fourth);
  EXPECT_TRUE(**ask()) << "one of the two is free again";
}

TEST_F(PlacesTest, WhoGivesUpWaitingTakesNone) {
  const Asked first = ask();
  const Asked second = ask();
  Cancellation leaves;
  const Asked third = ask(leaves);
  const Asked fourth = ask();
  leaves.request();
  settle();
  ASSERT_TRUE(*third);
  EXPECT_EQ(**third, nullptr);
  first->reset();
  settle();
  EXPECT_TRUE(*fourth && **fourth);
  second->reset();
  EXPECT_EQ(**ask(leaves), nullptr) << "not even a free one";
  EXPECT_TRUE(**ask());
}

TEST_F(PlacesTest, APlaceThatCameAsItsOwnerGaveUpIsFreeAgain) {
  const Asked first = ask();
  const Asked second = ask();
  Cancellation leaves;
  const Asked third = ask(leaves);
  first->reset();  // it is the third's now, which has not heard of it
  leaves.request();
  settle();
  EXPECT_TRUE(*third && **third) << "the first counts";
  third->reset();
  EXPECT_TRUE(**ask());
}

}  // namespace
}  // namespace lectern
