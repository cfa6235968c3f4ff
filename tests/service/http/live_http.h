// An HttpServer on a thread of its own, with time that moves when a test says so.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "service/http/server.h"

namespace lectern::service::http {

class LiveHttp {
 public:
  struct Seen {
    std::string route;
    int status = 0;
    bool complete = true;
  };

  explicit LiveHttp(Router router, HttpOptions options = {}) : router_(std::move(router)) {
    if (options.listen.empty()) options.listen.push_back({.host = "127.0.0.1", .port = 0, .path = {}});
    server_.emplace(std::move(options), router_, timers_, random_, [this](const ExchangeRecord& record) {
      const std::lock_guard lock(mutex_);
      seen_.push_back({std::string(record.route), record.status, record.complete});
      changed_.notify_all();
    });
    if (const auto opened = server_->open(); !opened) throw std::runtime_error(opened.error().for_log);
    boost::asio::co_spawn(loop_, server_->run(stop_), [this](const std::exception_ptr&) { ended_.set_value(); });
    thread_ = std::jthread([this] { loop_.run(); });
  }
  ~LiveHttp() {
    stop_.request();
    // Nothing of a test may keep the server: what is left is cut when the grace is over.
    while (future_.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
      advance(std::chrono::seconds(60));
  }

  std::string address() const {
    const ListenAddress& first = server_->addresses().front();
    return first.path.empty() ? "http://127.0.0.1:" + std::to_string(first.port) : "unix:" + first.path;
  }
  void stop() { stop_.request(); }
  bool ended() { return future_.wait_for(std::chrono::seconds(60)) == std::future_status::ready; }

  // On the loop's thread, after what is going on there.
  template <class Work>
  auto on_loop(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    boost::asio::post(loop_, [&task] { task(); });
    return result.get();
  }
  int connections() {
    return on_loop([this] { return server_->connections(); });
  }
  void advance(std::chrono::nanoseconds by) {
    on_loop([this, by] {
      timers_.advance(by);
      return 0;
    });
  }
  // Until the condition holds, looked at on the loop's thread; false: it never does.
  template <class Condition>
  bool eventually(Condition condition) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < give_up) {
      if (on_loop([&] { return condition(*server_); })) return true;
    }
    return false;
  }
  std::vector<Seen> await_seen(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return seen_.size() >= count; });
    return seen_;
  }
  ManualTimers& timers() { return timers_; }

 private:
  boost::asio::io_context loop_{1};
  ManualTimers timers_;
  SystemRandom random_;
  Router router_;
  Cancellation stop_;
  std::promise<void> ended_;
  std::future<void> future_ = ended_.get_future();
  std::optional<HttpServer> server_;
  std::mutex mutex_;  // guards seen_
  std::condition_variable changed_;
  std::vector<Seen> seen_;
  std::jthread thread_;
};

}  // namespace lectern::service::http
