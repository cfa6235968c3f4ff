// The network between Lectern and its servers goes bad in every way that networks do; jobs wait, and then end as if
// nothing had been.
#include <gtest/gtest.h>

#include "chaos/check.h"
#include "chaos/http_call.h"

namespace lectern::test {
namespace {

using Json = nlohmann::json;

enum class Which : std::uint8_t { postgres, s3 };

class BadNetwork : public testing::TestWithParam<Which> {
 protected:
  FaultProxy& proxy() { return GetParam() == Which::postgres ? world_.postgres_proxy() : world_.s3_proxy(); }

  // Sends until it is acknowledged. Whatever the network does, the answer is 201 or a temporary error, and it comes.
  std::string send(const Document& document, const std::string& key) {
    const Multipart form = multipart({}, document.name, document.bytes);
    for (int tries = 0; tries < 200; ++tries) {
      const auto answer =
          call(world_.port(), {.method = "POST",
                               .target = "/v1/jobs",
                               .headers = {{"Content-Type", form.content_type}, {"Idempotency-Key", key}},
                               .body = form.body,
                               .timeout = std::chrono::seconds(60)});
      if (answer && (answer->status == 201 || answer->status == 200)) return Json::parse(answer->body).at("id");
      if (answer) EXPECT_TRUE(answer->status == 503 || answer->status == 504) << answer->status << answer->body;
    }
    ADD_FAILURE() << "never taken";
    return {};
  }

  World world_{{.workers = 1, .settings = {"jobs.lease_s=3", "jobs.quarantine_after=1000"}, .proxied = true}};
};

TEST_P(BadNetwork, CutConnectionsCostNothing) {
  world_.await_ready();
  const auto documents = sample_documents(world_);
  std::vector<std::pair<std::string, const Document*>> jobs;
  for (int i = 0; i < 12; ++i) {
    const Document& document = documents[static_cast<std::size_t>(i) % documents.size()];
    proxy().cut();
    jobs.emplace_back(send(document, "cut-" + std::to_string(i)), &document);
    proxy().cut_after_reply_bytes(1 + i * 37);  // in the middle of an answer
  }
  int pages = 0;
  for (const auto& [job, document] : jobs) check_job(world_, job, *document, pages);
  EXPECT_GT(pages, 0);
  if (HasFailure()) std::printf("%s\n", world_.logs().c_str());
}

TEST_P(BadNetwork, AHalfOpenConnectionIsNoticedAndLeft) {
  world_.await_ready();
  const auto documents = sample_documents(world_);
  const std::string before = send(documents[0], "before");
  proxy().set(FaultProxy::Mode::half_open);
  // Nothing passes: the API must say so by itself, not hang.
  const Multipart form = multipart({}, documents[1].name, documents[1].bytes);
  const auto answer =
      call(world_.port(), {.method = "POST",
                           .target = "/v1/jobs",
                           .headers = {{"Content-Type", form.content_type}, {"Idempotency-Key", "during"}},
                           .body = form.body,
                           .timeout = std::chrono::seconds(90)});
  ASSERT_TRUE(answer) << "it hangs";
  EXPECT_EQ(answer->status, 503) << answer->body;
  proxy().set(FaultProxy::Mode::pass);
  const std::string during = send(documents[1], "during");
  int pages = 0;
  check_job(world_, before, documents[0], pages);
  check_job(world_, during, documents[1], pages);
  if (HasFailure()) std::printf("%s\n", world_.logs().c_str());
}

TEST_P(BadNetwork, ASlowConnectionIsOnlySlow) {
  world_.await_ready();
  const auto documents = sample_documents(world_);
  proxy().set(FaultProxy::Mode::slow);
  const std::string job = send(documents[1], "slow");
  int pages = 0;
  check_job(world_, job, documents[1], pages);
  proxy().set(FaultProxy::Mode::pass);
  if (HasFailure()) std::printf("%s\n", world_.logs().c_str());
}

INSTANTIATE_TEST_SUITE_P(To, BadNetwork, testing::Values(Which::postgres, Which::s3),
                         [](const auto& tested) { return tested.param == Which::postgres ? "Postgres" : "S3"; });

}  // namespace
}  // namespace lectern::test
