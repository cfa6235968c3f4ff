// Runs coroutines against a pool, and counts what must not leak.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>

#include "document/renderer_pool.h"

namespace lectern::document {

// Runs one coroutine to its end on the context.
template <class T>
T run(boost::asio::io_context& context, boost::asio::awaitable<T> work) {
  std::optional<T> outcome;
  boost::asio::co_spawn(context, std::move(work), [&](const std::exception_ptr& thrown, T value) {
    if (thrown) std::rethrow_exception(thrown);
    outcome.emplace(std::move(value));
  });
  context.restart();
  while (!outcome && context.run_one() > 0) {
  }
  if (!outcome) throw std::runtime_error("the coroutine never ended");
  return std::move(*outcome);
}

inline int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// Children of this process, living or dead: a zombie is one too.
inline int children() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream status(entry.path() / "stat");
    std::string text;
    std::getline(status, text, '\0');
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    char state = 0;
    int parent = 0;
    if (std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) == 2 && parent == getpid()) ++count;
  }
  return count;
}

}  // namespace lectern::document
