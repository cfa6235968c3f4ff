#include "job/ids.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace lectern::job {
namespace {

constexpr std::string_view prefix = "job_";
constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";  // base 32 without i, l, o, u
constexpr int time_digits = 10;
constexpr int random_digits = 16;

}  // namespace

std::string new_job_id(const Clock& clock, Random& random) {
  const auto since = clock.wall().time_since_epoch();
  auto time = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  std::string id(prefix.size() + time_digits + random_digits, '0');
  std::ranges::copy(prefix, id.begin());
  for (int i = time_digits - 1; i >= 0; --i, time >>= 5U)
    id[prefix.size() + static_cast<std::size_t>(i)] = digits[time % 32];
  for (std::size_t i = 0; i < random_digits; ++i) id[prefix.size() + time_digits + i] = digits[random.below(32)];
  return id;
}

bool is_job_id(std::string_view text) {
  return text.size() == prefix.size() + time_digits + random_digits && text.starts_with(prefix) &&
         std::ranges::all_of(text.substr(prefix.size()), [](char c) { return digits.contains(c); });
}

std::string new_worker_name(Random& random) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return fmt::format("{}-{}-{}", host.data(), ::getpid(), random_hex(random, 4));
}

}  // namespace lectern::job
