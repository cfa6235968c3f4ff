#include "chaos/check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "chaos/http_call.h"
#include "e2e/program.h"

namespace lectern::test {
namespace {

using Json = nlohmann::json;

std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The events tell of every page exactly one publication.
Story check_events(World& world, const std::string& job, int pages) {
  Story story;
  std::map<int, int> published;
  std::int64_t last = 0;
  for (bool more = true; more;) {
    const auto answer = call(world.port(), {.target = "/v1/jobs/" + job + "/events?after=" + std::to_string(last),
                                            .headers = {{"Accept", "application/json"}}});
    if (!answer || answer->status != 200) {
      ADD_FAILURE() << job << ": no events: " << (answer ? answer->body : "");
      return story;
    }
    const Json page = Json::parse(answer->body);
    for (const Json& event : page.at("events")) {
      EXPECT_EQ(event.at("number").get<std::int64_t>(), ++last) << job << ": its events have gaps";
      const std::string kind = event.at("kind");
      if (kind == "page.done") ++published[event.at("data").at("page").get<int>()];
      story.lost += kind.ends_with(".lost") ? 1 : 0;
      story.late += kind.ends_with(".late") ? 1 : 0;
      story.again += kind.ends_with(".again") ? 1 : 0;
    }
    more = !page.at("next").is_null();
  }
  EXPECT_EQ(static_cast<int>(published.size()), pages) << job;
  for (const auto& [page, times] : published) EXPECT_EQ(times, 1) << job << ": page " << page;
  return story;
}

}  // namespace

Story& Story::operator+=(const Story& other) {
  lost += other.lost;
  late += other.late;
  again += other.again;
  return *this;
}

std::vector<Document> sample_documents(World& world) {
  std::vector<Document> all;
  for (const char* name : {"report.pdf", "form.pdf", "hebrew-arabic.pdf"}) {
    const std::string file = std::string(LECTERN_SOURCE_DIR) + "/samples/" + name;
    e2e::Program read(LECTERN_BIN_DIR "/lectern",
                      {.arguments = {"read", file, "--quiet", "--engine", world.engine().url()}});
    EXPECT_EQ(read.finish(), 0) << read.errors();
    all.push_back({.name = name, .bytes = bytes_of(file), .expected = read.output()});
  }
  return all;
}

Json await_end(World& world, const std::string& job, const std::function<bool()>& give_up) {
  while (!give_up()) {
    // The stream ends with the job, or with the API.
    call(world.port(), {.target = "/v1/jobs/" + job + "/events",
                        .headers = {{"Accept", "text/event-stream"}},
                        .timeout = std::chrono::seconds(5)});
    const auto answer = call(world.port(), {.target = "/v1/jobs/" + job, .timeout = std::chrono::seconds(5)});
    if (answer && answer->status == 404) {
      ADD_FAILURE() << job << " was acknowledged and is gone";
      return {};
    }
    if (answer && answer->status == 200) {
      Json state = Json::parse(answer->body);
      if (state.at("status") != "queued" && state.at("status") != "running") return state;
    }
    if (!answer)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it is down: nobody can say when it is back
  }
  return {};
}

Story check_job(World& world, const std::string& job, const Document& document, int& pages) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(3);
  const Json state = await_end(world, job, [until] { return std::chrono::steady_clock::now() >= until; });
  if (state.is_null()) {
    ADD_FAILURE() << job << " never ended";
    return {};
  }
  EXPECT_EQ(state.at("status"), "succeeded") << state.dump(1);
  const int total = state.at("pages").at("total");
  EXPECT_EQ(state.at("pages").at("ok").get<int>(), total) << state.dump(1);
  pages += total;
  const auto result = call(world.port(), {.target = "/v1/jobs/" + job + "/result?format=md"});
  if (result && result->status == 200) {
    EXPECT_EQ(result->body, document.expected) << job << " (" << document.name << ")";
  } else {
    ADD_FAILURE() << job << ": no result: " << (result ? result->body : "");
  }
  return check_events(world, job, total);
}

}  // namespace lectern::test
