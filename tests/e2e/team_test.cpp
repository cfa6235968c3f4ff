// The compose-like test: API, two workers, a store, blobs and a simulated engine, all of them processes. Once on one
// machine (SQLite and a folder), once as a team runs it (PostgreSQL and S3).
#include <gmock/gmock.h>
#include <signal.h>

#include <set>
#include <sstream>

#include "document/render/sanitizer.h"
#include "servers/fault_proxy.h"
#include "team_fixture.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;
using testing_sim::SimEngine;

TEST_P(TeamTest, AResultIsWhatReadPrints) {
  const Place here = place();
  const Service service(here);
  const WorkerProgram first(here, {"--parallel", "1"});
  const WorkerProgram second(here, {"--parallel", "1"});
  const std::string samples = LECTERN_SOURCE_DIR "/samples/";
  std::map<std::string, std::string> jobs;
  for (const std::string& file : {pdf("long.pdf", 40), samples + "report.pdf", samples + "letter-scan.pdf"}) {
    jobs[file] = service.submit(file)["id"];
  }
  for (const auto& [file, id] : jobs) {
    const Json job = service.wait_until_over(id);
    EXPECT_EQ(job["status"], "succeeded") << job;
    expect_same_as_read(service, id, file);
  }
  // One page is what --stream gives of it.
  const std::string report = samples + "report.pdf";
  const Json page = service.request("GET", "/v1/jobs/" + jobs[report] + "/pages/2").json();
  std::istringstream lines(read_prints(report, "json", {"--stream"}));
  std::string second_page;
  std::getline(std::getline(lines, second_page), second_page);
  EXPECT_EQ(without_times(page["result"].dump()), without_times(Json::parse(second_page).dump()));
  EXPECT_EQ(page["page_number"], 2);
  EXPECT_EQ(page["prompt"], "");
  EXPECT_EQ(page["response"], page["result"]["markdown"]);
  const auto image = service.request("GET", "/v1/jobs/" + jobs.begin()->second + "/pages/1/image");
  EXPECT_EQ(image.status, 200) << image.body;
  EXPECT_THAT(image.body, testing::StartsWith("\xFF\xD8"));
}

TEST_P(TeamTest, SoItIsWithAnEngineAndBothWorkersShareThePages) {
  const Place here = place();
  const SimEngine engine({"--paused"});
  const Service service(here);
  const std::vector<std::string> flags = {"--engine", engine.url(), "--parallel", "2"};
  const WorkerProgram first(here, flags);
  const WorkerProgram second(here, flags);
  const std::string file = pdf("shared.pdf", 60);
  const std::string id = service.submit(file)["id"];
  engine.await("in_flight=4");  // each worker asks about two pages at a time
  engine.control(R"({"paused": false})");
  const Json job = service.wait_until_over(id);
  EXPECT_EQ(job["status"], "succeeded") << job;
  EXPECT_EQ(job["pages"], (Json{{"total", 60}, {"ok", 60}, {"fallback", 0}, {"failed", 0}}));
  const auto events = service.events(id);
  EXPECT_EQ(values(events, "page.done", "worker").size(), 2U);
  EXPECT_EQ(count(events, "page.done"), 60);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["number"], i + 1);
  expect_same_as_read(service, id, file, flags);
}

TEST_P(TeamTest, CancellingStopsWorkInFlight) {
  const Place here = place();
  const SimEngine engine({"--paused"});
  const Service service(here);
  const WorkerProgram worker(here, {"--engine", engine.url(), "--parallel", "4"});
  const std::string id = service.submit(pdf("a.pdf", 20))["id"];
  engine.await("in_flight=4");
  EXPECT_EQ(service.request("DELETE", "/v1/jobs/" + id).status, 200);
  engine.await("in_flight=0");  // the questions were cut off
  EXPECT_EQ(service.wait_until_over(id)["status"], "cancelled");
  // The worker is free for others.
  engine.control(R"({"paused": false})");
  EXPECT_EQ(service.wait_until_over(service.submit(pdf("b.pdf", 2))["id"])["status"], "succeeded");
}

TEST_P(TeamTest, FailedPagesAreTriedAgain) {
  const Place here = place();
  const SimEngine engine({"--fault", "refusal"});
  const Service service(here);
  const std::vector<std::string> flags = {"--engine", engine.url(), "--fallback", "placeholder"};
  const WorkerProgram worker(here, flags);
  const std::string file = pdf("a.pdf", 3);
  const std::string id = service.submit(file)["id"];
  const Json failed = service.wait_until_over(id);
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["pages"]["failed"], 3);
  EXPECT_THAT(service.result(id, "md"), HasSubstr("[VLM_ERROR page 2]"));
  engine.control(R"({"fault": []})");
  EXPECT_EQ(service.request("POST", "/v1/jobs/" + id + "/retry").status, 202);
  const Json job = service.wait_until_over(id);
  EXPECT_EQ(job["status"], "succeeded");
  EXPECT_EQ(job["pages"]["ok"], 3);
  expect_same_as_read(service, id, file, flags);
}

TEST_P(TeamTest, AStoppedWorkerHandsItsPagesBack) {
  const Place here = place();
  const SimEngine engine({"--paused"});
  const Service service(here);
  const std::string file = pdf("a.pdf", 6);
  const std::vector<std::string> flags = {"--engine", engine.url(), "--parallel", "3"};
  std::string id;
  std::string name;
  {
    WorkerProgram stopped(here, {"--engine", engine.url(), "--parallel", "3", "--set", "work.grace_s=0"});
    name = stopped.name();
    id = service.submit(file)["id"];
    engine.await("in_flight=3");
    stopped.program().signal(SIGTERM);
    EXPECT_EQ(stopped.program().finish(), 0) << stopped.program().errors();
  }
  engine.control(R"({"paused": false})");
  const WorkerProgram next(here, flags);
  EXPECT_EQ(service.wait_until_over(id)["status"], "succeeded");
  const auto events = service.events(id);
  EXPECT_GE(values(events, "page.handed_back", "page").size(), 3U);
  EXPECT_EQ(values(events, "page.handed_back", "worker"), std::set<std::string>{'"' + name + '"'});
  EXPECT_EQ(count(events, "page.lost"), 0) << "nobody had to wait for a lease";
  EXPECT_EQ(values(events, "page.done", "attempt"), std::set<std::string>{"1"}) << "a deploy is not a failure";
  EXPECT_EQ(values(events, "page.done", "worker"), std::set<std::string>{'"' + next.name() + '"'});
  expect_same_as_read(service, id, file, flags);
}

TEST_P(TeamTest, AStoppedWorkerFinishesWhatItCan) {
  const Place here = place();
  const SimEngine engine({"--paused"});
  const Service service(here);
  WorkerProgram worker(here, {"--engine", engine.url(), "--parallel", "2"});
  const std::string id = service.submit(pdf("a.pdf", 2))["id"];
  engine.await("in_flight=2");
  worker.program().signal(SIGTERM);
  ASSERT_THAT(worker.program().error_line().value_or(""), HasSubstr("stopping"));
  engine.control(R"({"paused": false})");
  EXPECT_EQ(worker.program().finish(), 0);
  EXPECT_EQ(count(service.events(id), "page.done"), 2);
  EXPECT_EQ(service.job(id)["status"], "running") << "assembling is left to the next";
  const WorkerProgram next(here, {"--engine", engine.url()});
  EXPECT_EQ(service.wait_until_over(id)["status"], "succeeded");
}

// A folder always answers.
TEST_F(TeamOnceTest, AStoppedWorkerDoesNotWaitForBlobsThatDoNotAnswer) {
  const Place here = place(Where::team);
  test::FaultProxy proxy(test::shared_s3().port());
  Place behind = here;
  const std::string port = ":" + std::to_string(test::shared_s3().port());
  std::string& url = behind.blobs.back();
  url.replace(url.find(port), port.size(), ":" + std::to_string(proxy.port()));
  proxy.set(test::FaultProxy::Mode::half_open);
  const Service service(here);
  std::string id;
  {
    WorkerProgram stopped(behind, {"--set", "work.grace_s=0"});
    id = service.submit(pdf("a.pdf", 2))["id"];
    while (proxy.accepted() == 0) service.wait_for(id, "job.running");
    stopped.program().signal(SIGTERM);
    EXPECT_EQ(stopped.program().finish(), 0) << stopped.program().errors();
    EXPECT_EQ(proxy.accepted(), 1) << "it waited until its question was given up, and asked again";
  }
  const WorkerProgram next(here);
  EXPECT_EQ(service.wait_until_over(id)["status"], "succeeded");
  EXPECT_EQ(count(service.events(id), "split.lost"), 0) << "nobody had to wait for a lease";
}

TEST_P(TeamTest, TasksOfAKilledWorkerRunElsewhere) {
  const Place here = place();
  const SimEngine stuck({"--paused"});
  const SimEngine engine;
  const Service service(here);
  const std::string file = pdf("a.pdf", 8);
  const std::vector<std::string> flags = {"--engine", engine.url(), "--parallel", "4"};
  WorkerProgram killed(here, {"--engine", stuck.url(), "--parallel", "4"});
  const std::string id = service.submit(file)["id"];
  stuck.await("in_flight=4");
  killed.program().signal(SIGKILL);
  killed.program().finish();
  const WorkerProgram other(here, flags);
  EXPECT_EQ(service.wait_until_over(id)["status"], "succeeded");
  const auto events = service.events(id);
  EXPECT_GE(count(events, "page.lost"), 1);
  EXPECT_EQ(count(events, "page.done"), 8);
  EXPECT_EQ(values(events, "page.done", "page").size(), 8U);
  expect_same_as_read(service, id, file, flags);
}

TEST_P(TeamTest, ARestartOfEverythingLosesNothing) {
  const Place here = place();
  const SimEngine engine({"--slots", "2", "--latency", "fixed:0.05s"});
  const std::vector<std::string> flags = {"--engine", engine.url(), "--parallel", "2"};
  const std::string file = pdf("a.pdf", 30);
  std::string id;
  std::string queued;
  {
    Service service(here);
    WorkerProgram first(here, flags);
    WorkerProgram second(here, flags);
    id = service.submit(file)["id"];
    queued = service.submit(pdf("b.pdf", 2))["id"];
    service.wait_for(id, "page.done", 5);
    for (Program* one : {&first.program(), &service.program(), &second.program()}) one->signal(SIGKILL);
  }
  crash_servers();
  const Service service(here);
  const WorkerProgram first(here, flags);
  const WorkerProgram second(here, flags);
  for (const std::string& one : {id, queued}) {
    EXPECT_EQ(service.wait_until_over(one)["status"], "succeeded");
  }
  const auto events = service.events(id);
  EXPECT_EQ(count(events, "page.done"), 30) << "each page is published once";
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["number"], i + 1);
  expect_same_as_read(service, id, file, flags);
}

TEST_P(TeamTest, ADocumentThatIsNoneFailsInTheWordsOfRead) {
  const Place here = place();
  const Service service(here, {});
  const std::string file = put("letter.pdf", "not a PDF at all");
  const Json job = service.wait_until_over(service.submit(file)["id"]);
  EXPECT_EQ(job["status"], "failed");
  Program read = lectern({"read", file, "-q"});
  EXPECT_EQ(read.finish(), 4);
  EXPECT_EQ(read.errors(), "letter.pdf: " + job["error"].get<std::string>() + "\n");
}

TEST_P(TeamTest, ACommandShowsTriesAgainAndCancels) {
  const Place here = place();
  const SimEngine engine({"--paused"});
  const Service service(here, {"--engine", engine.url(), "--parallel", "1", "--fallback", "placeholder"});
  const auto jobs = [&](std::vector<std::string> words, const std::vector<std::string>& where) {
    words.insert(words.begin(), "jobs");
    words.insert(words.end(), where.begin(), where.end());
    return Program(LECTERN_BIN_DIR "/lectern", {.arguments = words, .environment = here.environment});
  };
  const std::vector<std::string> server = {"--server", service.url()};
  const std::string id = service.submit(pdf("a.pdf", 2))["id"];
  engine.await("in_flight=1");
  for (const auto& where : {server, here.store}) {
    Program list = jobs({"list"}, where);
    EXPECT_EQ(list.finish(), 0) << list.errors();
    EXPECT_THAT(list.output(), HasSubstr(id + "  running"));
    Program show = jobs({"show", id}, where);
    EXPECT_EQ(show.finish(), 0) << show.errors();
    EXPECT_THAT(show.output(), HasSubstr("job.queued"));
    EXPECT_THAT(show.output(), HasSubstr("document   a.pdf"));
    Program none = jobs({"show", "job_00000000000000000000000000"}, where);
    EXPECT_EQ(none.finish(), 4);
    EXPECT_THAT(none.errors(), HasSubstr("no"));
  }
  Program watch = jobs({"watch", id, "--json"}, here.store);
  ASSERT_TRUE(watch.output_line());
  Program cancel = jobs({"cancel", id}, server);
  EXPECT_EQ(cancel.finish(), 0) << cancel.errors();
  EXPECT_EQ(watch.finish(), 3);
  EXPECT_THAT(watch.output(), HasSubstr("\"status\":\"cancelled\""));
  for (const auto& where : {server, here.store}) {
    Program again = jobs({"cancel", id}, where);
    EXPECT_EQ(again.finish(), 4);
    EXPECT_THAT(again.errors(), HasSubstr("is over already (cancelled)"));
  }
}

TEST_P(TeamTest, OthersAreLetInWithAKey) {
  const Place here = place();
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), here.store.begin(), here.store.end());
    return Program(LECTERN_BIN_DIR "/lectern", {.arguments = words, .environment = here.environment});
  };
  std::vector<std::string> everywhere = {"serve", "--listen", "0.0.0.0:0", "--workers", "none"};
  everywhere.insert(everywhere.end(), here.blobs.begin(), here.blobs.end());
  Program refused = run(everywhere);
  EXPECT_EQ(refused.finish(), 2);
  EXPECT_THAT(refused.errors(), HasSubstr("key"));

  Program create = run({"keys", "create", "--name", "intake", "--json"});
  EXPECT_EQ(create.finish(), 0) << create.errors();
  const Json key = Json::parse(create.output());
  EXPECT_GE(key["created_at"].get<std::string>(), "2026") << "the time of the store";
  const Service service(here);
  EXPECT_EQ(service.request("GET", "/v1/jobs").status, 401);
  EXPECT_EQ(service.request("GET", "/v1/jobs", "", {"Authorization: Bearer " + key["key"].get<std::string>()}).status,
            200);

  Program list = run({"keys", "list"});
  EXPECT_EQ(list.finish(), 0);
  EXPECT_THAT(list.output(), HasSubstr("intake"));
  EXPECT_EQ(list.output().find(key["key"].get<std::string>()), std::string::npos) << "a key is shown once";
  Program revoke = run({"keys", "revoke", key["id"]});
  EXPECT_EQ(revoke.finish(), 0) << revoke.errors();
  EXPECT_EQ(run({"keys", "revoke", "nonsense"}).finish(), 4);
}

TEST_F(TeamOnceTest, ErrorsOfJobsNameFieldsAndNotFlags) {
  const Place here = place(Where::one_machine);
  const Service service(here, {});
  const std::string locked = LECTERN_SOURCE_DIR "/samples/protected.pdf";
  for (const auto& [fields, says] : std::map<std::map<std::string, std::string>, std::string>{
           {{}, "field 'password'"}, {{{"password", "guess"}}, "field 'password'"}}) {
    const Json job = service.wait_until_over(service.submit(locked, fields)["id"]);
    EXPECT_EQ(job["status"], "failed");
    EXPECT_THAT(job["error"].get<std::string>(), HasSubstr(says));
    EXPECT_EQ(job["error"].get<std::string>().find("--"), std::string::npos) << job["error"];
  }
  const Json none = service.wait_until_over(service.submit(pdf("a.pdf", 2), {{"pages", "9"}})["id"]);
  EXPECT_THAT(none["error"].get<std::string>(), HasSubstr("none of them in 'pages' 9"));
}

TEST_P(TeamTest, AMisspeltStoreIsNotMade) {
  const Place here = place();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"jobs", "list"}, {"keys", "list"}, {"keys", "create", "--name", "x"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), here.store.begin(), here.store.end());
    Program program(LECTERN_BIN_DIR "/lectern", {.arguments = words, .environment = here.environment});
    EXPECT_EQ(program.finish(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("there is no job store at"));
    EXPECT_THAT(program.errors(), HasSubstr("lectern serve makes one"));
  }
  EXPECT_FALSE(std::filesystem::exists(out("data")));
  const Service service(here);
  std::vector<std::string> list = {"jobs", "list"};
  list.insert(list.end(), here.store.begin(), here.store.end());
  EXPECT_EQ(Program(LECTERN_BIN_DIR "/lectern", {.arguments = list, .environment = here.environment}).finish(), 0);
}

// The bar is 40 MB. Shared pages of libraries count in full in RSS, by their share in PSS.
TEST_P(TeamTest, AnIdleWorkerIsSmall) {
  if (document::under_sanitizer) GTEST_SKIP() << "a sanitizer's own memory is larger than the bound";
  const Place here = place();
  WorkerProgram worker(here);
  const Memory memory = memory_of(worker.program().pid());
  RecordProperty("rss_kib", static_cast<int>(memory.rss_kib));
  fmt::print("an idle worker: {:.1f} MB resident, {:.1f} MB by share, {} process\n",
             static_cast<double>(memory.rss_kib) / 1024, static_cast<double>(memory.pss_kib) / 1024, memory.processes);
  EXPECT_EQ(memory.processes, 1);
  EXPECT_LE(memory.rss_kib, 40 * 1024);
}

INSTANTIATE_TEST_SUITE_P(Places, TeamTest, testing::Values(Where::one_machine, Where::team),
                         [](const auto& info) { return info.param == Where::one_machine ? "OneMachine" : "Team"; });

}  // namespace
}  // namespace lectern::e2e
