#include "engine/sim/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace lectern::sim {
namespace {

constexpr std::size_t keep_bytes_max = 1 << 20;  // of an idle connection's buffer

}  // namespace

bool Connection::receive() {
  static std::array<char, 256 * 1024> buffer;  // one thread; its content never outlives this call
  while (true) {
    const ssize_t count = ::recv(fd(), buffer.data(), buffer.size(), 0);
    if (count == 0) return false;
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    if (needed > in_.capacity()) in_.reserve(needed);
    in_.append(buffer.data(), static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < buffer.size()) return true;
  }
}

void Connection::take(std::size_t bytes) {
  taken_ += bytes;
  if (taken_ < in_.size()) return;
  if (in_.capacity() > keep_bytes_max) in_ = {};
  in_.clear();
  taken_ = 0;
}

void Connection::send(std::string_view bytes) {
  out_ += bytes;
}

bool Connection::flush() {
  while (has_output()) {
    const ssize_t count = ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

}  // namespace lectern::sim
