#include "base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace lectern {

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  while (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
    if (errno != EINTR) std::abort();  // a kernel without getrandom is older than any we support
  }
  return value;
}

std::string random_hex(Random& random, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += fmt::format("{:02x}", random.next() & 0xFFU);
  return out;
}

}  // namespace lectern
