#include "document/renderer.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/async.h"
#include "document/render/process_contract.h"

namespace lectern::document {
namespace {

namespace asio = boost::asio;
using protocol::MessageType;

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);
// A renderer that hangs up usually ends within a moment; one that does not is killed.
constexpr std::chrono::milliseconds exit_grace{1'000};
// A window that held less than this keeps its memory for the next page.
constexpr std::size_t window_kept_bytes = std::size_t{16} << 20;

// The thread that starts every renderer. It lives as long as the program, because a renderer asks the kernel to be
// killed when the *thread* that started it ends: any other thread might be gone before the pool is.
CpuPool& keeper() {
  static CpuPool& pool = *new CpuPool(1);
  return pool;
}

std::string bytes_for_people(std::int64_t bytes) {
  const std::int64_t mebibytes = bytes >> 20;
  if (mebibytes >= 1024 && mebibytes % 1024 == 0) return fmt::format("{} GiB", mebibytes / 1024);
  return fmt::format("{} MiB", mebibytes);
}

// "crashed the renderer (SIGSEGV)" and the like: how it ended, in words.
std::string how_it_ended(const ProcessEnd& end, const RendererLimits& limits) {
  if (!end.known) return "ended the renderer";
  if (WIFSIGNALED(end.wait_status)) {
    const int signal_number = WTERMSIG(end.wait_status);
    const char* name = sigabbrev_np(signal_number);
    const std::string signal_name = fmt::format("SIG{}", name != nullptr ? name : std::to_string(signal_number));
    switch (signal_number) {
      case SIGSYS:
        return "made the renderer try a forbidden system call, and the sandbox stopped it (SIGSYS)";
      case SIGKILL:
        return "had its renderer killed from outside (SIGKILL; the machine may be short of memory)";
      default:
        return fmt::format("crashed the renderer ({})", signal_name);
    }
  }
  const int status = WEXITSTATUS(end.wait_status);
  if (status == exit_out_of_memory) {
    return fmt::format("needs more memory than the renderer's limit of {}", bytes_for_people(limits.memory_bytes));
  }
  return fmt::format("ended the renderer (exit status {})", status);
}

enum class DeadlineState { waiting, answered, expired };

}  // namespace

Error describe(const Broken& broken, std::string_view doing, const RendererLimits& limits) {
  Error error;
  switch (broken.why) {
    case Broken::Why::timed_out:
      error.kind = ErrorKind::timeout;
      error.for_caller = fmt::format(
          "{} took longer than {} s and was given up", doing,
          std::chrono::duration<double>(doing == "opening it" ? limits.open_timeout : limits.page_timeout).count());
      break;
    case Broken::Why::died:
      error.kind = ErrorKind::corrupt;
      error.for_caller = fmt::format("{} {}", doing, how_it_ended(broken.end, limits));
      break;
    case Broken::Why::stopped:
      error.kind = ErrorKind::cancelled;
      error.for_caller = fmt::format("{} was given up: the renderers were stopped", doing);
      break;
    case Broken::Why::broke_protocol:
      error.kind = ErrorKind::corrupt;
      error.for_caller = fmt::format("{} made the renderer answer nonsense", doing);
      break;
  }
  error.for_log = error.for_caller;
  if (!broken.detail.empty()) error.for_log += fmt::format(": {}", broken.detail);
  if (!broken.end.log.empty()) error.for_log += fmt::format("; it said: {}", broken.end.log);
  return error;
}

Renderer::Renderer(const asio::any_io_executor& executor, std::shared_ptr<RendererProcess> process)
    : executor_(executor),
      process_(std::move(process)),
      socket_(executor, asio::local::stream_protocol(), process_->take_socket().release()) {}

asio::awaitable<Result<std::unique_ptr<Renderer>>> Renderer::start(
    asio::any_io_executor executor, ProcessOptions options,
    std::function<void(std::shared_ptr<RendererProcess>)> on_start) {
  auto work = [options] { return RendererProcess::start(options); };
  auto process = co_await keeper().run(std::move(work));
  if (!process) {
    const std::string reason = fmt::format("the renderer {} cannot be started: {}; reinstall Lectern or rebuild it",
                                           options.renderer.string(), process.error().for_log);
    co_return fail(ErrorKind::unavailable, reason);
  }
  on_start(*process);
  std::unique_ptr<Renderer> renderer(new Renderer(executor, std::move(*process)));
  renderer->limits_ = options.limits;
  auto hello = co_await renderer->receive(0, options.limits.open_timeout);
  if (!hello) {
    const std::string said = hello.error().end.log.empty() ? "" : fmt::format(": {}", hello.error().end.log);
    const Error error = describe(hello.error(), "starting", options.limits);
    co_return fail(ErrorKind::unavailable, "the renderer {} does not start ({}){}; reinstall Lectern or rebuild it",
                   options.renderer.string(), error.for_caller, said);
  }
  if (hello->type == MessageType::error) {
    auto error = protocol::decode_error(hello->payload);
    if (!error) co_return std::unexpected(std::move(error.error()));
    error->kind = ErrorKind::unavailable;
    co_return std::unexpected(std::move(*error));
  }
  if (hello->type != MessageType::hello) {
    co_return fail(ErrorKind::unavailable, "the renderer {} does not say hello; reinstall Lectern or rebuild it",
                   options.renderer.string());
  }
  auto report = protocol::decode_hello(hello->payload);
  if (!report) co_return std::unexpected(std::move(report.error()));
  renderer->sandbox_ = std::move(*report);
  co_return std::move(renderer);
}

asio::awaitable<std::expected<Answer, Broken>> Renderer::call(CallOptions options) {
  const std::uint32_t call = ++last_call_;
  // A failure to send means that it is gone; receiving then finds out how it went.
  co_await send(options.type, std::move(options.payload), options.fd);
  co_return co_await receive(call, options.timeout);
}

void Renderer::tell(MessageType type) {
  const auto header = protocol::encode_header({type, ++last_call_, 0});
  [[maybe_unused]] const ssize_t sent =
      ::send(socket_.native_handle(), header.data(), header.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

asio::awaitable<bool> Renderer::send(MessageType type, protocol::Payload payload, int fd) {
  const auto header = protocol::encode_header({type, last_call_, static_cast<std::uint32_t>(payload.size())});
  payload.insert(payload.begin(), header.begin(), header.end());
  std::size_t done = 0;
  while (done < payload.size()) {
    iovec piece{payload.data() + done, payload.size() - done};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (fd >= 0 && done == 0) {  // the descriptor goes with the first byte
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof fd);
      std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    const ssize_t sent = sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      done += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) co_return false;
    const auto [error] = co_await socket_.async_wait(asio::socket_base::wait_write, tuple_awaitable);
    if (error) co_return false;
  }
  co_return true;
}

asio::awaitable<std::expected<Answer, Broken>> Renderer::receive(std::uint32_t call,
                                                                 std::chrono::milliseconds timeout) {
  // The deadline kills the process, which ends the reading below. Whoever changes the state first has decided: an
  // answer that comes in the same moment as the deadline must not leave a killed renderer that looks sound.
  auto state = std::make_shared<std::atomic<DeadlineState>>(DeadlineState::waiting);
  asio::steady_timer timer(executor_, timeout);
  timer.async_wait([state, process = process_](const boost::system::error_code& error) {
    auto expected = DeadlineState::waiting;
    if (!error && state->compare_exchange_strong(expected, DeadlineState::expired)) process->kill();
  });
  auto answer = co_await receive_message(call);
  auto expected = DeadlineState::waiting;
  const bool in_time = state->compare_exchange_strong(expected, DeadlineState::answered);
  if (in_time && answer) co_return answer;
  Broken broken = answer ? Broken{} : std::move(answer.error());
  if (!in_time) {
    broken.why = Broken::Why::timed_out;
  } else if (broken.why == Broken::Why::died) {
    co_await wait_for_exit();
  }
  broken.end = process_->reap();
  co_return std::unexpected(std::move(broken));
}

asio::awaitable<std::expected<Answer, Broken>> Renderer::receive_message(std::uint32_t call) {
  const auto broke = [](std::string detail) {
    return std::unexpected(Broken{Broken::Why::broke_protocol, {}, std::move(detail)});
  };
  std::array<std::uint8_t, protocol::header_bytes> head{};
  {
    const auto [error, got] = co_await asio::async_read(socket_, asio::buffer(head), tuple_awaitable);
    if (error) co_return std::unexpected(Broken{});
  }
  const auto header = protocol::decode_header(head);
  if (!header) co_return broke(header.error().for_log);
  if (header->call != call) co_return broke("an answer to another call");
  Answer answer;
  answer.type = header->type;
  // Memory follows what has really arrived, not what was announced.
  constexpr std::size_t first_step = std::size_t{1} << 20;
  while (answer.payload.size() < header->payload_bytes) {
    const std::size_t had = answer.payload.size();
    answer.payload.resize(std::min<std::size_t>(header->payload_bytes, had + std::max(had, first_step)));
    const auto rest = asio::buffer(answer.payload.data() + had, answer.payload.size() - had);
    const auto [error, got] = co_await asio::async_read(socket_, rest, tuple_awaitable);
    if (error) co_return std::unexpected(Broken{});
  }
  co_return answer;
}

asio::awaitable<void> Renderer::wait_for_exit() {
  if (process_->pid_fd() < 0) co_return;
  const int copy = fcntl(process_->pid_fd(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) co_return;
  asio::posix::stream_descriptor descriptor(executor_, copy);
  asio::steady_timer timer(executor_, exit_grace);
  timer.async_wait([process = process_](const boost::system::error_code& error) {
    if (!error) process->kill();
  });
  co_await descriptor.async_wait(asio::posix::descriptor_base::wait_read, tuple_awaitable);
}

Status Renderer::copy_window(std::span<const std::span<std::uint8_t>> pieces) {
  off_t at = 0;
  for (std::span<std::uint8_t> piece : pieces) {
    while (!piece.empty()) {
      const ssize_t got = pread(process_->window_fd(), piece.data(), piece.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return fail_errno("reading the renderer's window", got == 0 ? EIO : errno);
      at += got;
      piece = piece.subspan(static_cast<std::size_t>(got));
    }
  }
  if (static_cast<std::size_t>(at) > window_kept_bytes) {
    // Failing to give memory back costs memory, not correctness.
    [[maybe_unused]] const int punched = fallocate(process_->window_fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                                   static_cast<off_t>(window_bytes(limits_)));
  }
  return {};
}

}  // namespace lectern::document
