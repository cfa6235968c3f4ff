// Small things that everything here does with text.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::reading {

inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

inline std::string_view trimmed_end(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\n");
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 1);
}

inline bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\n") == std::string_view::npos;
}

// Without their "\n"; a text that ends in "\n" has no empty line after it.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// ASCII alone: enough for keywords and tags.
inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace lectern::reading
