// The figures that a team's Prometheus collects.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "team_fixture.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;
using testing_sim::RawClient;

int port_of(const WorkerProgram& worker) {
  return std::atoi(worker.said().c_str() + worker.said().rfind(':') + 1);
}

// Another address of this machine: whoever listens on 127.0.0.1 alone is not there.
bool is_reached_from_elsewhere(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string figures_of(int port) {
  RawClient client(port);
  client.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  const auto reply = client.reply();
  return reply && reply->status == 200 ? reply->body : "";
}

TEST_P(TeamTest, ServersAndWorkersTellWhatThereIsToDo) {
  const Place here = place();
  const Service service(here);
  const WorkerProgram worker(here, {"--metrics-port", "0"});
  EXPECT_EQ(service.wait_until_over(service.submit(pdf("a.pdf", 3))["id"])["status"], "succeeded");
  // Both are asked for the first time, so nobody has counted before.
  for (const std::string& figures : {service.request("GET", "/metrics").body, figures_of(port_of(worker))}) {
    for (const char* line :
         {"lectern_store_up 1\n", "lectern_jobs{status=\"succeeded\"} 1\n", "lectern_jobs{status=\"queued\"} 0\n",
          "lectern_jobs_open 0\n", "lectern_tasks{state=\"ready\"} 0\n", "lectern_queue_oldest_seconds 0\n"}) {
      EXPECT_THAT(figures, HasSubstr(line));
    }
  }
  // The job is over before the worker has heard that its last commit was taken.
  while (!figures_of(port_of(worker)).contains("lectern_worker_committed_total 5\n")) continue;
}

TEST_F(TeamOnceTest, FiguresOfAWorkerStayOnItsMachineUnlessItIsSaidOtherwise) {
  const Place here = place(Where::one_machine);
  const WorkerProgram quiet(here, {"--metrics-port", "0"});
  EXPECT_THAT(quiet.said(), HasSubstr("figures at http://127.0.0.1:"));
  EXPECT_FALSE(is_reached_from_elsewhere(port_of(quiet)));
  const WorkerProgram open(here, {"--metrics-port", "0", "--metrics-address", "0.0.0.0"});
  EXPECT_THAT(open.said(), HasSubstr("figures at http://0.0.0.0:"));
  EXPECT_TRUE(is_reached_from_elsewhere(port_of(open)));
  Program wrong = lectern({"work", "--data", out("data"), "--metrics-port", "0", "--metrics-address", "everywhere"});
  EXPECT_EQ(wrong.finish(), 2);
  EXPECT_THAT(wrong.errors(), HasSubstr("work.metrics_address: 'everywhere' is no address"));
}

}  // namespace
}  // namespace lectern::e2e
