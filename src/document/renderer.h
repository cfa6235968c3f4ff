// A renderer that can be talked to: its process, its socket, and one call at a time with a deadline.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "base/error.h"
#include "document/protocol.h"
#include "document/renderer_process.h"

namespace lectern::document {

struct Answer {
  protocol::MessageType type = protocol::MessageType::error;
  protocol::Payload payload;
};

// Why a renderer is of no use any more; it must be thrown away.
struct Broken {
  enum class Why { timed_out, died, broke_protocol, stopped };  // stopped: the pool was closed
  Why why = Why::died;
  ProcessEnd end;
  std::string detail;  // of broke_protocol
};

// `doing` names the document and what was asked: "page 7", "opening it".
Error describe(const Broken& broken, std::string_view doing, const RendererLimits& limits);

struct CallOptions {
  protocol::MessageType type;
  protocol::Payload payload;
  int fd = -1;  // travels along; stays the caller's
  std::chrono::milliseconds timeout;
};

class Renderer {
 public:
  // A new process that has said hello. The error says how to mend the installation. `on_start` is given the process as
  // soon as it exists, so that somebody can kill it while it is still starting.
  static boost::asio::awaitable<Result<std::unique_ptr<Renderer>>> start(
      boost::asio::any_io_executor executor, ProcessOptions options,
      std::function<void(std::shared_ptr<RendererProcess>)> on_start);

  // Sends a call and waits for its answer. After Broken, or when the waiting coroutine is destroyed or cancelled in
  // between, the renderer must not be used again.
  boost::asio::awaitable<std::expected<Answer, Broken>> call(CallOptions options);
  // Sends a call that has no answer; a failure shows at the next call.
  void tell(protocol::MessageType type);

  const SandboxReport& sandbox() const { return sandbox_; }
  RendererProcess& process() { return *process_; }
  // Copies what the window holds to these places, one after the other, and gives the memory behind a large window back.
  Status copy_window(std::span<const std::span<std::uint8_t>> pieces);

 private:
  Renderer(const boost::asio::any_io_executor& executor, std::shared_ptr<RendererProcess> process);
  boost::asio::awaitable<bool> send(protocol::MessageType type, protocol::Payload payload, int fd);
  boost::asio::awaitable<std::expected<Answer, Broken>> receive(std::uint32_t call, std::chrono::milliseconds timeout);
  boost::asio::awaitable<std::expected<Answer, Broken>> receive_message(std::uint32_t call);
  boost::asio::awaitable<void> wait_for_exit();

  boost::asio::any_io_executor executor_;
  RendererLimits limits_;
  SandboxReport sandbox_;
  std::uint32_t last_call_ = 0;
  std::shared_ptr<RendererProcess> process_;  // shared with the deadline's handler and the pool, which may kill it
  boost::asio::local::stream_protocol::socket socket_;
};

}  // namespace lectern::document
