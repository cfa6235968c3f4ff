// Looking at jobs and changing them, for `lectern jobs`: at the store itself, or at a server. Both speak the JSON of
// the HTTP API.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "base/config.h"
#include "base/error.h"
#include "job/store.h"
#include "provider/http_client.h"

namespace lectern::cli {

struct JobsWanted {
  std::string status;  // empty = all
  std::string tenant;  // empty = all that may be seen
  int limit = 20;
  std::string after;  // "next" of the page before
};

// Errors: not_found, conflict (it cannot be done to this job), invalid_input, unavailable.
class JobsDesk {
 public:
  virtual ~JobsDesk() = default;
  virtual boost::asio::awaitable<Result<std::string>> list(JobsWanted wanted) = 0;  // {"jobs": […], "next": …}
  virtual boost::asio::awaitable<Result<std::string>> job(std::string id) = 0;      // a job
  // {"events": […], "next": …}: those after the one of this number.
  virtual boost::asio::awaitable<Result<std::string>> events(std::string id, std::int64_t after) = 0;
  virtual boost::asio::awaitable<Result<std::string>> cancel(std::string id) = 0;  // the job
  virtual boost::asio::awaitable<Result<std::string>> retry(std::string id) = 0;   // the job
};

// The store is borrowed.
std::unique_ptr<JobsDesk> make_store_desk(job::Store& store);

struct ServerDeskOptions {
  std::string server;  // "https://lectern.example.org"
  std::string key;     // empty = none
  std::string ca_file;
  std::string proxy;
  bool verify_tls = true;
};
std::unique_ptr<JobsDesk> make_server_desk(std::shared_ptr<provider::HttpClient> http, ServerDeskOptions options);

}  // namespace lectern::cli
