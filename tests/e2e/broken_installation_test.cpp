// A renderer or a PDF library that is not there: said at once, and never the fault of a document.
#include <gmock/gmock.h>

#include "team_fixture.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;

struct Broken {
  const char* variable;
  const char* value;
};

class BrokenInstallationTest : public TeamOnceTest, public testing::WithParamInterface<Broken> {
 protected:
  Program run(std::vector<std::string> arguments) const {
    return Program(LECTERN_BIN_DIR "/lectern",
                   {.arguments = std::move(arguments), .environment = {{GetParam().variable, GetParam().value}}});
  }
  static void expect_said(Program& program) {
    EXPECT_EQ(program.finish(), 1);
    EXPECT_THAT(program.errors(), HasSubstr(GetParam().value));
    EXPECT_THAT(program.errors(), HasSubstr("to mend: run ./dev build"));
    EXPECT_EQ(program.output(), "");
  }
};

TEST_P(BrokenInstallationTest, ReadEndsWithOne) {
  Program read = run({"read", pdf("a.pdf", 1), "-o", out()});
  expect_said(read);
  EXPECT_FALSE(std::filesystem::exists(out())) << "no document has failed";
}

TEST_P(BrokenInstallationTest, ServeAndWorkDoNotBegin) {
  Program serve = run({"serve", "--listen", "127.0.0.1:0", "--data", out("data")});
  expect_said(serve);
  Program work = run({"work", "--data", out("data")});
  expect_said(work);
}

INSTANTIATE_TEST_SUITE_P(All, BrokenInstallationTest,
                         testing::Values(Broken{"LECTERN_PDFIUM", "/none/libpdfium.so"},
                                         Broken{"LECTERN_RENDERER", "/none/lectern-render"},
                                         Broken{"LECTERN_RENDERER", "/bin/false"}),
                         [](const auto& one) { return "n" + std::to_string(one.index); });

TEST_F(TeamOnceTest, AServiceWithoutAWorkerNeedsNoRenderer) {
  Place here = place(Where::one_machine);
  here.environment["LECTERN_PDFIUM"] = "/none/libpdfium.so";
  const Service service(here);
  EXPECT_EQ(service.request("GET", "/health/ready").status, 200);
}

TEST_F(TeamOnceTest, AWorkerThatLosesItsRendererHandsTheJobBackAndSaysSo) {
  const std::string renderer = out("lectern-render");
  std::filesystem::create_symlink(LECTERN_BIN_DIR "/lectern-render", renderer);
  const Place here = place(Where::one_machine);
  Place lacking = here;
  lacking.environment["LECTERN_RENDERER"] = renderer;
  const Service service(here);
  std::string id;
  {
    WorkerProgram worker(lacking);
    std::filesystem::remove(renderer);
    id = service.submit(pdf("a.pdf", 1))["id"];
    service.wait_for(id, "split.handed_back");
    const std::string warning = worker.program().error_line().value_or("");
    EXPECT_THAT(warning, HasSubstr("given back"));
    EXPECT_THAT(warning, HasSubstr(renderer)) << "the log says what is missing";
  }
  const Json job = service.job(id);
  EXPECT_NE(job["status"], "failed") << job;
  const auto events = service.events(id);
  EXPECT_EQ(count(events, "split.again"), 0) << "it is not one of the task's attempts";
  for (const Json& event : events) EXPECT_EQ(event.dump().find(renderer), std::string::npos) << event;
}

}  // namespace
}  // namespace lectern::e2e
