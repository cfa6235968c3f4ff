// The whole service on a thread of its own: SQLite and blobs in a temporary folder, real sockets, and a test that plays
// the worker.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/disk.h"
#include "job/blobs/folder.h"
#include "job/sqlite/sqlite_database.h"
#include "service/hand_worker.h"
#include "service/raw_client.h"
#include "service/server.h"
#include "temp_folder.h"

namespace lectern::service {

using FormFields = std::vector<std::pair<std::string, std::string>>;

struct Form {
  std::string fields;  // of the header
  std::string body;
};
Form make_form(const std::string& file, const FormFields& more = {}, const std::string& filename = "report.pdf");

class LiveApi {
 public:
  struct Setup {
    ServiceOptions options;
    Disk* disk = &real_disk();
    PageImages* images = nullptr;
    UrlFetcher* fetcher = nullptr;
    std::unique_ptr<job::Database> database;  // null = SQLite
    std::vector<job::ApiKey> keys;            // in the store from the beginning
  };
  LiveApi() : LiveApi(Setup{}) {}
  explicit LiveApi(Setup setup);
  ~LiveApi();

  RawClient client() const { return RawClient(address_); }
  const std::string& address() const { return address_; }
  job::Store& store() { return *store_; }
  job::Blobs& blobs() { return *blobs_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  // Runs the coroutine on the service's loop and waits for its value.
  template <class T>
  T run(boost::asio::awaitable<T> work) {
    std::promise<T> promise;
    auto future = promise.get_future();
    boost::asio::co_spawn(loop_, std::move(work), [&promise](const std::exception_ptr& failure, T value) {
      if (failure) {
        promise.set_exception(failure);
      } else {
        promise.set_value(std::move(value));
      }
    });
    return future.get();
  }
  int work(HandPlan plan = {}) { return run(work_by_hand(store_.get(), blobs_.get(), plan)); }
  // On a thread that goes on until it is dropped.
  std::jthread keep_working(HandPlan plan = {});
  std::vector<std::string> blob_keys();

  RawResponse submit(const std::string& file, const FormFields& more = {}, const std::string& fields = "");
  std::string submit_id(const std::string& file = "%PDF-1.7 some bytes");
  RawResponse get(const std::string& target, const std::string& fields = "") {
    return client().ask("GET", target, fields);
  }
  void stop() { stop_.request(); }

 private:
  TempFolder folder_;
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_ = boost::asio::make_work_guard(loop_);
  SystemTimers timers_;
  SystemRandom random_;
  CpuPool cpu_{1};
  std::unique_ptr<job::Blobs> blobs_;
  std::unique_ptr<job::Store> store_;
  std::optional<Server> server_;
  std::string address_;
  Cancellation stop_;
  std::promise<void> ended_;
  std::jthread thread_;
};

// The `code` of a problem, or "" when it is none.
std::string code_of(const RawResponse& response);
nlohmann::json json_of(const RawResponse& response);

}  // namespace lectern::service
