// Server-sent events, cut out of a stream of bytes. Accepts what servers really send: comments, any line ending,
// several data lines in one event, no blank line at the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lectern::provider {

// Calls `on_event(std::string_view data) -> bool` for each event that has data; false stops the parsing (the rest of
// the bytes is dropped). At least `padding` readable bytes follow `data`, as simdjson wants it.
class SseParser {
 public:
  static constexpr std::size_t padding = 64;
  static constexpr std::size_t event_max = 16U << 20;

  template <class OnEvent>
  bool feed(std::string_view bytes, OnEvent&& on_event) {
    while (!bytes.empty()) {
      if (overlong()) return false;
      if (next_line(bytes) && end_of_event() && !on_event(padded_event())) return false;
    }
    return true;
  }
  // The stream is over: what was not closed by a blank line counts too.
  template <class OnEvent>
  bool finish(OnEvent&& on_event) {
    if (overlong()) return false;
    if (!line_.empty()) take_line();
    return !has_data_ || on_event(padded_event());
  }

  // What came is no stream of events, or one of its events has more than event_max bytes: it is not read any further.
  bool overlong() const { return line_.size() + (event_over_ ? 0 : event_.size()) > event_max; }

 private:
  // Moves bytes to line_, up to and including a line's end; true when the line is whole (and taken).
  bool next_line(std::string_view& bytes);
  void take_line();
  bool end_of_event() const { return blank_ && has_data_; }
  std::string_view padded_event();

  std::string line_;         // not yet whole
  std::string event_;        // data lines so far, joined by line feeds
  bool has_data_ = false;    // the event has a data line, perhaps an empty one
  bool event_over_ = false;  // event_ was handed out: the next data line starts another
  bool blank_ = false;       // the line just taken was empty
  bool after_return_ = false;
};

}  // namespace lectern::provider
