#include "reading/output/escape.h"

#include <fmt/format.h>

#include <cctype>

namespace lectern::reading {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\n' || c == '\t';
}
bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// A run of '*' or '~' can open or close emphasis only when it touches a word; a lone one can do neither.
int touching(std::string_view text, char sign) {
  int count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != sign || (i > 0 && text[i - 1] == sign)) continue;
    const bool left = i > 0 && !blank(text[i - 1]);
    std::size_t end = i;
    while (end < text.size() && text[end] == sign) ++end;
    const bool right = end < text.size() && !blank(text[end]);
    if (left || right) ++count;
  }
  return count;
}

// A '<' that begins a tag here, or together with text of another style that follows: that comes with marks of its own,
// which only the value of an attribute can hold. At the start of a block an open tag is enough to make it HTML.
bool opens_tag(std::string_view rest, bool at_start) {
  if (rest.size() < 2) return false;
  if (rest[1] == '!' || rest[1] == '?') return true;
  if (std::isalpha(static_cast<unsigned char>(rest[1])) == 0 && rest[1] != '/') return false;
  return at_start || rest.find_first_of(">=") != std::string_view::npos;
}

bool opens_entity(std::string_view rest) {
  const std::size_t end = rest.find(';');
  if (end == std::string_view::npos || end < 2 || end > 10) return false;
  for (std::size_t i = 1; i < end; ++i) {
    if (std::isalnum(static_cast<unsigned char>(rest[i])) == 0 && !(i == 1 && rest[i] == '#')) return false;
  }
  return true;
}

bool begins_definition(std::string_view text) {
  std::size_t end = text.find(']');
  while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find(']', end + 1);
  return text.starts_with('[') && end != std::string_view::npos && text.substr(end).starts_with("]:");
}

std::string escaped(std::string_view text, bool in_link) {
  std::string out;
  out.reserve(text.size() + 8);
  const bool stars = touching(text, '*') > 1;
  const bool tildes = text.find("~~") != std::string_view::npos;
  int ticks = 0;
  for (const char c : text) ticks += c == '`' ? 1 : 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char before = i > 0 ? text[i - 1] : ' ';
    const char after = i + 1 < text.size() ? text[i + 1] : ' ';
    bool escape = false;
    switch (c) {
      case '\\':
        escape = std::ispunct(static_cast<unsigned char>(after)) != 0 || (in_link && i + 1 == text.size());
        break;
      case '*':
        escape = stars && !(blank(before) && blank(after));
        break;
      case '_':
        escape = !(word_char(before) && word_char(after)) && !(blank(before) && blank(after)) && before != '_' &&
                 after != '_';
        break;
      case '`':
        escape = ticks > 1;
        break;
      case '~':
        escape = tildes;
        break;
      case '[':
        escape = in_link;
        break;
      case ']':
        escape = in_link || after == '(' || after == '[';
        break;
      case '<':
        escape = opens_tag(text.substr(i), i == 0);
        break;
      case '&':
        escape = opens_entity(text.substr(i));
        break;
      default:
        break;
    }
    if (escape) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  return escaped(text, false);
}

std::string escape_link_text(std::string_view text) {
  return escaped(text, true);
}

std::string guard_block_start(std::string markdown) {
  if (markdown.empty()) return markdown;
  const std::string_view text = markdown;
  const auto followed_by_blank = [&](std::size_t at) { return at >= text.size() || blank(text[at]); };
  switch (text[0]) {
    case '#': {
      const std::size_t end = text.find_first_not_of('#');
      if (end == std::string_view::npos || (end <= 6 && blank(text[end]))) return "\\" + markdown;
      return markdown;
    }
    case '-':
    case '+':
    case '*':
      if (followed_by_blank(1) || text.find_first_not_of("-*+ ") == std::string_view::npos) return "\\" + markdown;
      return markdown;
    case '[':  // "[name]: target" would vanish, and make a link or picture of "[name]" elsewhere
      return begins_definition(text) ? "\\" + markdown : markdown;
    case '>':
    case '|':
      return "\\" + markdown;
    case '=':
      return text.find_first_not_of("= ") == std::string_view::npos ? "\\" + markdown : markdown;
    case '~':
      return text.starts_with("~~~") ? "\\" + markdown : markdown;
    default:
      break;
  }
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits != std::string_view::npos && digits > 0 && digits <= 9 && (text[digits] == '.' || text[digits] == ')') &&
      followed_by_blank(digits + 1)) {
    markdown.insert(digits, "\\");
  }
  return markdown;
}

std::string table_cell(std::string_view markdown) {
  std::string out;
  for (const char c : markdown) {
    if (c == '|')
      out += "\\|";
    else if (c == '\n')
      out += "<br>";
    else
      out += c;
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 8);
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool safe_link(std::string_view uri) {
  if (uri.size() > 2000) return false;
  for (const char c : uri) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '<' || c == '>' || c == '"' || c == '\\' || c == '`') return false;
  }
  return uri.starts_with("http://") || uri.starts_with("https://") || uri.starts_with("mailto:");
}

std::string file_link(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7F || std::string_view("()<>[]%#?\\\"`").find(c) != std::string_view::npos) {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace lectern::reading
