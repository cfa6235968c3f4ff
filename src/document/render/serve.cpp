#include "document/render/serve.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "document/protocol.h"

namespace lectern::document {
namespace {

using protocol::Header;
using protocol::MessageType;
using protocol::Payload;

struct Call {
  Header header;
  Payload payload;
  int fd = -1;  // owned by whoever takes the call
};

// Reads exactly `size` bytes and keeps a descriptor that travels with them. False when the host hung up.
bool receive(int socket, std::uint8_t* to, std::size_t size, int& fd) {
  while (size > 0) {
    iovec piece{to, size};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      if (fd >= 0) close(fd);
      std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
    }
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_all(int socket, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(socket, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

// One renderer's state: at most one document, and the call in hand.
class Server {
 public:
  explicit Server(const ServeOptions& options) : options_(options) {}
  ~Server() { forget(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  bool answer(std::uint32_t call, MessageType type, const Payload& payload) {
    const Header header{type, call, static_cast<std::uint32_t>(payload.size())};
    const auto head = protocol::encode_header(header);
    return send_all(options_.socket_fd, head) && send_all(options_.socket_fd, payload);
  }

  // nullopt when the host hung up; an error when it does not speak our language.
  std::optional<Result<Call>> next_call() {
    std::array<std::uint8_t, protocol::header_bytes> head{};
    Call call;
    if (!receive(options_.socket_fd, head.data(), head.size(), call.fd)) return std::nullopt;
    auto header = protocol::decode_header(head);
    if (!header) return std::unexpected(std::move(header.error()));
    call.header = *header;
    call.payload.resize(header->payload_bytes);
    if (!receive(options_.socket_fd, call.payload.data(), call.payload.size(), call.fd)) return std::nullopt;
    return call;
  }

  // False when the answer could not be given.
  bool handle(Call& call) {
    auto reply = [&]() -> Result<std::pair<MessageType, Payload>> {
      try {
        return work(call);
      } catch (const std::bad_alloc&) {
        return fail(ErrorKind::corrupt, "needs more memory than a renderer may use");
      }
    }();
    if (call.header.type == MessageType::close) return true;
    if (!reply) return answer(call.header.call, MessageType::error, protocol::encode(reply.error()));
    return answer(call.header.call, reply->first, reply->second);
  }

 private:
  Result<std::pair<MessageType, Payload>> work(Call& call) {
    switch (call.header.type) {
      case MessageType::open:
        return open(call);
      case MessageType::close:
        forget();
        return std::pair(MessageType::close, Payload());
      case MessageType::inspect: {
        const auto page_number = protocol::decode_inspect(call.payload);
        if (!page_number) return std::unexpected(page_number.error());
        if (!backend_) return no_document();
        auto content = backend_->inspect(*page_number);
        if (!content) return std::unexpected(std::move(content.error()));
        return std::pair(MessageType::content, protocol::encode(*content));
      }
      case MessageType::render: {
        const auto request = protocol::decode_render(call.payload);
        if (!request) return std::unexpected(request.error());
        if (!backend_) return no_document();
        auto rendered = backend_->render(*request);
        if (!rendered) return std::unexpected(std::move(rendered.error()));
        return show(*rendered);
      }
      case MessageType::hello:
      case MessageType::opened:
      case MessageType::content:
      case MessageType::rendered:
      case MessageType::error:
        break;
    }
    return fail(ErrorKind::internal, "the renderer was sent a '{}' message", to_string(call.header.type));
  }

  Result<std::pair<MessageType, Payload>> open(Call& call) {
    forget();
    fd_ = std::exchange(call.fd, -1);
    const auto decoded = protocol::decode_open(call.payload);
    if (!decoded) return std::unexpected(decoded.error());
    if (fd_ < 0) return fail(ErrorKind::internal, "the renderer was asked to open a document but got no descriptor");
    OpenOptions options;
    options.fd = fd_;
    options.password = decoded->password;
    options.pixels_max = decoded->pixels_max;
    auto backend = options_.open(options);
    if (!backend) {
      forget();
      return std::unexpected(std::move(backend.error()));
    }
    backend_ = std::move(*backend);
    return std::pair(MessageType::opened, protocol::encode(backend_->info()));
  }

  void forget() {
    backend_.reset();
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

  static std::unexpected<Error> no_document() {
    return fail(ErrorKind::internal, "the renderer was asked for a page before a document");
  }

  // Puts the bytes into the window and describes them.
  Result<std::pair<MessageType, Payload>> show(const Rendered& rendered) {
    protocol::RenderedInWindow shown;
    shown.jpeg = !rendered.jpeg.empty();
    using Bytes = std::span<const std::uint8_t>;
    std::vector<Bytes> pieces{shown.jpeg ? Bytes(rendered.jpeg) : Bytes(rendered.image.pixels)};
    if (rendered.chroma) {
      shown.chroma = true;
      pieces.emplace_back(rendered.chroma->blue.pixels);
      pieces.emplace_back(rendered.chroma->red.pixels);
    }
    for (const Bytes piece : pieces) shown.bytes += piece.size();
    shown.width_px = rendered.width_px;
    shown.height_px = rendered.height_px;
    shown.format = rendered.image.format;
    shown.dpi = rendered.image.dpi;
    shown.path = rendered.path;
    shown.px_per_pt = rendered.px_per_pt;
    if (shown.bytes > options_.window_bytes) {
      return fail(ErrorKind::internal, "the rendered picture ({} bytes) is larger than the window ({} bytes)",
                  shown.bytes, options_.window_bytes);
    }
    off_t at = 0;
    for (Bytes piece : pieces) {
      while (!piece.empty()) {
        const ssize_t wrote = pwrite(options_.window_fd, piece.data(), piece.size(), at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return fail_errno("writing into the renderer's window", errno);
        at += wrote;
        piece = piece.subspan(static_cast<std::size_t>(wrote));
      }
    }
    return std::pair(MessageType::rendered, protocol::encode(shown));
  }

  const ServeOptions& options_;
  std::unique_ptr<Backend> backend_;
  int fd_ = -1;  // the open document's; outlives backend_
};

}  // namespace

void send_start_error(const ServeOptions& options, const Error& error) {
  Server(options).answer(0, MessageType::error, protocol::encode(error));
}

int serve(const ServeOptions& options, const SandboxReport& report) {
  Server server(options);
  if (!server.answer(0, MessageType::hello, protocol::encode(report))) return 1;
  while (auto call = server.next_call()) {
    if (!*call) return 1;
    options.before_call();
    const bool answered = server.handle(**call);
    if ((*call)->fd >= 0) close((*call)->fd);
    if (!answered) return 1;
  }
  return 0;
}

}  // namespace lectern::document
