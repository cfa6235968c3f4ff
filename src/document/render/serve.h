// The renderer's side of the conversation (protocol.h): takes calls from the socket one at a time, asks the backend,
// and answers. Runs after the sandbox is closed; single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"
#include "document/render/backend.h"
#include "document/render/process_contract.h"
#include "document/sandbox_report.h"

namespace lectern::document {

struct ServeOptions {
  int socket_fd = renderer_socket_fd;
  int window_fd = renderer_window_fd;
  std::uint64_t window_bytes = 0;
  std::function<Result<std::unique_ptr<Backend>>(const OpenOptions&)> open;  // open_backend, or a test's own
  std::function<void()> before_call = [] {};
};

// In place of the hello: why this renderer cannot start.
void send_start_error(const ServeOptions& options, const Error& error);

// Says hello with the sandbox's report, then serves until the host hangs up. Returns the exit status: 0 when the host
// hung up between two calls, 1 when it broke the protocol.
int serve(const ServeOptions& options, const SandboxReport& report);

}  // namespace lectern::document
