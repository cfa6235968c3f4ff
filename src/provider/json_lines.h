// Cuts a stream of bytes into lines, with a bound on how long a line may get.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lectern::provider {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  void add(std::string_view bytes);
  // The next whole line without its end ("\n" or "\r\n"); valid until the next call. nullopt: it is not there yet.
  std::optional<std::string_view> next();
  // More than line_bytes_max without an end of line.
  bool overlong() const { return buffer_.size() - start_ > line_bytes_max_; }
  // What came after the last end of line.
  std::string_view rest() const { return std::string_view(buffer_).substr(start_); }

 private:
  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t start_ = 0;     // of the line that comes next
  std::size_t searched_ = 0;  // no end of line before this
};

}  // namespace lectern::provider
