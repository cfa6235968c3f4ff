// A cursor over JSON text that skips what nobody asks for at the speed of memchr.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lectern::sim {

class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  // The next character that is not white space, not consumed; 0 at the end.
  char peek();
  // Consumes `c` if it comes next.
  bool take(char c);
  // Consumes a string and returns what stands between the quotes, escapes untouched.
  std::optional<std::string_view> string();
  // Consumes a number, true, false or null and returns its text.
  std::optional<std::string_view> scalar();
  // Consumes any value.
  bool skip(int depth_max = 64);
  bool at_end() { return peek() == 0; }

  // for_each_member(f): consumes an object; f(key) must consume the value and return true. The same for elements.
  template <class F>
  bool for_each_member(F f) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      const auto key = string();
      if (!key || !take(':') || !f(*key)) return false;
    } while (take(','));
    return take('}');
  }
  template <class F>
  bool for_each_element(F f) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!f()) return false;
    } while (take(','));
    return take(']');
  }

 private:
  const char* at_;
  const char* end_;
};

// The text that an escaped JSON string stands for; nullopt when an escape is broken.
std::optional<std::string> unescaped(std::string_view raw);
// Appends `text` as it stands between quotes in JSON.
void append_escaped(std::string& to, std::string_view text);

}  // namespace lectern::sim
