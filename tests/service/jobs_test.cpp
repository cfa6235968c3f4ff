// Looking at jobs, following them, ending them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/request.h"
#include "service/live_api.h"

namespace lectern::service {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Jobs, AJobTellsHowItStands) {
  LiveApi api;
  const std::string id = api.submit_id();
  api.work({.pages = 3, .failed_page = 2});
  const auto job = json_of(api.get("/v1/jobs/" + id));
  EXPECT_EQ(job.at("status"), "succeeded");
  EXPECT_EQ(job.at("pages"), nlohmann::json({{"total", 3}, {"ok", 2}, {"fallback", 0}, {"failed", 1}}));
  EXPECT_EQ(job.at("steps").at(1).at("name"), "read");
  EXPECT_EQ(job.at("steps").at(1).at("done"), 3);
  EXPECT_EQ(job.at("links").at("result"), "/v1/jobs/" + id + "/result");
  EXPECT_TRUE(job.at("finished_at").is_string());
  EXPECT_TRUE(job.at("error").is_null());
}

TEST(Jobs, TheWebhookTellsHowItStands) {
  LiveApi api;
  const std::string id = json_of(api.submit("x", {{"webhook", "https://example.org/h"}})).at("id");
  api.work({.deliver = false});
  const auto delivery = json_of(api.get("/v1/jobs/" + id)).at("delivery");
  EXPECT_EQ(delivery.at("attempts"), 1);
  EXPECT_EQ(delivery.at("last_error"), "the webhook answered 500");
  EXPECT_TRUE(delivery.at("next_at").is_string());
}

TEST(Jobs, ListsGoPageByPage) {
  LiveApi api;
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(api.submit_id());
  std::vector<std::string> seen;
  std::string cursor;
  int pages = 0;
  do {
    const auto page = json_of(api.get("/v1/jobs?limit=2" + cursor));
    for (const auto& job : page.at("jobs")) seen.push_back(job.at("id"));
    cursor = page.at("next").is_null() ? "" : "&cursor=" + page.at("next").get<std::string>();
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(pages, 3);
  std::ranges::sort(ids, std::greater());
  EXPECT_EQ(seen, ids);
  EXPECT_EQ(json_of(api.get("/v1/jobs?status=queued")).at("jobs").size(), 5U);
  EXPECT_EQ(json_of(api.get("/v1/jobs?status=failed")).at("jobs").size(), 0U);
  for (const std::string bad : {"limit=0", "limit=201", "limit=x", "status=done", "cursor=x", "tenant="}) {
    EXPECT_EQ(code_of(api.get("/v1/jobs?" + bad)), "invalid_parameter") << bad;
  }
}

TEST(Jobs, DeletingCancelsThenRemoves) {
  LiveApi api;
  const std::string id = api.submit_id();
  const RawResponse cancelled = api.client().ask("DELETE", "/v1/jobs/" + id);
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(json_of(cancelled).at("status"), "cancelled");
  EXPECT_EQ(api.work(), 0);
  EXPECT_FALSE(api.blob_keys().empty());
  EXPECT_EQ(api.client().ask("DELETE", "/v1/jobs/" + id).status, 204);
  EXPECT_THAT(api.blob_keys(), IsEmpty());
  EXPECT_EQ(api.client().ask("DELETE", "/v1/jobs/" + id).status, 404);
  EXPECT_EQ(api.get("/v1/jobs/" + id).status, 404);
}

TEST(Jobs, RetryReadsFailedPagesAgain) {
  LiveApi api;
  const std::string id = api.submit_id();
  EXPECT_EQ(code_of(api.client().ask("POST", "/v1/jobs/" + id + "/retry")), "nothing_to_retry");
  api.work({.failed_page = 1});
  const RawResponse retried = api.client().ask("POST", "/v1/jobs/" + id + "/retry");
  EXPECT_EQ(retried.status, 202) << retried.body;
  api.work();
  EXPECT_EQ(json_of(api.get("/v1/jobs/" + id)).at("pages").at("failed"), 0);
}

TEST(Jobs, NothingIsToldAboutOtherIds) {
  LiveApi api;
  for (const std::string id :
       {"job_00000000000000000000000000", "x", "..", "job_%00", "job_0000000000000000000000000%2f"}) {
    const RawResponse response = api.get("/v1/jobs/" + id);
    EXPECT_GE(response.status, 400) << id;
    EXPECT_LT(response.status, 405) << id;
  }
}

TEST(Events, TheWholeStoryThenTheEnd) {
  LiveApi api;
  const std::string id = api.submit_id();
  RawClient client = api.client();
  client.send("GET /v1/jobs/" + id + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string early = client.receive_some();
  EXPECT_THAT(early, HasSubstr("Content-Type: text/event-stream\r\n"));
  while (!early.contains("event: job.queued")) early += client.receive_some();
  EXPECT_THAT(early, HasSubstr("id: 1\nevent: job.queued\ndata: {\"number\":1,"));
  api.work();
  std::string late;
  while (!late.contains("event: end")) late += client.receive_some();
  EXPECT_THAT(late, HasSubstr("event: page.done\n"));
  EXPECT_THAT(late, HasSubstr("event: end\ndata: {\"status\":\"succeeded\"}\n\n"));
  while (!late.ends_with("0\r\n\r\n")) late += client.receive_some();
  EXPECT_EQ(client.ask("GET", "/health/live").status, 200);  // the stream has ended, the connection has not
}

std::vector<std::int64_t> ids_of(const std::string& stream) {
  std::vector<std::int64_t> ids;
  for (std::size_t at = stream.find("id: "); at != std::string::npos; at = stream.find("\nid: ", at + 1)) {
    ids.push_back(std::stoll(stream.substr(stream.find(' ', at) + 1)));
  }
  return ids;
}

TEST(Events, ResumeMissesNothingAndRepeatsNothing) {
  LiveApi api;
  const std::string id = api.submit_id();
  api.work({.pages = 5});
  const std::string all = api.get("/v1/jobs/" + id + "/events").body;
  const auto numbers = ids_of(all);
  ASSERT_GT(numbers.size(), 10U);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], static_cast<std::int64_t>(i + 1));
  for (std::size_t seen = 0; seen <= numbers.size(); ++seen) {
    const auto rest =
        ids_of(api.get("/v1/jobs/" + id + "/events", "Last-Event-ID: " + std::to_string(seen) + "\r\n").body);
    EXPECT_EQ(rest, std::vector<std::int64_t>(numbers.begin() + static_cast<std::ptrdiff_t>(seen), numbers.end()));
  }
  EXPECT_EQ(code_of(api.get("/v1/jobs/" + id + "/events", "Last-Event-ID: x\r\n")), "invalid_parameter");
}

TEST(Events, AsPagesOfJson) {
  LiveApi api;
  const std::string id = api.submit_id();
  api.work();
  const std::string json = "Accept: application/json\r\n";
  const auto first = json_of(api.get("/v1/jobs/" + id + "/events?limit=3", json));
  EXPECT_EQ(first.at("events").size(), 3U);
  EXPECT_EQ(first.at("next"), 3);
  EXPECT_EQ(first.at("events").at(0).at("kind"), "job.queued");
  const auto rest = json_of(api.get("/v1/jobs/" + id + "/events?after=3", json));
  EXPECT_EQ(rest.at("events").at(0).at("number"), 4);
  EXPECT_TRUE(rest.at("next").is_null());
  EXPECT_EQ(code_of(api.get("/v1/jobs/" + id + "/events", "Accept: image/png\r\n")), "not_acceptable");
}

TEST(Events, AStreamBeatsWhileNothingHappens) {
  LiveApi api({.options = {.heartbeat = std::chrono::milliseconds(5)}});
  const std::string id = api.submit_id();
  RawClient client = api.client();
  client.send("GET /v1/jobs/" + id + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string got;
  while (!got.contains(": still here\n\n")) got += client.receive_some();
  api.stop();  // and ends properly when the server does
  while (!got.ends_with("0\r\n\r\n")) got += client.receive_some();
}

TEST(Events, StreamsAreCountedAndBounded) {
  LiveApi api({.options = {.streams_max = 1}});
  const std::string id = api.submit_id();
  {
    RawClient client = api.client();
    client.send("GET /v1/jobs/" + id + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_FALSE(client.receive_some().empty());
    EXPECT_EQ(code_of(api.get("/v1/jobs/" + id + "/events")), "rate_limited");
  }
  // The client has left, which is noticed without a heartbeat.
  while (!api.get("/metrics").body.contains("lectern_event_streams 0\n")) {
  }
}

TEST(Results, InEveryFormat) {
  LiveApi api;
  const std::string id = api.submit_id();
  const std::string path = "/v1/jobs/" + id + "/result";
  const RawResponse early = api.get(path);
  EXPECT_EQ(early.status, 409);
  EXPECT_EQ(code_of(early), "not_ready");
  EXPECT_TRUE(early.fields.contains("retry-after"));
  api.work();
  const RawResponse markdown = api.get(path);
  EXPECT_EQ(markdown.body, "# md of " + id + "\n");
  EXPECT_EQ(markdown.fields.at("content-type"), "text/markdown; charset=utf-8");
  EXPECT_EQ(markdown.fields.at("content-disposition"), "inline; filename=\"report.md\"");
  EXPECT_EQ(api.get(path + "?format=text&download").fields.at("content-disposition"),
            "attachment; filename=\"report.txt\"");
  EXPECT_EQ(api.get(path + "?format=json").fields.at("content-type"), "application/json");
  EXPECT_EQ(api.get(path, "Accept: text/html, */*;q=0.1\r\n").body, "# html of " + id + "\n");
  EXPECT_THAT(api.get(path + "?format=html").fields.at("content-security-policy"), HasSubstr("sandbox"));
  EXPECT_EQ(code_of(api.get(path + "?format=pdf")), "invalid_parameter");
  EXPECT_EQ(code_of(api.get(path, "Accept: image/png\r\n")), "not_acceptable");
}

TEST(Results, TagsAndRanges) {
  LiveApi api;
  const std::string id = api.submit_id();
  api.work();
  const std::string path = "/v1/jobs/" + id + "/result";
  const RawResponse whole = api.get(path);
  const std::string etag = whole.fields.at("etag");
  const RawResponse same = api.get(path, "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.fields.at("etag"), etag);
  const RawResponse part = api.get(path, "Range: bytes=2-3\r\nIf-Range: " + etag + "\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "md");
  EXPECT_EQ(part.fields.at("content-range"), "bytes 2-3/" + std::to_string(whole.body.size()));
  EXPECT_EQ(api.get(path, "Range: bytes=2-3\r\nIf-Range: \"other\"\r\n").body, whole.body);
  const RawResponse outside = api.get(path, "Range: bytes=1000-\r\n");
  EXPECT_EQ(outside.status, 416);
  EXPECT_EQ(outside.fields.at("content-range"), "bytes */" + std::to_string(whole.body.size()));
  const RawResponse head = api.client().ask("HEAD", path);
  EXPECT_EQ(head.fields.at("content-length"), std::to_string(whole.body.size()));
}

TEST(Results, OfJobsThatFailed) {
  LiveApi api;
  const std::string id = api.submit_id();
  api.work({.split_fails = true});
  const RawResponse response = api.get("/v1/jobs/" + id + "/result");
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(code_of(response), "no_result");
  EXPECT_THAT(response.body, HasSubstr("the document cannot be opened"));
}

TEST(Pages, BeforeTheResultIsThere) {
  LiveApi api;
  const std::string id = api.submit_id();
  const std::string path = "/v1/jobs/" + id + "/pages/";
  EXPECT_EQ(code_of(api.get(path + "1")), "not_ready");
  api.work({.failed_page = 2, .stop_before_assemble = true});
  const RawResponse page = api.get(path + "1");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(json_of(page).at("page_number"), 1);
  EXPECT_EQ(json_of(page).at("prompt"), "Read this page.");
  EXPECT_EQ(json_of(page).at("response"), "page 1");
  EXPECT_EQ(json_of(page).at("result").at("markdown"), "page 1\n") << "as --format json has it";
  const RawResponse failed = api.get(path + "2");
  EXPECT_EQ(code_of(failed), "no_result");
  EXPECT_THAT(failed.body, HasSubstr("the page cannot be read"));
  EXPECT_EQ(api.get(path + "3").status, 404);
  EXPECT_EQ(api.get(path + "0").status, 404);
  EXPECT_EQ(api.get(path + "1/image").status, 404);
}

TEST(Pages, HaveATagAndParts) {
  LiveApi api;
  const std::string path = "/v1/jobs/" + api.submit_id() + "/pages/1";
  api.work({});
  const RawResponse page = api.get(path);
  const std::string tag = page.fields.at("etag");
  EXPECT_EQ(api.get(path).fields.at("etag"), tag);
  EXPECT_EQ(api.get(path, "If-None-Match: " + tag + "\r\n").status, 304);
  const RawResponse part = api.get(path, "Range: bytes=1-4\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, page.body.substr(1, 4));
  EXPECT_EQ(api.get(path, "Range: bytes=1000000-\r\n").status, 416);
}

TEST(Pages, ADamagedOneIsOurTrouble) {
  LiveApi api;
  const std::string id = api.submit_id();
  api.work({});
  ASSERT_TRUE(api.run(api.blobs().put(job::page_key(id, 1, 1), "{", job::PutMode::replace)));
  EXPECT_EQ(code_of(api.get("/v1/jobs/" + id + "/pages/1")), "internal_error");
}

class DrawnImages final : public PageImages {
 public:
  boost::asio::awaitable<Result<PageImage>> image(job::Job job, int page, Cancellation) override {
    if (page > 2) co_return fail(ErrorKind::not_found, "there is no page {}", page);
    co_return PageImage{.bytes = job.request.id + " " + std::to_string(page), .content_type = "image/png"};
  }
};

TEST(Pages, Pictures) {
  DrawnImages images;
  LiveApi api({.images = &images});
  const std::string id = api.submit_id();
  const std::string path = "/v1/jobs/" + id + "/pages/";
  ASSERT_TRUE(api.run(api.blobs().put(job::page_image_key(id, 1), "kept", job::PutMode::create_only)));
  EXPECT_EQ(api.get(path + "1/image").body, "kept");
  const RawResponse drawn = api.get(path + "2/image");
  EXPECT_EQ(drawn.body, id + " 2");
  EXPECT_EQ(drawn.fields.at("content-type"), "image/png");
  EXPECT_EQ(api.get(path + "3/image").status, 404);
}

}  // namespace
}  // namespace lectern::service
