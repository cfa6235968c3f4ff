// What a team's set-up makes of documents that ask too much: pages that are the death of their workers, too many pages.
#include <gmock/gmock.h>
#include <signal.h>

#include "team_fixture.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;

// The renderer of these tests kills whoever asks it for page 3: every worker that comes near it dies, as with a page
// that a library chokes on.
TEST_P(TeamTest, APageThatKillsItsWorkersIsQuarantinedAndItsNeighboursAreRead) {
  Place here = place();
  here.environment["LECTERN_RENDERER"] = LECTERN_BIN_DIR "/fake_renderer";
  here.environment["LECTERN_LEASE"] = "3";
  const Service service(here);
  const std::string id = service.submit(put("deadly.pdf", "pages=6 kill-host=3"))["id"];
  for (int death = 1; death <= 3; ++death) {
    WorkerProgram victim(here, {"--parallel", "2"});
    EXPECT_EQ(victim.program().finish(), -SIGKILL) << death;
  }
  const WorkerProgram survivor(here, {"--parallel", "2"});
  const Json job = service.wait_until_over(id);
  EXPECT_EQ(job["status"], "succeeded") << job;
  EXPECT_EQ(job["pages"], (Json{{"total", 6}, {"ok", 5}, {"fallback", 0}, {"failed", 1}}));
  const auto events = service.events(id);
  EXPECT_EQ(values(events, "page.quarantined", "page"), std::set<std::string>{"3"});
  EXPECT_THAT(*values(events, "page.quarantined", "error").begin(), HasSubstr("its worker died 3 times"));
  EXPECT_EQ(values(events, "page.done", "page"), (std::set<std::string>{"1", "2", "4", "5", "6"}));
  EXPECT_EQ(count(events, "page.done"), 5) << "each of them once";
  EXPECT_THAT(service.result(id, "md"), HasSubstr("its worker died 3 times"));
}

// What counts is what is wanted, not what is there.
TEST_P(TeamTest, ADocumentWithTooManyPagesIsRefusedInWordsAndByCode) {
  const Place here = place();
  const Service service(here, {"--set", "read.pages_max=3"});
  const std::string file = pdf("long.pdf", 5);
  const std::string id = service.submit(file)["id"];
  const Json refused = service.wait_until_over(id);
  EXPECT_EQ(refused["status"], "failed") << refused;
  EXPECT_EQ(refused["error_code"], "too_many_pages");
  EXPECT_THAT(refused["error"].get<std::string>(), HasSubstr("has 5 pages to read, more than the limit of 3"));
  EXPECT_EQ(values(service.events(id), "split.failed", "code"), std::set<std::string>{"\"too_many_pages\""});
  const Json some = service.wait_until_over(service.submit(file, {{"pages", "1,4-5"}})["id"]);
  EXPECT_EQ(some["status"], "succeeded") << some;
  EXPECT_TRUE(some["error_code"].is_null());
  EXPECT_EQ(some["pages"]["ok"], 3);
  const HttpReply now = service.request(
      "POST", "/v1/read",
      "--b\r\nContent-Disposition: form-data; name=file; filename=a.pdf\r\n\r\n" + slurp(file) + "\r\n--b--\r\n",
      {"Content-Type: multipart/form-data; boundary=b"});
  EXPECT_EQ(now.status, 422);
  EXPECT_EQ(now.json()["code"], "too_many_pages") << now.body;
}

}  // namespace
}  // namespace lectern::e2e
