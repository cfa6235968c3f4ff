#include "cli/standard_output.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace lectern::cli {
namespace {

constexpr int patience_ms = 100;  // between looks at the cancellation

}  // namespace

Status StandardOutput::write(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
    const int polled = ::poll(&ready, 1, patience_ms);
    if (cancellation_.requested()) return fail(ErrorKind::cancelled, "stopped");
    if (polled == 0 || (polled < 0 && errno == EINTR)) continue;
    // A pipe that is ready takes PIPE_BUF bytes without blocking, and promises no more.
    const ssize_t written = ::write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) {
      closed_ = errno == EPIPE;
      return fail_errno("cannot write to standard output", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace lectern::cli
