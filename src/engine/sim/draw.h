// Random choices without a generator's state: a seed, a number and a purpose always give the same one, whatever came
// before.
#pragma once

#include <cstdint>

namespace lectern::sim {

constexpr std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

// In [0, 1).
constexpr double draw(std::uint64_t seed, std::uint64_t number, std::uint64_t purpose) {
  return static_cast<double>(mixed(mixed(seed ^ mixed(purpose)) ^ number) >> 11U) * 0x1.0p-53;
}

}  // namespace lectern::sim
