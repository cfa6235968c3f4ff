// One source for each fact: the program, api/openapi.yaml and docs/api.md say the same about routes, parameters, fields
// and errors.
#include "service/api/openapi.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "job/memory/memory_database.h"
#include "service/api/api.h"
#include "service/live_api.h"
#include "service/submission.h"

namespace lectern::service {
namespace {

using nlohmann::json;

const json& description() {
  static const json parsed = json::parse(openapi_json());
  return parsed;
}

json resolved(const json& thing) {
  if (!thing.contains("$ref")) return thing;
  return description().at(json::json_pointer(thing.at("$ref").get<std::string>().substr(1)));
}

TEST(OpenApi, TheSameProblems) {
  const json& problem = description().at("components").at("schemas").at("Problem");
  std::vector<std::string> listed = problem.at("properties").at("code").at("enum");
  ASSERT_EQ(listed.size(), problem_kinds().size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const ProblemKind& kind = problem_kinds()[i];
    EXPECT_EQ(listed[i], kind.name);
    const json& more = problem.at("x-problems").at(std::string(kind.name));
    EXPECT_EQ(more.at("status"), kind.status) << kind.name;
    EXPECT_EQ(more.at("title"), kind.title) << kind.name;
  }
  EXPECT_EQ(problem.at("x-problems").size(), problem_kinds().size());
}

// Also the responses name what they can be.
TEST(OpenApi, EveryProblemIsAResponse) {
  std::string all;
  for (const auto& [name, response] : description().at("components").at("responses").items()) {
    all += response.at("description").get<std::string>();
  }
  for (const ProblemKind& kind : problem_kinds())
    EXPECT_TRUE(all.contains("`" + std::string(kind.name) + "`")) << kind.name;
}

TEST(OpenApi, TheDocsListTheSameProblems) {
  std::ifstream file(LECTERN_SOURCE_DIR "/docs/api.md");
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `") && line.contains("` | ") &&
        std::isdigit(static_cast<unsigned char>(line[line.find("` | ") + 4])))
      rows.insert(line.substr(0, line.rfind(" | ", line.size() - 2)));
  }
  std::set<std::string> expected;
  for (const ProblemKind& kind : problem_kinds()) {
    expected.insert("| `" + std::string(kind.name) + "` | " + std::to_string(kind.status) + " | " +
                    std::string(kind.title));
  }
  EXPECT_EQ(rows, expected);
}

TEST(OpenApi, TheSameRoutesAndParameters) {
  const TempFolder folder;
  SystemTimers timers;
  SystemRandom random;
  CpuPool cpu(1);
  job::Store store(job::make_memory_database(timers.clock()), {}, timers);
  auto blobs = job::open_folder_blobs({.folder = folder.path()});
  ApiContext context(
      {}, {.store = store, .blobs = **blobs, .cpu = cpu, .timers = timers, .random = random, .more_metrics = {}});
  http::Router router;
  add_routes(router, context);
  std::map<std::string, std::set<std::string>> routes;  // "GET /path" → parameters of the query
  for (const http::Route* route : router.routes()) {
    std::string pattern = route->pattern;
    if (const std::size_t colon = pattern.find(":number"); colon != std::string::npos) pattern.erase(colon, 7);
    std::istringstream words(route->query);
    routes[route->method + " " + pattern] = {std::istream_iterator<std::string>(words), {}};
  }
  std::map<std::string, std::set<std::string>> described;
  for (const auto& [path, item] : description().at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      std::string name = method;
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      auto& query = described[name + " " + path];
      for (const json& parameter : operation.value("parameters", json::array())) {
        const json one = resolved(parameter);
        if (one.at("in") == "query") query.insert(one.at("name").get<std::string>());
      }
    }
  }
  EXPECT_EQ(routes, described);
}

TEST(OpenApi, TheSameFields) {
  const json& schemas = description().at("components").at("schemas");
  std::set<std::string> described;
  for (const auto& [name, schema] : schemas.at("JobForm").at("properties").items()) described.insert(name);
  std::set<std::string> known = {"file"};
  std::istringstream names(field_names());
  for (std::string name; std::getline(names >> std::ws, name, ',');) known.insert(name);
  EXPECT_EQ(described, known);
  known.erase("operation");  // the path says it
  std::set<std::string> now;
  for (const auto& [name, schema] : schemas.at("ReadForm").at("properties").items()) now.insert(name);
  EXPECT_EQ(now, known);
}

// The limits that the description promises are those that are checked.
TEST(OpenApi, WhatTheDescriptionAllowsIsTaken) {
  const json& properties = description().at("components").at("schemas").at("JobForm").at("properties");
  for (const auto& [name, schema] : properties.items()) {
    Submission submission;
    if (schema.contains("maxLength") && name != "webhook" && name != "name") {
      const auto longest = std::string(schema.at("maxLength").get<std::size_t>(), 'a');
      EXPECT_TRUE(set_field(submission, name, longest)) << name;
    }
    for (const char* bound : {"minimum", "maximum"}) {
      if (schema.contains(bound)) EXPECT_TRUE(set_field(submission, name, schema.at(bound).dump())) << name;
    }
    for (const json& value : schema.value("examples", json::array())) {
      EXPECT_TRUE(set_field(submission, name, value.get<std::string>())) << name;
    }
    for (const json& value : schema.value("enum", json::array())) {
      EXPECT_TRUE(set_field(submission, name, value.get<std::string>())) << name;
    }
  }
}

// What is missing or of a wrong type in `value`, by the parts of JSON Schema that responses use.
std::vector<std::string> misfits(const json& schema_or_reference, const json& value, const std::string& at = "") {
  const json schema = resolved(schema_or_reference);
  const std::map<std::string, bool> types = {{"object", value.is_object()}, {"array", value.is_array()},
                                             {"string", value.is_string()}, {"integer", value.is_number_integer()},
                                             {"number", value.is_number()}, {"null", value.is_null()}};
  std::vector<std::string> found;
  if (schema.contains("type") && schema["type"].is_string() && !types.at(schema["type"].get<std::string>())) {
    return {at + " is no " + schema["type"].get<std::string>()};
  }
  const json properties = schema.value("properties", json::object());
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) found.push_back(at + "/" + name.get<std::string>() + " is missing");
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (!properties.contains(name)) {
        if (!properties.empty() && !schema.value("additionalProperties", true)) found.push_back(at + "/" + name + "?");
        continue;
      }
      for (auto& misfit : misfits(properties[name], member, at + "/" + name)) found.push_back(std::move(misfit));
    }
  }
  if (value.is_array() && schema.contains("items")) {
    for (const json& item : value) {
      for (auto& misfit : misfits(schema["items"], item, at + "[]")) found.push_back(std::move(misfit));
    }
  }
  return found;
}

TEST(OpenApi, APageIsWhatTheDescriptionSays) {
  LiveApi api;
  const std::string path = "/v1/jobs/" + api.submit_id() + "/pages/1";
  api.work({});
  const json& schema = description().at(
      json::json_pointer("/paths/~1v1~1jobs~1{id}~1pages~1{page}/get/responses/200/content/application~1json/schema"));
  const json page = json_of(api.get(path));
  EXPECT_EQ(misfits(schema, page), std::vector<std::string>());
  EXPECT_FALSE(page.at("result").at("blocks").empty()) << "a page with something to look at";
  EXPECT_NE(misfits(schema, json{{"page_number", 1}}), std::vector<std::string>());
}

TEST(OpenApi, IsServed) {
  LiveApi api;
  const RawResponse served = api.get("/openapi.json");
  EXPECT_EQ(served.fields.at("content-type"), "application/json");
  EXPECT_EQ(json_of(served), description());
  EXPECT_TRUE(api.get("/").body.contains("/openapi.json"));
}

}  // namespace
}  // namespace lectern::service
