#include "service/live_api.h"

#include <fmt/format.h>

#include <stdexcept>

namespace lectern::service {

Form make_form(const std::string& file, const FormFields& more, const std::string& filename) {
  Form form{.fields = "Content-Type: multipart/form-data; boundary=bOuNdArY\r\n", .body = {}};
  for (const auto& [name, value] : more) {
    form.body += fmt::format("--bOuNdArY\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n", name, value);
  }
  form.body +=
      fmt::format("--bOuNdArY\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\r\n", filename);
  form.body += file + "\r\n--bOuNdArY--\r\n";
  return form;
}

static boost::asio::awaitable<bool> wait_for_work(job::Store* store, std::uint64_t mark, TimePoint until) {
  co_await store->wait_for_work(mark, until, {});
  co_return true;
}

LiveApi::LiveApi(Setup setup) {
  const auto good = [](auto result) {
    if (!result) throw std::runtime_error(result.error().for_log);
    return std::move(*result);
  };
  blobs_ = good(job::open_folder_blobs({.folder = folder_.path() / "blobs", .disk = setup.disk}));
  if (!setup.database) setup.database = good(job::open_sqlite({.file = folder_.path() / "jobs.sqlite"}));
  store_ = std::make_unique<job::Store>(std::move(setup.database), job::Policy{}, timers_);
  setup.options.access_log = false;
  if (setup.options.listen == ServiceOptions{}.listen) setup.options.listen = "127.0.0.1:0";
  setup.options.key_cache = std::chrono::milliseconds(0);
  setup.options.health_cache = std::chrono::milliseconds(0);
  server_.emplace(std::move(setup.options), ServiceParts{.store = *store_,
                                                         .blobs = *blobs_,
                                                         .cpu = cpu_,
                                                         .timers = timers_,
                                                         .random = random_,
                                                         .images = setup.images,
                                                         .fetcher = setup.fetcher,
                                                         .more_metrics = {}});
  thread_ = std::jthread([this] { loop_.run(); });
  for (job::ApiKey& key : setup.keys) {
    if (const auto added = run(store_->add_key(key)); !added) throw std::runtime_error(added.error().for_log);
  }
  if (const Status opened = run(server_->open()); !opened) {
    busy_.reset();
    throw std::runtime_error(opened.error().for_log);
  }
  address_ = server_->address();
  boost::asio::co_spawn(loop_, server_->run(stop_), [this](const std::exception_ptr&, Status) { ended_.set_value(); });
}

LiveApi::~LiveApi() {
  stop_.request();
  ended_.get_future().wait();
  busy_.reset();
}

std::jthread LiveApi::keep_working(HandPlan plan) {
  return std::jthread([this, plan](std::stop_token stop) {
    while (!stop.stop_requested()) {
      const std::uint64_t mark = store_->work_mark();
      work(plan);
      const TimePoint until = timers_.clock().now() + std::chrono::milliseconds(20);
      run(wait_for_work(store_.get(), mark, until));
    }
  });
}

std::vector<std::string> LiveApi::blob_keys() {
  const auto page = run(blobs_->list("", "", 1'000));
  std::vector<std::string> keys;
  for (const job::BlobInfo& blob : page->blobs) keys.push_back(blob.key);
  return keys;
}

RawResponse LiveApi::submit(const std::string& file, const FormFields& more, const std::string& fields) {
  const Form form = make_form(file, more);
  return client().ask("POST", "/v1/jobs", form.fields + fields, form.body);
}

std::string LiveApi::submit_id(const std::string& file) {
  return json_of(submit(file)).at("id");
}

std::string code_of(const RawResponse& response) {
  const auto json = nlohmann::json::parse(response.body, nullptr, false);
  return json.is_object() && json.contains("code") ? json["code"].get<std::string>() : "";
}

nlohmann::json json_of(const RawResponse& response) {
  return nlohmann::json::parse(response.body);
}

}  // namespace lectern::service
