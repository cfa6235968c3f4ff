// Runs one coroutine on an event loop from a thread that has nothing else to do.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace lectern::cli {

// Returns when `work` is done, whatever else waits on the loop; that goes on with the next call.
template <class T>
T run_on(boost::asio::io_context& loop, boost::asio::awaitable<T> work) {
  std::optional<T> result;
  std::exception_ptr failure;
  boost::asio::co_spawn(loop, std::move(work), [&](std::exception_ptr error, T value) {
    failure = std::move(error);
    result = std::move(value);
    loop.stop();
  });
  loop.run();
  loop.restart();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

}  // namespace lectern::cli
