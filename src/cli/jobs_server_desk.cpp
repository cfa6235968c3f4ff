#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "cli/jobs_desk.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds timeout{30};

ErrorKind kind_of(int status) {
  switch (status) {
    case 404:
      return ErrorKind::not_found;
    case 409:
      return ErrorKind::conflict;
    case 429:
      return ErrorKind::overloaded;
    default:
      return status >= 500 ? ErrorKind::unavailable : ErrorKind::invalid_input;
  }
}

// What a problem+json says; a server that is none of ours says something else.
std::string detail_of(const std::string& body, int status) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (json.is_object()) {
    for (const char* name : {"detail", "title"}) {
      if (json.contains(name) && json[name].is_string()) return json[name].get<std::string>();
    }
  }
  return fmt::format("it answered with status {}", status);
}

class ServerDesk final : public JobsDesk {
 public:
  ServerDesk(std::shared_ptr<provider::HttpClient> http, ServerDeskOptions options)
      : http_(std::move(http)), options_(std::move(options)) {}

  asio::awaitable<Result<std::string>> list(JobsWanted wanted) override {
    std::string path = fmt::format("/v1/jobs?limit={}", wanted.limit);
    if (!wanted.status.empty()) path += "&status=" + wanted.status;
    if (!wanted.tenant.empty()) path += "&tenant=" + wanted.tenant;
    if (!wanted.after.empty()) path += "&cursor=" + wanted.after;
    return ask("GET", std::move(path));
  }
  asio::awaitable<Result<std::string>> job(std::string id) override { return ask("GET", "/v1/jobs/" + id); }
  asio::awaitable<Result<std::string>> events(std::string id, std::int64_t after) override {
    return ask("GET", fmt::format("/v1/jobs/{}/events?after={}", id, after));
  }
  asio::awaitable<Result<std::string>> cancel(std::string id) override {
    // DELETE removes a job that is over; whoever says "cancel" does not want that.
    const auto now = co_await job(id);
    if (!now) co_return now;
    const auto json = nlohmann::json::parse(*now, nullptr, false);
    const std::string status = json.is_object() ? json.value("status", "") : "";
    if (status != "queued" && status != "running") {
      co_return fail(ErrorKind::conflict, "job {} is over already ({})", id, status);
    }
    co_return co_await ask("DELETE", "/v1/jobs/" + id);
  }
  asio::awaitable<Result<std::string>> retry(std::string id) override {
    return ask("POST", fmt::format("/v1/jobs/{}/retry", id));
  }

 private:
  asio::awaitable<Result<std::string>> ask(std::string method, std::string path) {
    std::string root = options_.server;
    while (root.ends_with('/')) root.pop_back();
    provider::HttpRequest request{.method = std::move(method), .url = root + path, .peer = root};
    request.headers = {"Accept: application/json"};
    if (!options_.key.empty()) request.headers.push_back("Authorization: Bearer " + options_.key);
    request.transport.ca_file = options_.ca_file;
    request.transport.proxy = options_.proxy;
    request.transport.verify_tls = options_.verify_tls;
    const Deadline deadline = Deadline::after(timeout, system_clock());
    const auto answer = co_await http_->send(std::move(request), {}, deadline, {});
    if (!answer) co_return fail(ErrorKind::unavailable, "{}: {}", root, answer.error().message);
    const int status = answer->head.status;
    if (status >= 200 && status < 300) co_return answer->body;
    co_return fail(kind_of(status), detail_of(answer->body, status));
  }

  const std::shared_ptr<provider::HttpClient> http_;  // shared: one for the whole process
  const ServerDeskOptions options_;
};

}  // namespace

std::unique_ptr<JobsDesk> make_server_desk(std::shared_ptr<provider::HttpClient> http, ServerDeskOptions options) {
  return std::make_unique<ServerDesk>(std::move(http), std::move(options));
}

}  // namespace lectern::cli
