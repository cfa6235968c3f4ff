#include "provider/sse.h"

namespace lectern::provider {

bool SseParser::next_line(std::string_view& bytes) {
  if (after_return_ && bytes.front() == '\n') {
    bytes.remove_prefix(1);
    after_return_ = false;
    return false;
  }
  after_return_ = false;
  const std::size_t end = bytes.find_first_of("\r\n");
  line_ += bytes.substr(0, end);
  if (end == std::string_view::npos) {
    bytes = {};
    return false;
  }
  after_return_ = bytes[end] == '\r';
  bytes.remove_prefix(end + 1);
  take_line();
  return true;
}

void SseParser::take_line() {
  blank_ = line_.empty();
  std::string_view line = line_;
  // Other fields (event, id, retry) and comments say nothing that we need.
  if (line.starts_with("data:") || line == "data") {
    line.remove_prefix(std::min<std::size_t>(line.size(), 5));
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (event_over_) event_.clear();
    if (has_data_) event_ += '\n';
    event_ += line;
    has_data_ = true;
    event_over_ = false;
  }
  line_.clear();
}

std::string_view SseParser::padded_event() {
  event_.reserve(event_.size() + padding);
  has_data_ = false;
  event_over_ = true;
  return event_;
}

}  // namespace lectern::provider
