// How much clients may ask at once. Decisions without clocks or waiting: who comes too early is told when to come back.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "service/problem.h"

namespace lectern::service {

// So many a second, some more at once after a quiet time.
class TokenBucket {
 public:
  // REQUIRES: per_second > 0, burst >= 1.
  TokenBucket(double per_second, double burst) : per_second_(per_second), burst_(burst), tokens_(burst) {}
  // Zero = taken. Else nothing was taken, and there will be one after this time.
  std::chrono::nanoseconds take(TimePoint now);
  // As it was at the beginning: it can be forgotten.
  bool full(TimePoint now) const;

 private:
  double tokens_at(TimePoint now) const;
  double per_second_;
  double burst_;
  double tokens_;
  std::optional<TimePoint> at_;  // of the last take
};

struct SubmitLimits {
  int uploads_max = 64;
  int uploads_per_key_max = 32;
  double per_second = 0;  // of one key; 0 = no limit
  int burst = 0;          // 0 = one second's worth
};

// Counts submits under way, by key. One thread.
class SubmitGate {
 public:
  explicit SubmitGate(SubmitLimits limits) : limits_(limits) {}

  // Held while the submit is under way.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(SubmitGate& gate, std::string key) : gate_(&gate), key_(std::move(key)) {}
    ~Ticket() { release(); }
    Ticket(Ticket&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), key_(std::move(other.key_)) {}
    Ticket& operator=(Ticket&& other) noexcept;
    void release();

   private:
    SubmitGate* gate_ = nullptr;
    std::string key_;
  };
  // Errors: rate_limited, too_many_uploads, both with the time to wait.
  std::expected<Ticket, Problem> enter(const std::string& key, TimePoint now);
  int under_way() const { return under_way_; }

 private:
  void leave(const std::string& key);

  const SubmitLimits limits_;
  int under_way_ = 0;
  std::unordered_map<std::string, int> by_key_;
  std::unordered_map<std::string, TokenBucket> buckets_;
};

// A number of things at most. One thread.
class Room {
 public:
  explicit Room(int most) : most_(most) {}
  // Null: there is no room. Dropping it makes room again.
  std::shared_ptr<void> enter();
  int inside() const { return *inside_; }

 private:
  int most_;
  std::shared_ptr<int> inside_ = std::make_shared<int>(0);  // shared with the tickets, which may outlive this
};

}  // namespace lectern::service
