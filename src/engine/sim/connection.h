// One client's connection: what it sent and what it is to get.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "engine/sim/scheduler.h"

namespace lectern::sim {

class Connection {
 public:
  Connection(UniqueFd fd, std::uint64_t id, bool is_control, TimePoint now)
      : fd_(std::move(fd)), id_(id), is_control_(is_control), idle_since(now) {}

  int fd() const { return fd_.get(); }
  std::uint64_t id() const { return id_; }
  bool is_control() const { return is_control_; }

  // Reads what is there; false when the client has gone.
  bool receive();
  std::string_view input() const { return std::string_view(in_).substr(taken_); }
  void take(std::size_t bytes);

  void send(std::string_view bytes);
  // Writes as much as the socket takes; false when the client has gone.
  bool flush();
  bool has_output() const { return sent_ < out_.size(); }

 private:
  UniqueFd fd_;
  std::uint64_t id_;
  bool is_control_;
  std::string in_;
  std::size_t taken_ = 0;
  std::string out_;
  std::size_t sent_ = 0;

 public:
  std::size_t needed = 0;    // bytes of input that the next request has at least
  JobId job = 0;             // the request that is being answered; 0 = none
  bool is_awaiting = false;  // GET /sim/await has not been answered yet
  int requests = 0;
  bool close_after_flush = false;
  bool told_continue = false;   // 100 Continue went out for the request that is arriving
  bool waits_to_write = false;  // epoll watches for room
  bool is_pumped = false;       // its input is being handled further up the stack
  TimePoint idle_since;         // while job == 0
};

}  // namespace lectern::sim
