// Waiting and working, kept apart: an EventLoop runs coroutines that wait (renderers, servers, timers); a CpuPool runs
// what takes CPU time. Neither may block the other: never compute on the loop, never wait on the pool.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace lectern {

// A fixed number of threads for CPU work. Destruction waits for the work in hand.
class CpuPool {
 public:
  // 0 = one a core.
  explicit CpuPool(int threads = 0);
  ~CpuPool();
  CpuPool(const CpuPool&) = delete;
  CpuPool& operator=(const CpuPool&) = delete;

  int threads() const { return threads_; }

  // Runs `work` on the pool and resumes the caller on its own executor with the value. An exception thrown by `work`
  // is rethrown to the caller.
  template <class Work>
  boost::asio::awaitable<std::invoke_result_t<Work>> run(Work work);
  // Runs `work` some time; nobody waits for it but the destructor. For what must not be done on the loop, such as
  // removing a file.
  void post(std::function<void()> work);

 private:
  int threads_;
  boost::asio::thread_pool pool_;
};

int hardware_threads();  // cores this process may use (respects affinity), at least 1

// Awaits something that ends on another thread: `start` is given a function to call once, from any thread, with the
// value. The caller resumes on its own executor.
template <class T, class Start>
boost::asio::awaitable<T> await_elsewhere(Start start) {
  struct Outcome {
    std::optional<T> value;
    std::mutex posting;  // held by the other thread until it has let go of the executor
  };
  auto initiate = [](auto handler, Start begin) {
    // std::function needs a copyable target; the handler is move-only.
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    auto executor = boost::asio::get_associated_executor(*shared);
    begin([shared, executor](T value) {
      auto outcome = std::make_shared<Outcome>();
      outcome->value.emplace(std::move(value));
      const std::lock_guard lock(outcome->posting);
      boost::asio::post(executor, [shared, outcome] { std::move (*shared)(outcome); });
    });
  };
  const auto token = boost::asio::use_awaitable;
  std::shared_ptr<Outcome> outcome =
      co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(std::shared_ptr<Outcome>)>(
          std::move(initiate), token, std::move(start));
  // The caller may destroy the loop next; post() must have returned by then.
  {
    const std::lock_guard posted(outcome->posting);
  }
  co_return std::move(*outcome->value);
}

template <class Work>
boost::asio::awaitable<std::invoke_result_t<Work>> CpuPool::run(Work work) {
  using T = std::invoke_result_t<Work>;
  static_assert(!std::is_void_v<T>, "return something: a Status, if there is nothing else to say");
  using Ended = std::expected<T, std::exception_ptr>;
  auto task = std::make_shared<Work>(std::move(work));  // std::function copies; work may not be copyable
  auto start = [this, task](auto done) {
    post([task, done] {
      std::optional<Ended> ended;
      try {
        ended.emplace(std::in_place, (*task)());
      } catch (...) {  // not swallowed: rethrown in the awaiting coroutine
        ended.emplace(std::unexpect, std::current_exception());
      }
      done(std::move(*ended));
    });
  };
  Ended ended = co_await await_elsewhere<Ended>(std::move(start));
  if (!ended) std::rethrow_exception(ended.error());
  co_return std::move(*ended);
}

}  // namespace lectern
