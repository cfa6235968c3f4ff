#include "service/http/fields.h"

#include <algorithm>
#include <array>

namespace lectern::service::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr auto token_characters = [] {
  std::array<bool, 256> is{};
  for (int c = '0'; c <= '9'; ++c) is[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) is[static_cast<std::size_t>(c)] = is[static_cast<std::size_t>(c - 32)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) is[static_cast<std::size_t>(c)] = true;
  return is;
}();

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_token(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return token_characters[static_cast<unsigned char>(c)]; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

std::vector<std::string_view> list_members(std::string_view value) {
  std::vector<std::string_view> members;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= value.size(); ++i) {
    if (i < value.size() && quoted && value[i] == '\\') {
      ++i;
    } else if (i < value.size() && value[i] == '"') {
      quoted = !quoted;
    } else if (i >= value.size() || (value[i] == ',' && !quoted)) {
      if (const auto member = trimmed(value.substr(start, std::min(i, value.size()) - start)); !member.empty())
        members.push_back(member);
      start = i + 1;
    }
  }
  return members;
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, [&](const Field& field) { return same_name(field.name, name); });
  if (found == fields_.end()) return std::nullopt;
  return found->value;
}

int Fields::count(std::string_view name) const {
  return static_cast<int>(
      std::ranges::count_if(fields_, [&](const Field& field) { return same_name(field.name, name); }));
}

}  // namespace lectern::service::http
