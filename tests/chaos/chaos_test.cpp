// Kills and stops API, workers, PostgreSQL and S3 at random moments while documents come in, and then asks: did every
// acknowledged job reach its end, with every page published once and the result right?
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/random.h"
#include "chaos/check.h"
#include "chaos/http_call.h"
#include "chaos/world.h"

namespace lectern::test {
namespace {

using Json = nlohmann::json;

int from_environment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

// What the senders were promised.
class Acknowledged {
 public:
  void add(const std::string& job, const Document& document) {
    const std::lock_guard lock(mutex_);
    jobs_[job] = &document;
  }
  std::map<std::string, const Document*> all() const {
    const std::lock_guard lock(mutex_);
    return jobs_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, const Document*> jobs_;
};

// Sends documents until told to stop: each with a key of its own, again and again until the API says that it has it.
class Sender {
 public:
  Sender(World& world, const std::vector<Document>& documents, int number, Acknowledged& acknowledged)
      : world_(world), documents_(documents), number_(number), acknowledged_(acknowledged), thread_([this] {
          run();
        }) {}
  ~Sender() {
    stop_ = true;
    thread_.join();
  }
  int repeats() const { return repeats_; }

 private:
  void run() {
    for (int count = 0; !stop_; ++count) {
      const Document& document = documents_[static_cast<std::size_t>(count + number_) % documents_.size()];
      const std::string key = "sender-" + std::to_string(number_) + "-" + std::to_string(count);
      const std::string job = send(document, key);
      if (job.empty()) return;
      acknowledged_.add(job, document);
      await_end(world_, job, [this] { return stop_.load(); });  // one job a sender: the load is bounded
    }
  }
  // Empty when told to stop.
  std::string send(const Document& document, const std::string& key) {
    const Multipart form = multipart({}, document.name, document.bytes);
    for (;; ++repeats_) {
      const auto answer =
          call(world_.port(), {.method = "POST",
                               .target = "/v1/jobs",
                               .headers = {{"Content-Type", form.content_type}, {"Idempotency-Key", key}},
                               .body = form.body,
                               .timeout = std::chrono::seconds(5)});
      if (answer && (answer->status == 201 || answer->status == 200)) {
        return Json::parse(answer->body).at("id");
      }
      if (answer && answer->status < 500 && answer->status != 429) {
        ADD_FAILURE() << "refused: " << answer->status << " " << answer->body;
        return {};
      }
      if (stop_) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the API is down: that is the test
    }
  }
  World& world_;
  const std::vector<Document>& documents_;
  const int number_;
  Acknowledged& acknowledged_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> repeats_ = 0;
  std::thread thread_;
};

class Chaos : public testing::Test {
 protected:
  std::vector<std::unique_ptr<Victim>> servers(World& world) {
    std::vector<std::unique_ptr<Victim>> made;
    made.push_back(std::make_unique<ServerVictim>(
        "postgres", ServerVictim::Actions{.kill = [&world] { world.postgres().kill(); },
                                          .stop = [&world] { world.postgres().pause(); },
                                          .go_on = [&world] { world.postgres().resume(); },
                                          .restart = [&world] { world.postgres().start(); }}));
    made.push_back(
        std::make_unique<ServerVictim>("s3", ServerVictim::Actions{.kill = [&world] { world.s3().kill(); },
                                                                   .stop = [&world] { world.s3().pause(); },
                                                                   .go_on = [&world] { world.s3().resume(); },
                                                                   .restart = [&world] { world.s3().start(); }}));
    return made;
  }
};

TEST_F(Chaos, EveryAcknowledgedJobReachesItsEndAndEveryPageIsPublishedOnce) {
  const int kills_wanted = from_environment("LECTERN_CHAOS_KILLS", 200);
  const auto seed = static_cast<std::uint64_t>(from_environment("LECTERN_CHAOS_SEED", 1));
  SeededRandom random(seed);
  // Leases are short so that the test is; random kills are no page's doing, so nothing is put into quarantine for them.
  World world({.workers = 2, .settings = {"jobs.lease_s=2", "jobs.quarantine_after=1000"}});
  world.await_ready();
  const std::vector<Document> papers = sample_documents(world);
  Acknowledged acknowledged;
  std::map<std::string, int> kills;
  std::map<std::string, int> stops;
  int repeats = 0;
  {
    const auto backs = servers(world);
    std::vector<Victim*> victims{&world.api(), &world.worker(0), &world.worker(1), backs[0].get(), backs[1].get()};
    std::vector<std::unique_ptr<Sender>> senders;
    for (int i = 0; i < 4; ++i) senders.push_back(std::make_unique<Sender>(world, papers, i, acknowledged));
    for (int done = 0; done < kills_wanted;) {
      // Workers and the API most often: they are what this is about, and they are back at once.
      const auto dice = random.below(20);
      Victim& victim = *victims[dice < 14 ? 1 + dice % 2 : dice < 17 ? 0 : dice < 19 ? 3 : 4];
      std::this_thread::sleep_for(std::chrono::milliseconds(30 + random.below(220)));
      if (random.below(6) == 0) {
        ++stops[victim.name()];
        victim.stop();
        // Sometimes longer than a lease: whoever was stopped comes back late.
        std::this_thread::sleep_for(std::chrono::milliseconds(random.below(random.below(3) == 0 ? 4'000 : 400)));
        victim.go_on();
        continue;
      }
      victim.kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(100)));
      victim.restart();
      ++kills[victim.name()];
      ++done;
    }
    for (const auto& sender : senders) repeats += sender->repeats();
  }
  world.await_ready();
  Story story;
  int pages = 0;
  const auto promised = acknowledged.all();
  for (const auto& [job, document] : promised) story += check_job(world, job, *document, pages);
  std::string said = "kills:";
  for (const auto& [name, count] : kills) said += " " + name + " " + std::to_string(count);
  said += "; stops:";
  for (const auto& [name, count] : stops) said += " " + name + " " + std::to_string(count);
  std::printf(
      "%s\n%zu jobs acknowledged, %d pages, each published once; %d sends repeated, %d leases lost, %d late commits "
      "refused, %d tries put off\n",
      said.c_str(), promised.size(), pages, repeats, story.lost, story.late, story.again);
  EXPECT_GT(promised.size(), 20U) << "too little happened to show anything";
  EXPECT_GT(story.lost, 0);
  if (HasFailure()) std::printf("%s\n", world.logs().c_str());
}

}  // namespace
}  // namespace lectern::test
