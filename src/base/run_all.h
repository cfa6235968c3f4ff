// Several coroutines at once, and one that waits for all of them.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <vector>

namespace lectern {

// Starts them on the caller's executor and returns when the last has ended. What one of them throws is rethrown then,
// not before: nobody is left running with what belongs to the caller. `on_failure` is called as soon as one throws, to
// tell the others to stop.
boost::asio::awaitable<void> run_all(std::vector<boost::asio::awaitable<void>> coroutines,
                                     std::function<void()> on_failure = {});

}  // namespace lectern
