// What goes over the wire beside plain HTTP: TLS, and webhooks.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "base/base64.h"
#include "base/hash.h"
#include "provider/test_server.h"
#include "self_signed.h"
#include "team_fixture.h"

namespace lectern::e2e {
namespace {

namespace asio = boost::asio;
using provider::TestRequest;
using provider::TestServer;
using testing::HasSubstr;

// One request over TLS by a client that trusts this certificate and no other; all that comes back until the server
// closes.
std::string ask_by_tls(int port, const std::string& trusted_file, const std::string& request) {
  const testing_tls::Context context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_load_verify_locations(context.get(), trusted_file.c_str(), nullptr);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  BIO* const line = BIO_new_ssl_connect(context.get());
  BIO_set_conn_hostname(line, ("127.0.0.1:" + std::to_string(port)).c_str());
  std::string reply;
  if (BIO_do_connect(line) == 1 && BIO_write(line, request.data(), static_cast<int>(request.size())) > 0) {
    char buffer[4096];
    for (int got = 0; (got = BIO_read(line, buffer, sizeof buffer)) > 0;) {
      reply.append(buffer, static_cast<std::size_t>(got));
    }
  }
  BIO_free_all(line);
  return reply;
}

std::string post_of(const std::string& path, const std::string& file) {
  const std::string body =
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n" + file + "\r\n--b--\r\n";
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: multipart/form-data; "
      "boundary=b\r\nContent-Length: {}\r\n\r\n{}",
      path, body.size(), body);
}

TEST_F(TeamOnceTest, ServesByTls) {
  const testing_tls::SelfSigned self;
  const std::string certificate = put("certificate.pem", self.pem());
  const std::string key = put("key.pem", self.key_pem());
  Program serve = lectern(
      {"serve", "--data", out("data"), "--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key});
  const auto said = serve.output_line();
  ASSERT_TRUE(said);
  const auto at = said->find("https://127.0.0.1:");
  ASSERT_NE(at, std::string::npos) << *said;
  const int port = std::atoi(said->c_str() + at + std::string("https://127.0.0.1:").size());

  const std::string file = pdf("a.pdf", 2);
  const std::string reply = ask_by_tls(port, certificate, post_of("/v1/read?format=md", slurp(file)));
  EXPECT_THAT(reply, testing::StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(reply, testing::EndsWith("\r\n\r\n" + read_prints(file, "md")));
  // The command is a client of it as well, and wants to know the certificate.
  const std::vector<std::string> list = {"jobs", "list", "--server", "https://127.0.0.1:" + std::to_string(port)};
  Program trusting(LECTERN_BIN_DIR "/lectern", {.arguments = list, .environment = {{"LECTERN_CA_FILE", certificate}}});
  EXPECT_EQ(trusting.finish(), 0) << trusting.errors();
  EXPECT_THAT(trusting.output(), HasSubstr("succeeded"));
  Program careful = lectern(list);
  EXPECT_EQ(careful.finish(), 1);
  EXPECT_THAT(careful.errors(), HasSubstr("certificate"));
  // Who speaks plainly gets nothing.
  testing_sim::RawClient plain(port);
  plain.send("GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_THAT(plain.read_all(), testing::Not(HasSubstr("HTTP/1.1 200")));

  Program wrong = lectern(
      {"serve", "--data", out("data"), "--listen", "127.0.0.1:0", "--tls-certificate", key, "--tls-key", certificate});
  EXPECT_EQ(wrong.finish(), 2);
  EXPECT_THAT(wrong.errors(), HasSubstr("key.pem"));
}

asio::awaitable<void> refuse_once(std::shared_ptr<TestServer::Exchange> exchange, std::shared_ptr<int> asked) {
  co_await exchange->answer(++*asked == 1 ? 500 : 200, "");
  exchange->begun();
}

// As a receiver checks it that knows the Standard Webhooks scheme.
void expect_signed(const TestRequest& request, std::string_view key) {
  const std::string text =
      request.headers.at("webhook-id") + "." + request.headers.at("webhook-timestamp") + "." + request.body;
  EXPECT_EQ(request.headers.at("webhook-signature"), "v1," + base64_encode(hmac_sha256(key, text)));
}

// The second try comes after five seconds.
TEST_F(TeamOnceTest, AWebhookThatIsRefusedOnceIsDeliveredAgain) {
  const auto asked = std::make_shared<int>(0);  // shared with the script, which runs on the receiver's thread
  TestServer receiver([asked](std::shared_ptr<TestServer::Exchange> exchange) { return refuse_once(exchange, asked); });
  Place here = place(Where::team);
  here.environment["LECTERN_WEB_ALLOWED"] = "127.0.0.1";
  const Service service(here, {});
  const std::string id = service.submit(
      pdf("a.pdf", 2), {{"webhook", receiver.address() + "/hook"}, {"webhook_secret", "whsec_aGVsbG8="}})["id"];
  EXPECT_EQ(service.wait_until_over(id)["status"], "succeeded");
  // The receiver has answered; the worker writes it down.
  const auto delivery_once = [&](const std::string& kind) {
    while (count(service.events(id), kind) == 0) continue;
    return service.job(id)["delivery"];
  };
  ASSERT_TRUE(receiver.await_begun(1));
  const Json refused = delivery_once("deliver.again");
  if (refused["attempts"] == 1) {  // seen before the second try
    EXPECT_THAT(refused["last_error"].get<std::string>(), HasSubstr("500"));
    EXPECT_TRUE(refused["next_at"].is_string()) << refused;
  }
  const auto events = service.events(id);
  EXPECT_EQ(values(events, "deliver.again", "attempt"), std::set<std::string>{"1"});
  EXPECT_THAT(*values(events, "deliver.again", "error").begin(), HasSubstr("500"));
  ASSERT_TRUE(receiver.await_begun(2));
  const Json taken = delivery_once("deliver.done");
  EXPECT_EQ(taken["status"], "succeeded") << taken;
  EXPECT_EQ(taken["attempts"], 2);
  EXPECT_TRUE(taken["last_error"].is_null());

  const auto requests = receiver.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].headers.at("webhook-id"), requests[1].headers.at("webhook-id")) << "a repeat can be told";
  EXPECT_EQ(requests[0].body, requests[1].body);
  for (const TestRequest& request : requests) expect_signed(request, "hello");
  const Json message = Json::parse(requests[1].body);
  EXPECT_EQ(message["type"], "job.succeeded");
  EXPECT_EQ(message["data"]["id"], id);
  EXPECT_EQ(message["data"]["pages"]["ok"], 2);
}

}  // namespace
}  // namespace lectern::e2e
