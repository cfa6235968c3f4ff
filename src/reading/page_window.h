// How many pages are being read at once over all documents of a run. A page enters before it is read and leaves when
// its result is journalled, so memory is bounded by the window, however many documents are open. Earlier documents go
// first: later ones fill the window only when earlier ones cannot.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "reading/waiter.h"

namespace lectern::reading {

// Not thread safe: all calls come from one event loop thread.
class PageWindow {
 public:
  // `pages_max` is asked again whenever a page enters or leaves.
  PageWindow(boost::asio::any_io_executor executor, std::function<int()> pages_max);

  // Leaves the window when it goes.
  class Place {
   public:
    Place() = default;
    explicit Place(PageWindow& window) : window_(&window) {}
    ~Place() {
      if (window_ != nullptr) window_->leave();
    }
    Place(Place&& other) noexcept : window_(std::exchange(other.window_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    explicit operator bool() const { return window_ != nullptr; }

   private:
    PageWindow* window_ = nullptr;
  };

  // Waits for a place. No place is given once the window is closed.
  boost::asio::awaitable<Place> enter(int document_index);
  void close();
  int inside() const { return inside_; }

 private:
  void leave();
  void admit();
  bool has_room() const { return inside_ < std::max(1, pages_max_()); }

  boost::asio::any_io_executor executor_;
  const std::function<int()> pages_max_;
  int inside_ = 0;
  bool closed_ = false;
  std::multimap<int, std::shared_ptr<Waiter>> waiting_;  // by document; equal keys in the order they came
};

}  // namespace lectern::reading
