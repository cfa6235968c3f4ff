#include "provider/json_lines.h"

namespace lectern::provider {

void LineSplitter::add(std::string_view bytes) {
  if (start_ > 0) {
    buffer_.erase(0, start_);
    searched_ -= start_;
    start_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<std::string_view> LineSplitter::next() {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return std::nullopt;
  }
  std::string_view line = std::string_view(buffer_).substr(start_, end - start_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  start_ = searched_ = end + 1;
  return line;
}

}  // namespace lectern::provider
