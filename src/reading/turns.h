// Documents finish in any order; their results go to one output in the order of the command.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <map>
#include <memory>
#include <set>

#include "reading/waiter.h"

namespace lectern::reading {

// Not thread safe: all calls come from one event loop thread.
class Turns {
 public:
  explicit Turns(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Waits until every smaller number is done; false when closed instead.
  boost::asio::awaitable<bool> wait(int number);
  // Each number once, in any order, also those that never waited.
  void done(int number);
  void close();

 private:
  boost::asio::any_io_executor executor_;
  int next_ = 0;
  bool closed_ = false;
  std::set<int> done_;  // those above next_
  std::map<int, std::shared_ptr<Waiter>> waiting_;
};

}  // namespace lectern::reading
