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

template <class Work>
boost::asio::awaitable<std::invoke_result_t<Work>> CpuPool::run(Work work) {
  using T = std::invoke_result_t<Work>;
  static_assert(!std::is_void_v<T>, "return something: a Status, if there is nothing else to say");
  struct Outcome {
    std::optional<T> value;
    std::exception_ptr exception;
    std::mutex posting;  // held by the worker until it has let go of the executor
  };
  auto initiate = [this](auto handler, Work inner) {
    // std::function needs a copyable target; the handler is move-only.
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    auto task = std::make_shared<Work>(std::move(inner));
    auto executor = boost::asio::get_associated_executor(*shared);
    post([shared, task, executor] {
      auto outcome = std::make_shared<Outcome>();
      try {
        outcome->value.emplace((*task)());
      } catch (...) {  // not swallowed: rethrown in the awaiting coroutine
        outcome->exception = std::current_exception();
      }
      const std::lock_guard lock(outcome->posting);
      boost::asio::post(executor, [shared, outcome] { std::move (*shared)(outcome); });
    });
  };
  const auto token = boost::asio::use_awaitable;
  std::shared_ptr<Outcome> outcome =
      co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(std::shared_ptr<Outcome>)>(
          std::move(initiate), token, std::move(work));
  // The caller may destroy the loop next; post() must have returned by then.
  {
    const std::lock_guard posted(outcome->posting);
  }
  if (outcome->exception) std::rethrow_exception(outcome->exception);
  co_return std::move(*outcome->value);
}

}  // namespace lectern
