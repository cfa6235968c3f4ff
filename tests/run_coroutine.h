// Runs a coroutine to its end on a loop of its own and returns what it gave.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace lectern {

template <class T>
T run_coroutine(boost::asio::io_context& loop, boost::asio::awaitable<T> coroutine) {
  std::optional<T> result;
  std::exception_ptr failure;
  boost::asio::co_spawn(loop, std::move(coroutine), [&](std::exception_ptr error, T value) {
    failure = error;
    result.emplace(std::move(value));
  });
  loop.restart();
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

}  // namespace lectern
