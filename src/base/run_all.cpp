#include "base/run_all.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <memory>
#include <utility>

#include "base/channel.h"

namespace lectern {

namespace asio = boost::asio;

asio::awaitable<void> run_all(std::vector<asio::awaitable<void>> coroutines, std::function<void()> on_failure) {
  const auto executor = co_await asio::this_coro::executor;
  const std::size_t count = coroutines.size();
  // Shared with those that run: they may end after the caller was destroyed together with its loop.
  const auto ended = std::make_shared<Channel<std::exception_ptr>>(count);
  for (asio::awaitable<void>& coroutine : coroutines) {
    asio::co_spawn(executor, std::move(coroutine), [ended, on_failure](std::exception_ptr failure) {
      if (failure && on_failure) on_failure();
      ended->try_send(std::move(failure));
    });
  }
  std::exception_ptr first;
  for (std::size_t i = 0; i < count; ++i) {
    const auto failure = co_await ended->receive();
    if (!first) first = *failure;
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace lectern
