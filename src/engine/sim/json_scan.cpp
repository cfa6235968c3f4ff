#include "engine/sim/json_scan.h"

#include <charconv>
#include <cstdint>
#include <cstring>

namespace lectern::sim {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

void append_utf8(std::string& to, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

std::optional<std::uint32_t> hex4(std::string_view raw, std::size_t at) {
  std::uint32_t code = 0;
  if (at + 4 > raw.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(raw.data() + at, raw.data() + at + 4, code, 16);
  if (error != std::errc{} || end != raw.data() + at + 4) return std::nullopt;
  return code;
}

// `at` stands after "\u"; moves it behind the code, and behind the second half of a surrogate pair.
bool append_code(std::string& to, std::string_view raw, std::size_t& at) {
  const auto code = hex4(raw, at);
  if (!code) return false;
  at += 4;
  if (*code >= 0xD800 && *code < 0xDC00 && raw.substr(at, 2) == "\\u") {
    const auto low = hex4(raw, at + 2);
    if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
    at += 6;
    append_utf8(to, 0x10000U + ((*code - 0xD800U) << 10U) + (*low - 0xDC00U));
    return true;
  }
  append_utf8(to, *code);
  return true;
}

}  // namespace

char JsonScan::peek() {
  while (at_ != end_ && is_space(*at_)) ++at_;
  return at_ == end_ ? '\0' : *at_;
}

bool JsonScan::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

std::optional<std::string_view> JsonScan::string() {
  if (!take('"')) return std::nullopt;
  const char* from = at_;
  while (true) {
    const auto* quote = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
    if (quote == nullptr) return std::nullopt;
    at_ = quote + 1;
    const char* before = quote;
    while (before != from && before[-1] == '\\') --before;
    if ((quote - before) % 2 == 0) return std::string_view(from, static_cast<std::size_t>(quote - from));
  }
}

std::optional<std::string_view> JsonScan::scalar() {
  if (peek() == 0) return std::nullopt;
  const char* from = at_;
  while (at_ != end_ && !is_space(*at_) && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
  const std::string_view text(from, static_cast<std::size_t>(at_ - from));
  if (text == "true" || text == "false" || text == "null") return text;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return text;
}

bool JsonScan::skip(int depth_max) {
  if (depth_max == 0) return false;
  switch (peek()) {
    case '"':
      return string().has_value();
    case '{':
      return for_each_member([&](std::string_view) { return skip(depth_max - 1); });
    case '[':
      return for_each_element([&] { return skip(depth_max - 1); });
    default:
      return scalar().has_value();
  }
}

std::optional<std::string> unescaped(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t escape = raw.find('\\', at);
    text.append(raw.substr(at, escape - at));
    if (escape == std::string_view::npos) break;
    if (escape + 1 == raw.size()) return std::nullopt;
    at = escape + 2;
    static constexpr std::string_view from = "\"\\/bfnrt";
    static constexpr std::string_view to = "\"\\/\b\f\n\r\t";
    const char c = raw[escape + 1];
    if (const std::size_t known = from.find(c); known != std::string_view::npos) {
      text.push_back(to[known]);
    } else if (c != 'u' || !append_code(text, raw, at)) {
      return std::nullopt;
    }
  }
  return text;
}

void append_escaped(std::string& to, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to.push_back('\\');
      to.push_back(c);
    } else if (c == '\n') {
      to.append("\\n");
    } else if (byte < 0x20) {
      to.append("\\u00");
      to.push_back(digits[byte >> 4U]);
      to.push_back(digits[byte & 15U]);
    } else {
      to.push_back(c);
    }
  }
}

}  // namespace lectern::sim
