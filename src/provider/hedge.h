// When a second engine is asked about a question that takes long. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace lectern::provider {

// The slowest one in twenty, by what recent answers took.
class HedgePolicy {
 public:
  explicit HedgePolicy(double share_max) : share_max_(share_max) {}

  void asked() { questions_ += 1; }
  void answered(std::chrono::nanoseconds latency);

  // How long to wait for the first engine; nullopt while too few answers are known.
  std::optional<std::chrono::nanoseconds> wait() const;
  // False when this would be more than the share of all questions.
  [[nodiscard]] bool take();

  std::uint64_t taken() const { return taken_; }

 private:
  const double share_max_;
  std::uint64_t questions_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<std::chrono::nanoseconds> recent_;  // a ring
  std::size_t next_ = 0;
};

}  // namespace lectern::provider
