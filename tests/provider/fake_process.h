// The program of fake_process_main.cpp as a provider, and the pipe through which it tells what it does.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/timers.h"
#include "base/unique_fd.h"
#include "provider/process.h"
#include "temp_folder.h"

namespace lectern::provider {

// "begun" and "ended" of the fake program, counted.
class FakeEvents {
 public:
  explicit FakeEvents(const std::string& fifo) {
    EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    fd_ = UniqueFd(open(fifo.c_str(), O_RDWR | O_CLOEXEC));  // a writer of our own: no end of file between programs
  }
  // Blocks until it was told so often; false after a minute without.
  bool await(const std::string& what, int count) {
    for (;;) {
      int found = 0;
      for (std::size_t at = 0; (at = text_.find(what + "\n", at)) != std::string::npos; ++at) ++found;
      if (found >= count) return true;
      pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, 60'000) <= 0) return false;
      char bytes[256];
      const ssize_t got = read(fd_.get(), bytes, sizeof bytes);
      if (got > 0) text_.append(bytes, static_cast<std::size_t>(got));
    }
  }

 private:
  UniqueFd fd_;
  std::string text_;
};

inline std::unique_ptr<Provider> fake_provider(Timers& timers, std::vector<std::string> arguments,
                                               ProcessOptions options = {}) {
  options.command = {LECTERN_BIN_DIR "/fake_process"};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  auto made = make_process_provider(timers, std::move(options));
  if (!made) throw std::runtime_error(made.error().for_log);
  return std::move(*made);
}

}  // namespace lectern::provider
