#include "reading/turns.h"

namespace lectern::reading {

boost::asio::awaitable<bool> Turns::wait(int number) {
  if (closed_) co_return false;
  if (number == next_) co_return true;
  auto waiter = std::make_shared<Waiter>(executor_);  // shared with waiting_
  waiting_.emplace(number, waiter);
  co_return co_await waiter->wait();
}

void Turns::done(int number) {
  done_.insert(number);
  while (done_.erase(next_) > 0) ++next_;
  if (const auto turn = waiting_.find(next_); turn != waiting_.end()) {
    turn->second->wake(true);
    waiting_.erase(turn);
  }
}

void Turns::close() {
  closed_ = true;
  for (const auto& [number, waiter] : waiting_) waiter->wake(false);
  waiting_.clear();
}

}  // namespace lectern::reading
