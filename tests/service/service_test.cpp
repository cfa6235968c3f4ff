// Waiting for a result, keys, health, figures, TLS: the service around jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <regex>

#include "job/memory/memory_database.h"
#include "self_signed.h"
#include "service/keys.h"
#include "service/live_api.h"

namespace lectern::service {
namespace {

using testing::HasSubstr;

TEST(ReadNow, TheResultWhenItIsThereInTime) {
  LiveApi api;
  const auto worker = api.keep_working();
  const Form form = make_form("x");
  const RawResponse read = api.client().ask("POST", "/v1/read", form.fields, form.body);
  ASSERT_EQ(read.status, 200) << read.body;
  EXPECT_THAT(read.body, HasSubstr("# md of job_"));
  EXPECT_THAT(read.fields.at("location"), HasSubstr("/v1/jobs/job_"));
  const RawResponse ocr = api.client().ask("POST", "/v1/ocr?format=json", form.fields, form.body);
  EXPECT_EQ(ocr.status, 200);
  EXPECT_EQ(ocr.fields.at("content-type"), "application/json");
  const auto jobs = json_of(api.get("/v1/jobs")).at("jobs");
  EXPECT_EQ(jobs.at(0).at("operation"), "ocr");
  EXPECT_EQ(jobs.at(1).at("operation"), "read");
}

TEST(ReadNow, TheJobWhenItTakesLonger) {
  LiveApi api;
  const Form form = make_form("x");
  const RawResponse later = api.client().ask("POST", "/v1/read?wait=0", form.fields, form.body);
  EXPECT_EQ(later.status, 202);
  const std::string id = json_of(later).at("id");
  EXPECT_EQ(later.fields.at("location"), "/v1/jobs/" + id);
  api.work();
  EXPECT_EQ(api.get("/v1/jobs/" + id + "/result").status, 200);
}

TEST(ReadNow, AStopAnswersThoseWhoWait) {
  LiveApi api;
  const Form form = make_form("x");
  RawClient client = api.client();
  client.send("POST /v1/read HTTP/1.1\r\nHost: localhost\r\n" + form.fields +
              "Content-Length: " + std::to_string(form.body.size()) + "\r\n\r\n" + form.body);
  while (json_of(api.get("/v1/jobs")).at("jobs").empty()) {
  }
  api.stop();
  EXPECT_EQ(client.receive().status, 202);
}

TEST(ReadNow, FailuresAndWrongQuestions) {
  LiveApi api;
  const auto worker = api.keep_working({.split_fails = true});
  const Form form = make_form("x");
  const RawResponse failed = api.client().ask("POST", "/v1/read", form.fields, form.body);
  EXPECT_EQ(failed.status, 422);
  EXPECT_EQ(code_of(failed), "job_failed");
  EXPECT_THAT(failed.body, HasSubstr("the document cannot be opened"));
  const Form other = make_form("x", {{"operation", "ocr"}});
  EXPECT_EQ(code_of(api.client().ask("POST", "/v1/read", other.fields, other.body)), "invalid_parameter");
  EXPECT_EQ(code_of(api.client().ask("POST", "/v1/read?format=x", form.fields, form.body)), "invalid_parameter");
  EXPECT_EQ(code_of(api.client().ask("POST", "/v1/read?wait=-1", form.fields, form.body)), "invalid_parameter");
  EXPECT_EQ(code_of(api.client().ask("POST", "/v1/read?cancel_on_disconnect=perhaps", form.fields, form.body)),
            "invalid_parameter");
}

TEST(ReadNow, WhoLeavesMayTakeTheJobAlong) {
  LiveApi api;
  const Form form = make_form("x");
  const auto send_and_leave = [&](const std::string& target) {
    const std::size_t before = json_of(api.get("/v1/jobs")).at("jobs").size();
    const RawClient client = api.client();
    client.send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + form.fields +
                "Content-Length: " + std::to_string(form.body.size()) + "\r\n\r\n" + form.body);
    while (json_of(api.get("/v1/jobs")).at("jobs").size() == before) {
    }
    return json_of(api.get("/v1/jobs")).at("jobs").at(0).at("id").get<std::string>();
  };
  const std::string taken = send_and_leave("/v1/read?cancel_on_disconnect");
  while (json_of(api.get("/v1/jobs/" + taken)).at("status") != "cancelled") {
  }
  const std::string left = send_and_leave("/v1/read");
  while (!api.get("/metrics").body.contains("route=\"/v1/read\",method=\"POST\",status=\"202\"")) {
  }
  EXPECT_EQ(json_of(api.get("/v1/jobs/" + left)).at("status"), "queued");
}

class Keyed : public testing::Test {
 protected:
  std::string add(const std::string& tenant, const std::string& scopes) {
    auto made = make_key({.tenant = tenant, .scopes = scopes}, random_);
    keys_.push_back(made->key);
    return "Authorization: Bearer " + made->secret + "\r\n";
  }
  LiveApi& api() {
    if (!api_) api_ = std::make_unique<LiveApi>(LiveApi::Setup{.keys = keys_});
    return *api_;
  }
  SeededRandom random_{7};
  std::vector<job::ApiKey> keys_;
  std::unique_ptr<LiveApi> api_;
};

TEST_F(Keyed, ScopesAndTenants) {
  const std::string submit = add("a", "submit");
  const std::string read = add("a", "read");
  const std::string other = add("b", "submit read");
  const std::string admin = add("ops", "admin");
  EXPECT_EQ(code_of(api().get("/v1/jobs")), "unauthorized");
  EXPECT_EQ(api().get("/v1/jobs").fields.at("www-authenticate"), "Bearer");
  EXPECT_EQ(code_of(api().get("/metrics")), "unauthorized");
  EXPECT_EQ(api().get("/health/ready").status, 200);
  EXPECT_EQ(api().get("/openapi.json").status, 200);

  const RawResponse made = api().submit("x", {}, submit);
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = "/v1/jobs/" + json_of(made).at("id").get<std::string>();
  EXPECT_EQ(json_of(made).at("tenant"), "a");
  EXPECT_EQ(code_of(api().get(path, submit)), "forbidden");
  EXPECT_EQ(code_of(api().submit("x", {}, read)), "forbidden");
  EXPECT_EQ(api().get(path, read).status, 200);
  EXPECT_EQ(api().get(path, admin).status, 200);
  // What belongs to others is not there, however one asks.
  for (const std::string more : {"", "/events", "/result", "/pages/1", "/pages/1/image"}) {
    EXPECT_EQ(code_of(api().get(path + more, other)), "not_found") << more;
  }
  EXPECT_EQ(code_of(api().client().ask("DELETE", path, other)), "not_found");
  EXPECT_EQ(code_of(api().client().ask("POST", path + "/retry", other)), "not_found");
  EXPECT_EQ(json_of(api().get("/v1/jobs", other)).at("jobs").size(), 0U);
  EXPECT_EQ(json_of(api().get("/v1/jobs", read)).at("jobs").size(), 1U);
  EXPECT_EQ(json_of(api().get("/v1/jobs", admin)).at("jobs").size(), 1U);
  EXPECT_EQ(json_of(api().get("/v1/jobs?tenant=b", admin)).at("jobs").size(), 0U);
  EXPECT_EQ(code_of(api().get("/v1/jobs?tenant=a", other)), "forbidden");
  const RawResponse blob =
      api().client().ask("POST", "/v1/jobs", submit + "Content-Type: application/json\r\n", R"({"blob":"a"})");
  EXPECT_EQ(code_of(blob), "forbidden");
  // The same key of idempotency in another tenant is another one.
  EXPECT_EQ(api().submit("x", {}, submit + "Idempotency-Key: k\r\n").status, 201);
  EXPECT_EQ(api().submit("y", {}, other + "Idempotency-Key: k\r\n").status, 201);
}

TEST_F(Keyed, RevokedKeysStop) {
  const std::string read = add("a", "read");
  EXPECT_EQ(api().get("/v1/jobs", read).status, 200);
  ASSERT_TRUE(api().run(revoke_key(&api().store(), keys_.front().id)));
  EXPECT_EQ(code_of(api().get("/v1/jobs", read)), "unauthorized");
  EXPECT_EQ(code_of(api().get("/v1/jobs")), "unauthorized");
}

TEST(Service, WithoutAKeyItListensOnLoopbackOnly) {
  for (const std::string address : {"0.0.0.0:0", "[::]:0"}) {
    try {
      const LiveApi api({.options = {.listen = address}});
      FAIL() << address;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("lectern keys create"));
    }
  }
  SeededRandom random(3);
  const auto made = make_key({}, random);
  const LiveApi open({.options = {.listen = "0.0.0.0:0"}, .keys = {made->key}});
  EXPECT_EQ(open.client().ask("GET", "/health/live").status, 200);
}

TEST(Service, WrongAddressesAreNamed) {
  for (const std::string address : {"8080", "localhost", "localhost:x", "localhost:70000", "example.org:80", ":80"}) {
    try {
      const LiveApi api({.options = {.listen = address}});
      FAIL() << address;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + address + "' is no address to listen on"));
    }
  }
}

TEST(Service, ASocketFile) {
  const TempFolder folder;
  const std::string path = (folder.path() / "s").string();
  LiveApi api({.options = {.listen = "", .unix_socket = path}});
  EXPECT_EQ(api.address(), "unix:" + path);
  EXPECT_EQ(api.get("/v1/jobs").status, 200);
}

TEST(Service, HealthAndFigures) {
  LiveApi api;
  EXPECT_EQ(json_of(api.get("/health/live")).at("status"), "live");
  EXPECT_EQ(json_of(api.get("/health/ready")), nlohmann::json({{"status", "ready"}, {"store", "ok"}, {"blobs", "ok"}}));
  api.submit_id();
  EXPECT_EQ(api.get("/nowhere").status, 404);
  const RawResponse metrics = api.get("/metrics");
  EXPECT_THAT(metrics.fields.at("content-type"), HasSubstr("version=0.0.4"));
  for (const std::string line :
       {"lectern_jobs_submitted_total{operation=\"read\"} 1\n", "lectern_uploads_total 1\n",
        "lectern_upload_bytes_total 19\n", "lectern_tasks{state=\"ready\"} 1\n", "lectern_jobs_open 1\n",
        "lectern_jobs{status=\"queued\"} 1\n", "lectern_jobs{status=\"failed\"} 0\n",
        "lectern_http_requests_total{route=\"/v1/jobs\",method=\"POST\",status=\"201\"} 1\n",
        "lectern_http_requests_total{route=\"none\",method=\"other\",status=\"404\"} 1\n", "lectern_store_up 1\n",
        "lectern_http_request_seconds_bucket{route=\"/v1/jobs\",le=\"+Inf\"} 1\n"}) {
    EXPECT_THAT(metrics.body, HasSubstr(line));
  }
  // Every line is a comment or "name{labels} value", and every family is described.
  const std::regex sample(R"(([a-z_]+)(\{[^}]*\})? [0-9.e+-]+)");
  std::string last_family;
  std::istringstream lines(metrics.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) last_family = line.substr(7, line.find(' ', 7) - 7);
    if (line.starts_with("#")) continue;
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    EXPECT_TRUE(match[1].str().starts_with(last_family)) << line;
  }
}

// A database that does not answer any more when the test says so.
class Failing final : public job::Database {
 public:
  Failing(std::unique_ptr<job::Database> inner, std::atomic<bool>* away) : inner_(std::move(inner)), away_(away) {}
  void run(Access access, Work work, std::function<void(Status)> done) override {
    if (!*away_) return inner_->run(access, std::move(work), std::move(done));
    // On another thread, as databases do it.
    inner_->run(
        Access::read, [](job::Ledger&) { return Status{}; },
        [done = std::move(done)](const Status&) { done(fail(ErrorKind::unavailable, "the database is away")); });
  }
  void listen(Listener listener) override { inner_->listen(std::move(listener)); }
  std::string description() const override { return "failing"; }

 private:
  std::unique_ptr<job::Database> inner_;
  std::atomic<bool>* away_;
};

TEST(Service, AStoreThatIsAwayIsToldAndComesBack) {
  std::atomic<bool> away = false;
  LiveApi api({.database = std::make_unique<Failing>(job::make_memory_database(system_clock()), &away)});
  const std::string id = api.submit_id();
  away = true;
  const RawResponse refused = api.submit("x");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(code_of(refused), "unavailable");
  EXPECT_EQ(api.get("/v1/jobs/" + id).status, 503);
  EXPECT_EQ(api.get("/health/ready").status, 503);
  EXPECT_EQ(api.get("/health/live").status, 200);
  away = false;
  EXPECT_EQ(api.get("/v1/jobs/" + id).status, 200);
  EXPECT_EQ(api.get("/health/ready").status, 200);
}

// A database of which one answer is lost, and whose commit takes effect only when the test says so.
class LateCommit final : public job::Database {
 public:
  LateCommit(std::unique_ptr<job::Database> inner, std::atomic<bool>* armed, Work* held)
      : inner_(std::move(inner)), armed_(armed), held_(held) {}
  void run(Access access, Work work, std::function<void(Status)> done) override {
    if (access == Access::read || !armed_->exchange(false)) {
      return inner_->run(access, std::move(work), std::move(done));
    }
    *held_ = std::move(work);
    inner_->run(
        Access::read, [](job::Ledger&) { return Status{}; },
        [done = std::move(done)](const Status&) { done(fail(ErrorKind::unavailable, "the connection was cut")); });
  }
  void listen(Listener listener) override { inner_->listen(std::move(listener)); }
  std::string description() const override { return "late"; }

 private:
  std::unique_ptr<job::Database> inner_;
  std::atomic<bool>* armed_;
  Work* held_;
};

TEST(Service, ACommitThatTakesEffectAfterTheRefusalFindsItsDocument) {
  std::atomic<bool> armed = true;
  job::Database::Work held;
  auto inner = job::make_memory_database(system_clock());
  job::Database& database = *inner;
  LiveApi api({.database = std::make_unique<LateCommit>(std::move(inner), &armed, &held)});
  const std::string once = "Idempotency-Key: one\r\n";
  EXPECT_EQ(api.submit("%PDF-1.7 x", {}, once).status, 503);
  ASSERT_TRUE(held);
  std::promise<Status> committed;
  database.run(job::Database::Access::write, std::move(held), [&](Status status) { committed.set_value(status); });
  ASSERT_TRUE(committed.get_future().get());
  const RawResponse again = api.submit("%PDF-1.7 x", {}, once);
  ASSERT_EQ(again.status, 200) << again.body;
  const std::string id = json_of(again).at("id");
  EXPECT_THAT(api.blob_keys(), testing::Contains("jobs/" + id + "/original"));
}

TEST(Service, OverTls) {
  const TempFolder folder;
  const testing_tls::SelfSigned self;
  const std::string certificate = folder.write("c.pem", self.pem()).string();
  const std::string key = folder.write("k.pem", self.key_pem()).string();
  const LiveApi api({.options = {.tls_certificate = certificate, .tls_key = key}});
  EXPECT_TRUE(api.address().starts_with("https://"));
  const testing_tls::Context context(SSL_CTX_new(TLS_client_method()));
  const testing_tls::Session session(SSL_new(context.get()));
  const RawClient socket = api.client();
  SSL_set_fd(session.get(), socket.fd());
  ASSERT_EQ(SSL_connect(session.get()), 1);
  const std::string request = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
  SSL_write(session.get(), request.data(), static_cast<int>(request.size()));
  std::array<char, 4096> buffer{};
  std::string got;
  while (!got.contains("live\"}")) {
    const int count = SSL_read(session.get(), buffer.data(), buffer.size());
    ASSERT_GT(count, 0);
    got.append(buffer.data(), static_cast<std::size_t>(count));
  }
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200"));
  // Plain HTTP on the same port is cut off and does no harm.
  RawClient plain = api.client();
  plain.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(plain.closed_by_server());
  try {
    const LiveApi broken({.options = {.tls_certificate = "/nowhere.pem", .tls_key = key}});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere.pem"));
  }
}

}  // namespace
}  // namespace lectern::service
