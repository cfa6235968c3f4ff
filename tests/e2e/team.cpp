#include "team.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace lectern::e2e {
namespace {

using testing_sim::RawClient;

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Program start(const std::string& command, const Place& place, const std::vector<std::string>& more) {
  return Program(LECTERN_BIN_DIR "/lectern",
                 {.arguments = joined(joined(joined({command}, place.store), place.blobs), more),
                  .environment = place.environment});
}

std::string slurp(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

long figure(const std::string& text, const std::string& name) {
  const auto at = text.find(name);
  return at == std::string::npos ? 0 : std::atol(text.c_str() + at + name.size());
}

}  // namespace

Service::Service(const Place& place, std::vector<std::string> more)
    : program_(start("serve", place, joined({"--listen", "127.0.0.1:0"}, more))) {
  const auto line = program_.output_line();
  const auto at = line ? line->find("http://127.0.0.1:") : std::string::npos;
  if (at == std::string::npos) {
    program_.finish();
    throw std::runtime_error("lectern serve did not listen: " + program_.errors());
  }
  port_ = std::atoi(line->c_str() + at + std::string("http://127.0.0.1:").size());
}

HttpReply Service::request(const std::string& method, const std::string& path, const std::string& body,
                           const std::vector<std::string>& headers) const {
  RawClient client(port_);
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n",
                                 method, path, body.size());
  for (const std::string& header : headers) head += header + "\r\n";
  client.send(head + "\r\n" + body);
  const auto reply = client.reply();
  if (!reply) throw std::runtime_error(fmt::format("{} {}: the connection was closed", method, path));
  return {reply->status, reply->head, reply->body};
}

Json Service::submit(const std::string& file, const std::map<std::string, std::string>& fields) const {
  const std::string boundary = "----lectern-e2e";
  std::string body;
  for (const auto& [name, value] : fields) {
    body += fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n", boundary, name, value);
  }
  body += fmt::format("--{}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\r\n", boundary,
                      std::filesystem::path(file).filename().string());
  body += slurp(file) + fmt::format("\r\n--{}--\r\n", boundary);
  const HttpReply reply =
      request("POST", "/v1/jobs", body, {"Content-Type: multipart/form-data; boundary=" + boundary});
  if (reply.status != 201) throw std::runtime_error("not submitted: " + reply.body);
  return reply.json();
}

std::string Service::result(const std::string& id, const std::string& format) const {
  const HttpReply reply = request("GET", fmt::format("/v1/jobs/{}/result?format={}", id, format));
  if (reply.status != 200) throw std::runtime_error("no result: " + reply.body);
  return reply.body;
}

std::vector<Json> Service::events(const std::string& id) const {
  std::vector<Json> all;
  for (std::int64_t after = 0;;) {
    const HttpReply reply = request("GET", fmt::format("/v1/jobs/{}/events?after={}&limit=1000", id, after), "",
                                    {"Accept: application/json"});
    const Json page = reply.json();
    for (const Json& event : page.at("events")) all.push_back(event);
    if (page.at("next").is_null()) return all;
    after = page.at("next").get<std::int64_t>();
  }
}

void Service::wait_for(const std::string& id, const std::string& kind, int count) const {
  RawClient client(port_);
  client.send(
      fmt::format("GET /v1/jobs/{}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n", id));
  const std::string wanted = "event: " + kind + "\n";
  for (std::size_t at = 0; count > 0; --count) {
    if (!client.read_until(wanted, at))
      throw std::runtime_error("the stream ended before " + kind + ": " + client.read());
    at = client.read().find(wanted, at) + wanted.size();
  }
}

Json Service::wait_until_over(const std::string& id) const {
  wait_for(id, "end");
  return job(id);
}

WorkerProgram::WorkerProgram(const Place& place, std::vector<std::string> more)
    : program_(start("work", place, std::move(more))) {
  const auto line = program_.output_line();
  const std::string before = "lectern work: ";
  if (!line || !line->starts_with(before)) {
    program_.finish();
    throw std::runtime_error("lectern work did not start: " + program_.errors());
  }
  said_ = *line;
  name_ = line->substr(before.size(), line->find(' ', before.size()) - before.size());
}

std::string read_prints(const std::string& file, const std::string& format, std::vector<std::string> more) {
  Program program = lectern(joined({"read", file, "-q", "--format", format}, more));
  program.finish();
  return program.output();
}

std::string without_times(const std::string& json) {
  static const std::regex times(R"re("ms":(\{[^}]*\}|[0-9]+))re");
  return std::regex_replace(json, times, R"("ms":0)");
}

Memory memory_of(pid_t pid) {
  Memory memory;
  const std::filesystem::path proc = "/proc/" + std::to_string(pid);
  memory.rss_kib = figure(slurp(proc / "status"), "VmRSS:");
  memory.pss_kib = figure(slurp(proc / "smaps_rollup"), "\nPss:");
  memory.processes = 1;
  for (const auto& task : std::filesystem::directory_iterator(proc / "task")) {
    std::istringstream children(slurp(task.path() / "children"));
    for (pid_t child = 0; children >> child;) {
      const Memory more = memory_of(child);
      memory.rss_kib += more.rss_kib;
      memory.pss_kib += more.pss_kib;
      memory.processes += more.processes;
    }
  }
  return memory;
}

}  // namespace lectern::e2e
