// Engines behind TLS: trusted by a certificate file, by choice, or not at all.
#include <arpa/inet.h>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <memory>
#include <thread>

#include "base/unique_fd.h"
#include "provider/http_client.h"
#include "run_coroutine.h"
#include "temp_folder.h"

namespace lectern::provider {
namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Deleter<SSL_free>>;

Certificate self_signed_for_loopback(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

// Says "ok" to whoever gets through the handshake, one after another.
class TlsServer {
 public:
  TlsServer() : key_(EVP_EC_gen("P-256")), certificate_(self_signed_for_loopback(key_.get())) {
    SSL_CTX_use_certificate(context_.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
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
  std::string certificate_pem() const {
    BIO* const memory = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(memory, certificate_.get());
    char* data = nullptr;
    const auto size = static_cast<std::size_t>(BIO_get_mem_data(memory, &data));
    std::string text(data, size);
    BIO_free(memory);
    return text;
  }

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

  const Key key_;
  const Certificate certificate_;
  const Context context_{SSL_CTX_new(TLS_server_method())};
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
