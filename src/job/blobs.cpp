#include "job/blobs.h"

#include <algorithm>

namespace lectern::job {
namespace {

constexpr std::size_t key_bytes_max = 512;

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

bool is_blob_key(std::string_view key) {
  if (key.empty() || key.size() > key_bytes_max) return false;
  for (;;) {
    const std::size_t end = key.find('/');
    const std::string_view segment = key.substr(0, end);
    if (segment.empty() || segment == "." || segment == ".." || segment.size() > 255) return false;
    if (!std::ranges::all_of(segment, allowed)) return false;
    if (end == std::string_view::npos) return true;
    key.remove_prefix(end + 1);
  }
}

std::unexpected<Error> bad_key(std::string_view key) {
  return fail(ErrorKind::invalid_input, "'{}' cannot name a blob", key.substr(0, 600));
}

}  // namespace lectern::job
