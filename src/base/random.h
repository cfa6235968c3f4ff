// Randomness as a parameter: jitter, ids and sampling take a Random, so that a seed replays a run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace lectern {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // In [0, bound); REQUIRES bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

// The same numbers for the same seed, on every machine.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : generator_(seed) {}
  std::uint64_t next() override { return generator_(); }

 private:
  std::mt19937_64 generator_;
};

// From the kernel; safe for ids and keys. Safe from any thread.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

// `bytes` random bytes in lower-case hex.
std::string random_hex(Random& random, int bytes);

}  // namespace lectern
