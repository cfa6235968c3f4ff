#include "service/http/router.h"

#include <algorithm>

namespace lectern::service::http {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 && text.front() != '0' &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

using Captures = std::map<std::string, std::string, std::less<>>;

std::optional<Captures> captures(const std::vector<std::string>& parts, const std::vector<std::string>& segments) {
  if (parts.size() != segments.size()) return std::nullopt;
  Captures found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (!part.starts_with('{')) {
      if (part != segments[i]) return std::nullopt;
      continue;
    }
    const std::string_view inside = part.substr(1, part.size() - 2);
    const std::size_t colon = inside.find(':');
    if (segments[i].empty() || (colon != std::string_view::npos && !is_number(segments[i]))) return std::nullopt;
    found.emplace(inside.substr(0, colon), segments[i]);
  }
  return found;
}

}  // namespace

void Router::add(Route route) {
  Entry entry{.route = std::move(route), .parts = {}};
  std::string_view rest = std::string_view(entry.route.pattern).substr(1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    entry.parts.emplace_back(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  entries_.push_back(std::move(entry));
}

std::vector<const Route*> Router::routes() const {
  std::vector<const Route*> all;
  for (const Entry& entry : entries_) all.push_back(&entry.route);
  return all;
}

std::expected<Router::Match, Router::Miss> Router::find(std::string_view method, const Target& target) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  std::vector<std::string> allowed;
  for (const Entry& entry : entries_) {
    auto path = captures(entry.parts, target.segments);
    if (!path) continue;
    if (entry.route.method == wanted) return Match{&entry.route, std::move(*path)};
    allowed.push_back(entry.route.method);
    if (entry.route.method == "GET") allowed.emplace_back("HEAD");
  }
  if (allowed.empty()) {
    return std::unexpected(Miss{
        {.code = ProblemCode::not_found, .detail = "there is nothing at this path; /openapi.json lists what there is"},
        {}});
  }
  std::string allow;
  for (const std::string& one : allowed) allow += (allow.empty() ? "" : ", ") + one;
  return std::unexpected(Miss{{.code = ProblemCode::method_not_allowed, .detail = "allowed here: " + allow}, allow});
}

}  // namespace lectern::service::http
