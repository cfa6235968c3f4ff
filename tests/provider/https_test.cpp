// Engines behind TLS: trusted by a certificate file, by choice, or not at all.
#include <arpa/inet.h>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <thread>

#include "base/unique_fd.h"
#include "provider/http_client.h"
#include "run_coroutine.h"
#include "self_signed.h"
#include "temp_folder.h"

namespace lectern::provider {
namespace {

using testing_tls::Context;
using testing_tls::SelfSigned;
using testing_tls::Session;

// Says "ok" to whoever gets through the handshake, one after another.
class TlsServer {
 public:
  TlsServer() {
    sockaddr_in place{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof place;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&place), size) != 0 || ::listen(listener_.get(), 8) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&place), &size) != 0) {
      throw std::runtime_error("no port to listen on");
    }
    address_ = fmt::format("https://127.0.0.1:{}", ntohs(place.sin_port));
    thread_ = std::jthread([this] { serve(); });
  }
  ~TlsServer() { ::shutdown(listener_.get(), SHUT_RDWR); }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  const std::string& address() const { return address_; }
  std::string certificate_pem() const { return certificate_.pem(); }

 private:
  void serve() {
    for (;;) {
      const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      if (!client) return;
      const Session session(SSL_new(context_.get()));
      SSL_set_fd(session.get(), client.get());
      if (SSL_accept(session.get()) != 1) continue;  // the client did not trust us
      char request[4096];
      if (SSL_read(session.get(), request, sizeof request) <= 0) continue;
      constexpr std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
      SSL_write(session.get(), reply.data(), static_cast<int>(reply.size()));
      SSL_shutdown(session.get());
    }
  }

  const SelfSigned certificate_;
  const Context context_{certificate_.server_context()};
  const UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string address_;
  std::jthread thread_;
};

HttpAnswer get(const TlsServer& server, HttpTransport transport) {
  boost::asio::io_context loop;
  HttpClient client(loop.get_executor());
  HttpRequest request{.url = server.address(), .peer = "the engine", .transport = std::move(transport)};
  return run_coroutine(loop, client.send(std::move(request), {}, {}, {}));
}

TEST(Https, ACertificateFileMakesAnEngineTrusted) {
  const TlsServer server;
  const TempFolder folder;
  const auto file = folder.write("ca.pem", server.certificate_pem());
  const HttpAnswer answer = get(server, {.proxy = "none", .ca_file = file});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "ok");
}

TEST(Https, StrangersAreRefusedUnlessToldOtherwise) {
  const TlsServer server;
  const HttpAnswer refused = get(server, {.proxy = "none"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, FailureReason::unreachable);
  EXPECT_TRUE(refused.error().message.starts_with("the engine cannot be trusted (TLS): ")) << refused.error().message;
  const HttpAnswer anyway = get(server, {.proxy = "none", .verify_tls = false});
  ASSERT_TRUE(anyway) << anyway.error().message;
  EXPECT_EQ(anyway->body, "ok");
}

}  // namespace
}  // namespace lectern::provider
