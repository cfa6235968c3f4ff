// How many pages are being prepared or asked about at once: the engines' limit, which moves, and a little more. Pages
// beyond it wait before anything of them is in memory.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "reading/waiter.h"

namespace lectern::reading {

// enter() and places belong to one event loop's thread; changed() is safe from any.
class PageGate : public std::enable_shared_from_this<PageGate> {
 public:
  explicit PageGate(std::function<int()> pages_max) : pages_max_(std::move(pages_max)) {}

  class Place {
   public:
    explicit Place(std::shared_ptr<PageGate> gate) : gate_(std::move(gate)) {}
    ~Place() { leave(); }
    Place(Place&&) noexcept = default;
    Place& operator=(Place&&) = delete;
    void leave() {
      if (const auto gate = std::exchange(gate_, nullptr)) gate->left();
    }

   private:
    std::shared_ptr<PageGate> gate_;  // shared: a place may outlive the reader's own hold by a moment
  };

  boost::asio::awaitable<Place> enter();
  void changed();
  int inside() const { return inside_; }

 private:
  void left();
  void admit();

  const std::function<int()> pages_max_;
  int inside_ = 0;
  std::deque<std::shared_ptr<Waiter>> waiting_;
  std::mutex executor_mutex_;
  std::optional<boost::asio::any_io_executor> executor_;  // guarded by executor_mutex_; known once a page came
};

}  // namespace lectern::reading
