#include "service/http/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "service/http/fields.h"

namespace lectern::service::http {
namespace {

struct MediaRange {
  std::string type;  // in lower case
  double q = 1;
};

// A weight that is none counts as 1: better something than nothing.
MediaRange media_range(const Parameterized& member) {
  MediaRange range{.type = lower_case(member.value)};
  for (const auto& [name, value] : member.parameters) {
    if (name != "q") continue;
    double q = 1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), q);
    if (error == std::errc{} && end == value.data() + value.size()) range.q = std::clamp(q, 0.0, 1.0);
  }
  return range;
}

// How exactly the range names the type: 3 itself, 2 its half, 1 everything, 0 not at all.
int exactness(std::string_view range, std::string_view type) {
  if (range == type) return 3;
  if (range == "*/*") return 1;
  return range.ends_with("/*") && type.starts_with(range.substr(0, range.size() - 1)) ? 2 : 0;
}

}  // namespace

std::optional<Parameterized> parse_parameters(std::string_view text) {
  Parameterized parsed;
  std::size_t at = std::min(text.find(';'), text.size());
  parsed.value = trimmed(text.substr(0, at));
  while (at < text.size()) {
    std::string_view rest = text.substr(at + 1);  // after the semicolon
    const std::size_t skipped = std::min(rest.find_first_not_of(" \t"), rest.size());
    rest.remove_prefix(skipped);
    at += 1 + skipped;
    if (rest.empty() || rest.front() == ';') continue;
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos || !is_token(trimmed(rest.substr(0, equals)))) return std::nullopt;
    std::string name = lower_case(trimmed(rest.substr(0, equals)));
    std::string value;
    std::size_t end = equals + 1;
    if (end < rest.size() && rest[end] == '"') {
      for (++end; end < rest.size() && rest[end] != '"'; ++end) {
        // Only quotes and backslashes are escaped: some clients send paths with single backslashes.
        if (rest[end] == '\\' && end + 1 < rest.size() && (rest[end + 1] == '"' || rest[end + 1] == '\\')) ++end;
        value += rest[end];
      }
      if (end >= rest.size()) return std::nullopt;  // the quote does not end
      ++end;
      const std::size_t next = std::min(rest.find(';', end), rest.size());
      if (!trimmed(rest.substr(end, next - end)).empty()) return std::nullopt;
      end = next;
    } else {
      end = std::min(rest.find(';', end), rest.size());
      value = trimmed(rest.substr(equals + 1, end - equals - 1));
      if (value.empty()) return std::nullopt;
    }
    parsed.parameters.emplace_back(std::move(name), std::move(value));
    at += end;
  }
  return parsed;
}

std::optional<std::size_t> preferred_type(std::string_view accept, std::span<const std::string_view> types) {
  std::vector<MediaRange> ranges;
  for (const std::string_view member : list_members(accept)) {
    if (const auto parsed = parse_parameters(member)) ranges.push_back(media_range(*parsed));
  }
  if (ranges.empty()) return 0;
  std::optional<std::size_t> best;
  double best_q = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    int exact = 0;
    double q = 0;
    for (const MediaRange& range : ranges) {
      const int how = exactness(range.type, types[i]);
      if (how > exact) {
        exact = how;
        q = range.q;
      }
    }
    if (q > best_q) {
      best_q = q;
      best = i;
    }
  }
  return best;
}

std::string content_disposition(std::string_view kind, std::string_view filename) {
  std::string plain;
  std::string escaped;
  for (const char c : filename) {
    const auto byte = static_cast<unsigned char>(c);
    const bool simple =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
    plain += simple || c == ' ' ? c : '_';
    escaped += simple ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  std::string text = fmt::format("{}; filename=\"{}\"", kind, plain);
  if (plain != filename) text += "; filename*=UTF-8''" + escaped;
  return text;
}

}  // namespace lectern::service::http
