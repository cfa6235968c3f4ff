#include "service/http/target.h"

#include <algorithm>

namespace lectern::service::http {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decoded and fit to be shown and compared.
std::optional<std::string> text_of(std::string_view escaped, bool plus_is_blank) {
  auto text = percent_decoded(escaped, plus_is_blank);
  if (!text || !is_utf8(*text)) return std::nullopt;
  if (std::ranges::any_of(*text, [](char c) { return c == '\0' || c == 0x7f; })) return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::string_view> Query::find(std::string_view name) const {
  const auto found = std::ranges::find(pairs, name, [](const auto& pair) -> std::string_view { return pair.first; });
  if (found == pairs.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80   ? 0
                             : lead < 0xc2 ? 9
                             : lead < 0xe0 ? 1
                             : lead < 0xf0 ? 2
                             : lead < 0xf5 ? 3
                                           : 9;
    if (more == 9 || i + more >= text.size()) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80) return false;
    }
    const auto second = more > 0 ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (lead == 0xe0 && second < 0xa0) return false;  // longer than it need be
    if (lead == 0xed && second > 0x9f) return false;  // half of a surrogate pair
    if (lead == 0xf0 && second < 0x90) return false;
    if (lead == 0xf4 && second > 0x8f) return false;  // beyond U+10FFFF
    i += more + 1;
  }
  return true;
}

std::expected<Target, Problem> parse_target(std::string_view text) {
  const auto bad = [](const char* what) {
    return std::unexpected(Problem{.code = ProblemCode::bad_request, .detail = what});
  };
  Target target;
  target.path = text.substr(0, text.find('?'));
  std::string_view rest = std::string_view(target.path).substr(target.path.starts_with('/') ? 1 : 0);
  while (!rest.empty() || target.path.ends_with('/')) {
    const std::size_t slash = rest.find('/');
    auto segment = text_of(rest.substr(0, slash), false);
    if (!segment) return bad("the path has a broken escape or text that is not UTF-8");
    target.segments.push_back(std::move(*segment));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (target.segments.size() == 1 && target.segments.front().empty()) target.segments.clear();
  std::string_view query = text.size() > target.path.size() ? text.substr(target.path.size() + 1) : "";
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = text_of(pair.substr(0, equals), true);
    auto value = text_of(pair.substr(std::min(pair.size(), equals + 1)), true);
    if (!name || !value) return bad("the query has a broken escape or text that is not UTF-8");
    target.query.pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return target;
}

}  // namespace lectern::service::http
