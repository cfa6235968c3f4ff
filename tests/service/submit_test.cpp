// POST /v1/jobs: what becomes of an upload, whatever happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "faulty_disk.h"
#include "job/ids.h"
#include "job/request.h"
#include "service/live_api.h"

namespace lectern::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Submit, AnUploadBecomesAJob) {
  LiveApi api;
  const std::string document = "%PDF-1.7 " + std::string(700'000, 'x');
  const RawResponse response =
      api.submit(document, {{"pages", "2-3, 1"}, {"operation", "ocr"}, {"priority", "7"}, {"timeout", "60"}});
  ASSERT_EQ(response.status, 201) << response.body;
  const auto job = json_of(response);
  const std::string id = job.at("id");
  EXPECT_TRUE(job::is_job_id(id));
  EXPECT_EQ(response.fields.at("location"), "/v1/jobs/" + id);
  EXPECT_EQ(job.at("status"), "queued");
  EXPECT_EQ(job.at("operation"), "ocr");
  EXPECT_EQ(job.at("tenant"), "default");
  EXPECT_EQ(job.at("priority"), 7);
  EXPECT_EQ(job.at("document").at("name"), "report.pdf");
  EXPECT_EQ(job.at("document").at("bytes"), document.size());
  EXPECT_EQ(job.at("document").at("sha256"), sha256_hex(document));
  EXPECT_EQ(job.at("options").at("pages"), "1-3");
  EXPECT_TRUE(job.at("deadline").is_string());
  EXPECT_EQ(job.at("steps").size(), 3U);
  EXPECT_EQ(*api.run(api.blobs().get(job::original_key(id), 1 << 20)), document);
  const auto stored = api.run(api.store().job(id));
  EXPECT_EQ((*stored)->job.request.source, job::original_key(id));
}

TEST(Submit, SecretsAreKeptButNotShown) {
  LiveApi api;
  const RawResponse response = api.submit(
      "x", {{"password", "open sesame"}, {"webhook", "https://example.org/h"}, {"webhook_secret", "whsec_c2VjcmV0"}});
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_THAT(response.body, testing::Not(HasSubstr("sesame")));
  EXPECT_THAT(response.body, testing::Not(HasSubstr("whsec")));
  const auto job = json_of(response);
  EXPECT_EQ(job.at("delivery").at("status"), "queued");
  const auto stored = api.run(api.store().job(job.at("id")));
  EXPECT_THAT((*stored)->job.request.secret, HasSubstr("open sesame"));
}

TEST(Submit, FieldsMayFollowTheFile) {
  LiveApi api;
  const std::string body =
      "--b\r\nContent-Disposition: form-data; name=file; filename=a.png\r\n\r\nbytes\r\n"
      "--b\r\nContent-Disposition: form-data; name=pages\r\n\r\n4\r\n--b--";
  const RawResponse response =
      api.client().ask("POST", "/v1/jobs", "Content-Type: multipart/form-data; boundary=b\r\n", body);
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(json_of(response).at("options").at("pages"), "4");
}

TEST(Submit, BadRequestsLeaveNothingBehind) {
  LiveApi api({.options = {.upload_bytes_max = 100'000}});
  struct Case {
    std::string name;
    Form form;
    int status;
    std::string code;
  };
  const std::string type = "Content-Type: multipart/form-data; boundary=b\r\n";
  const std::string part = "--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n";
  const Case cases[] = {
      {"a wrong field", make_form("x", {{"pages", "zero"}}), 400, "invalid_parameter"},
      {"an unknown field", make_form("x", {{"page", "1"}}), 400, "invalid_parameter"},
      {"an empty file", make_form(""), 400, "invalid_body"},
      {"too large a file", make_form(std::string(100'001, 'x')), 413, "payload_too_large"},
      {"a deadline that has passed", make_form("x", {{"deadline", "2020-01-01T00:00:00Z"}}), 422, "deadline_passed"},
      {"no file", {type, "--b\r\nContent-Disposition: form-data; name=pages\r\n\r\n1\r\n--b--"}, 400, "invalid_body"},
      {"two files", {type, part + "x\r\n" + part + "y\r\n--b--"}, 400, "invalid_body"},
      {"another file",
       {type, "--b\r\nContent-Disposition: form-data; name=pages; filename=a\r\n\r\nx\r\n--b--"},
       400,
       "invalid_body"},
      {"a body without its end", {type, part + "x\r\n"}, 400, "invalid_body"},
      {"no boundary", {"Content-Type: multipart/form-data\r\n", part}, 400, "invalid_body"},
      {"another type", {"Content-Type: application/pdf\r\n", "%PDF"}, 415, "unsupported_media_type"},
      {"no type", {"", "%PDF"}, 415, "unsupported_media_type"},
      {"not JSON", {"Content-Type: application/json\r\n", "{"}, 400, "invalid_body"},
      {"a URL where that is not allowed",
       {"Content-Type: application/json\r\n", R"({"url":"https://example.org/"})"},
       403,
       "url_not_allowed"},
      {"a blob that is not there", {"Content-Type: application/json\r\n", R"({"blob":"a/b"})"}, 422, "blob_not_found"},
      {"a key with blanks",
       {make_form("x").fields + "Idempotency-Key: a b\r\n", make_form("x").body},
       400,
       "invalid_parameter"},
  };
  for (const Case& c : cases) {
    const RawResponse response = api.client().ask("POST", "/v1/jobs", c.form.fields, c.form.body);
    EXPECT_EQ(response.status, c.status) << c.name << ": " << response.body;
    EXPECT_EQ(code_of(response), c.code) << c.name;
  }
  EXPECT_THAT(api.blob_keys(), IsEmpty());
  EXPECT_TRUE(json_of(api.get("/v1/jobs")).at("jobs").empty());
}

TEST(Submit, AClientThatLeavesLeavesNothingBehind) {
  LiveApi api;
  {
    const RawClient client = api.client();
    client.send(
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: "
        "1000000\r\n\r\n--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n" +
        std::string(600'000, 'x'));
  }
  // Its end is seen in the figures.
  const auto under_way = [&] { return api.get("/metrics").body.contains("lectern_uploads_under_way 0\n"); };
  while (!under_way() || !api.get("/metrics").body.contains("route=\"/v1/jobs\",method=\"POST\",status=\"400\"")) {
  }
  EXPECT_THAT(api.blob_keys(), IsEmpty());
}

TEST(Submit, TheSameRequestAgainIsTheSameJob) {
  LiveApi api;
  const RawResponse first = api.submit("some bytes", {{"pages", "1"}}, "Idempotency-Key: k1\r\n");
  ASSERT_EQ(first.status, 201);
  const RawResponse again = api.submit("some bytes", {{"pages", "1"}}, "Idempotency-Key: k1\r\n");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(json_of(again).at("id"), json_of(first).at("id"));
  for (const auto& [bytes, pages] : {std::pair("other bytes", "1"), std::pair("some bytes", "2")}) {
    const RawResponse conflict = api.submit(bytes, {{"pages", pages}}, "Idempotency-Key: k1\r\n");
    EXPECT_EQ(conflict.status, 409);
    EXPECT_EQ(code_of(conflict), "idempotency_conflict");
  }
  EXPECT_EQ(api.submit("some bytes", {{"pages", "1"}}, "Idempotency-Key: k2\r\n").status, 201);
  EXPECT_EQ(api.blob_keys().size(), 2U);  // one for each job; the repeats are gone
}

TEST(Submit, LimitsAreToldWithATimeToComeBack) {
  LiveApi api({.options = {.submits_per_second = 0.001, .submits_burst = 2}});
  EXPECT_EQ(api.submit("a").status, 201);
  EXPECT_EQ(api.submit("b").status, 201);
  const RawResponse limited = api.submit("c");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(code_of(limited), "rate_limited");
  EXPECT_GT(std::stoi(limited.fields.at("retry-after")), 0);
}

// Each job has its own bytes: another that began with them may outlive it.
TEST(Submit, ABlobOfAnotherJobIsCopied) {
  LiveApi api;
  const std::string document(5 << 20, 'x');  // more than one piece
  const std::string first = api.submit_id(document);
  const std::string key = job::original_key(first);
  const std::string json = R"({"blob":")" + key + R"("})";
  const RawResponse again = api.client().ask("POST", "/v1/jobs", "Content-Type: application/json\r\n", json);
  ASSERT_EQ(again.status, 201) << again.body;
  const std::string second = json_of(again).at("id");
  api.work();
  EXPECT_EQ(api.client().ask("DELETE", "/v1/jobs/" + first).status, 204);
  EXPECT_EQ(*api.run(api.blobs().get(job::original_key(second), 1 << 30)), document);
  EXPECT_FALSE(api.run(api.blobs().get(key, 1 << 30)));
  EXPECT_EQ(json_of(api.get("/v1/jobs/" + second)).at("status"), "succeeded");
  // One that is nobody's is used where it is.
  ASSERT_TRUE(api.run(api.blobs().put("inbox/a.pdf", "%PDF", job::PutMode::create_only)));
  const RawResponse own =
      api.client().ask("POST", "/v1/jobs", "Content-Type: application/json\r\n", R"({"blob":"inbox/a.pdf"})");
  const auto job = api.run(api.store().job(json_of(own).at("id")));
  EXPECT_EQ((*job)->job.request.source, "inbox/a.pdf");
}

TEST(Submit, AFullQueueIsToldBeforeTheUpload) {
  LiveApi api({.options = {.jobs_open_max = 2}});
  EXPECT_EQ(api.submit("a").status, 201);
  EXPECT_EQ(api.submit("b").status, 201);
  RawClient client = api.client();
  client.send(
      "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000\r\nContent-Type: "
      "multipart/form-data; boundary=b\r\n\r\n");
  const RawResponse full = client.receive();
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(code_of(full), "queue_full");
}

TEST(Submit, TooManyUploadsAtOnceAreRefused) {
  LiveApi api({.options = {.uploads_max = 1}});
  const Form form = make_form("x");
  RawClient slow = api.client();
  slow.send("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n" + form.fields +
            "Content-Length: " + std::to_string(form.body.size()) + "\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_EQ(slow.receive().status, 100);  // it is in
  const RawResponse refused = api.submit("y");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(code_of(refused), "too_many_uploads");
  slow.send(form.body);
  EXPECT_EQ(slow.receive().status, 201);
  EXPECT_EQ(api.submit("y").status, 201);
}

TEST(Submit, AFullDiskIsToldAndLeavesNothing) {
  for (int nth = 1;; ++nth) {
    FaultyDisk disk(real_disk(), 1'000'000);
    FaultyDisk failing(real_disk(), nth);
    std::unique_ptr<LiveApi> api;
    try {
      api = std::make_unique<LiveApi>(LiveApi::Setup{.disk = &failing});
    } catch (const std::runtime_error&) {
      continue;  // it did not even open
    }
    const RawResponse response = api->submit(std::string(300'000, 'x'));
    if (!failing.fired()) {
      EXPECT_EQ(response.status, 201);
      break;
    }
    if (response.status == 201) continue;  // the call that failed was not needed
    EXPECT_EQ(response.status, 507) << nth << ": " << response.body;
    EXPECT_EQ(code_of(response), "insufficient_storage");
    EXPECT_THAT(api->blob_keys(), IsEmpty()) << nth;
    EXPECT_EQ(api->get("/v1/jobs").status, 200);
    EXPECT_EQ(api->submit("after").status, 201) << "space has returned";
  }
}

class ScriptedFetcher final : public UrlFetcher {
 public:
  explicit ScriptedFetcher(job::Blobs** blobs) : blobs_(blobs) {}
  boost::asio::awaitable<Result<Fetched>> fetch(FetchRequest request) override {
    if (request.url.contains("10.0.0.1")) co_return fail(ErrorKind::invalid_input, "10.0.0.1 is a private address");
    const std::string bytes = "fetched";
    const auto put = co_await (*blobs_)->put(request.key, bytes, job::PutMode::create_only);
    if (!put) co_return std::unexpected(put.error());
    co_return Fetched{.bytes = 7, .sha256 = sha256_hex(bytes), .name = "paper.pdf"};
  }

 private:
  job::Blobs** blobs_;
};

TEST(Submit, DocumentsByUrlWhereThatIsAllowed) {
  job::Blobs* blobs = nullptr;
  ScriptedFetcher fetcher(&blobs);
  LiveApi api({.options = {.urls_allowed = true}, .fetcher = &fetcher});
  blobs = &api.blobs();
  const auto ask = [&](const std::string& json, const std::string& fields = "") {
    return api.client().ask("POST", "/v1/jobs", "Content-Type: application/json\r\n" + fields, json);
  };
  const RawResponse made = ask(R"({"url":"https://example.org/paper.pdf","pages":"1"})", "Idempotency-Key: u\r\n");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json_of(made).at("document").at("name"), "paper.pdf");
  EXPECT_EQ(json_of(made).at("document").at("sha256"), sha256_hex("fetched"));
  const RawResponse again = ask(R"({"url":"https://example.org/paper.pdf","pages":"1"})", "Idempotency-Key: u\r\n");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(api.blob_keys().size(), 1U);
  const RawResponse refused = ask(R"({"url":"http://10.0.0.1/x"})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(code_of(refused), "url_refused");
  EXPECT_THAT(refused.body, HasSubstr("private address"));
}

TEST(Submit, DocumentsFromBlobs) {
  LiveApi api;
  ASSERT_TRUE(api.run(api.blobs().put("incoming/scan.tiff", "bytes", job::PutMode::create_only)));
  const RawResponse made =
      api.client().ask("POST", "/v1/jobs", "Content-Type: application/json\r\n", R"({"blob":"incoming/scan.tiff"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json_of(made).at("document").at("name"), "scan.tiff");
  EXPECT_EQ(json_of(made).at("document").at("bytes"), 5);
  // It is not the job's own: removing the job leaves it.
  const std::string id = json_of(made).at("id");
  EXPECT_EQ(api.client().ask("DELETE", "/v1/jobs/" + id).status, 200);
  EXPECT_EQ(api.client().ask("DELETE", "/v1/jobs/" + id).status, 204);
  EXPECT_THAT(api.blob_keys(), ElementsAre("incoming/scan.tiff"));
}

}  // namespace
}  // namespace lectern::service
