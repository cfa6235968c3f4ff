// What a team's set-up makes of pages that are the death of their workers.
#include <gmock/gmock.h>
#include <signal.h>

#include "team_fixture.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;

// The renderer of these tests kills whoever asks it for page 3: every worker that comes near it dies, as with a page that
// a library chokes on.
TEST_P(TeamTest, APageThatKillsItsWorkersIsQuarantinedAndItsNeighboursAreRead) {
  Place here = place();
  here.environment["LECTERN_RENDERER"] = LECTERN_BIN_DIR "/fake_renderer";
  here.environment["LECTERN_LEASE"] = "1";
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

}  // namespace
}  // namespace lectern::e2e
