#include "reading/model/inline_plain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "reading/layout/unicode.h"
#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr int depth_max = 8;
constexpr std::size_t span_bytes_max =
    4000;  // what opens closes within so much, or is text: no reply takes quadratic time

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

struct Tag {
  std::string_view name;
  std::string_view mark;  // what stands for it in markdown; "" = dropped
};
constexpr std::array tags = {
    Tag{"b", "**"},      Tag{"strong", "**"}, Tag{"i", "*"},   Tag{"em", "*"},  Tag{"del", "~~"},  Tag{"s", "~~"},
    Tag{"strike", "~~"}, Tag{"u", ""},        Tag{"span", ""}, Tag{"font", ""}, Tag{"center", ""}, Tag{"p", ""},
    Tag{"div", ""},      Tag{"small", ""},    Tag{"big", ""},  Tag{"mark", ""}, Tag{"ins", ""},    Tag{"a", ""},
    Tag{"code", ""},     Tag{"kbd", ""},      Tag{"tt", ""},   Tag{"img", ""},  Tag{"label", ""},  Tag{"input", ""}};

struct FoundTag {
  std::size_t length = 0;  // 0 = no tag that we know
  bool closing = false;
  std::string name;
};

FoundTag tag_at(std::string_view text) {
  if (text.size() < 3 || text[0] != '<') return {};
  const std::size_t end = text.substr(0, 300).find('>');
  if (end == std::string_view::npos) return {};
  std::string_view inner = text.substr(1, end - 1);
  FoundTag found;
  found.length = end + 1;
  if (inner.starts_with('/')) {
    found.closing = true;
    inner.remove_prefix(1);
  }
  std::size_t name_end = 0;
  while (name_end < inner.size() && std::isalnum(static_cast<unsigned char>(inner[name_end])) != 0) ++name_end;
  found.name = lower(inner.substr(0, name_end));
  if (name_end < inner.size() && inner[name_end] != ' ' && inner[name_end] != '/') return {};
  return found;
}

struct Entity {
  std::string_view name;
  std::string_view text;
};
constexpr std::array entities = {Entity{"amp", "&"},    Entity{"lt", "<"},   Entity{"gt", ">"},    Entity{"quot", "\""},
                                 Entity{"apos", "'"},   Entity{"nbsp", " "}, Entity{"ndash", "–"}, Entity{"mdash", "—"},
                                 Entity{"hellip", "…"}, Entity{"copy", "©"}, Entity{"reg", "®"},   Entity{"deg", "°"},
                                 Entity{"times", "×"},  Entity{"euro", "€"}, Entity{"emsp", " "},  Entity{"ensp", " "}};

// The length of the entity at the beginning of `text`, and what it stands for; 0 = none.
std::size_t entity_at(std::string_view text, std::string& out) {
  const std::size_t end = text.substr(0, 10).find(';');
  if (end == std::string_view::npos || end < 2) return 0;
  const std::string_view name = text.substr(1, end - 1);
  if (name.starts_with('#')) {
    const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
    const std::string_view digits = name.substr(hex ? 2 : 1);
    unsigned code = 0;
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
    if (error != std::errc{} || last != digits.data() + digits.size()) return 0;
    if (code < ' ' || code == 0x7F || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
    layout::append_utf8(out, static_cast<char32_t>(code));
    return end + 1;
  }
  const auto* known = std::ranges::find(entities, name, &Entity::name);
  if (known == entities.end()) return 0;
  out += known->text;
  return end + 1;
}

struct Link {
  std::size_t length = 0;
  std::string_view text;
  std::string_view target;
};
// "[text](target)" at the beginning of `rest`.
Link link_at(std::string_view rest) {
  int open = 0;
  for (std::size_t i = 0; i < rest.size() && i < 2000; ++i) {
    if (rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '[') {
      ++open;
    } else if (rest[i] == ']' && --open == 0) {
      if (i + 1 >= rest.size() || rest[i + 1] != '(') return {};
      int round = 0;
      for (std::size_t j = i + 1; j < rest.size() && j < i + 2000; ++j) {
        if (rest[j] == '\n') return {};
        if (rest[j] == '(') ++round;
        if (rest[j] == ')' && --round == 0)
          return {.length = j + 1, .text = rest.substr(1, i - 1), .target = rest.substr(i + 2, j - i - 2)};
      }
      return {};
    }
  }
  return {};
}

// Where the mark that opens at the beginning of `rest` closes; npos = it is text.
std::size_t closing(std::string_view rest, std::string_view mark) {
  const char sign = mark[0];
  rest = rest.substr(0, span_bytes_max);
  if (rest.size() <= mark.size() || std::isspace(static_cast<unsigned char>(rest[mark.size()])) != 0) return rest.npos;
  for (std::size_t i = mark.size(); i + mark.size() <= rest.size(); ++i) {
    if (rest[i] == '\\') {
      ++i;
      continue;
    }
    if (rest[i] == '\n' && i + 1 < rest.size() && rest[i + 1] == '\n') return rest.npos;
    if (rest.substr(i, mark.size()) != mark || i == mark.size()) continue;
    if (std::isspace(static_cast<unsigned char>(rest[i - 1])) != 0) continue;
    const std::size_t after = i + mark.size();
    if (after < rest.size() && rest[after] == sign) {  // part of a longer run: its end belongs to us
      if (mark.size() == 1) {
        while (i < rest.size() && rest[i] == sign) ++i;
        continue;
      }
      continue;
    }
    if (sign == '_' && after < rest.size() && word_char(rest[after])) continue;
    return i;
  }
  return rest.npos;
}

void add(InlineText& out, std::string_view text) {
  out.text += text;
  out.markdown += text;
}

void render(std::string_view text, int depth, InlineText& out);

// Emphasis at `rest`; how much of it was taken.
std::size_t take_emphasis(std::string_view rest, char before, int depth, InlineText& out) {
  struct Mark {
    std::string_view sign;
    std::string_view ours;
  };
  constexpr std::array marks = {Mark{"***", "***"}, Mark{"___", "***"}, Mark{"**", "**"}, Mark{"__", "**"},
                                Mark{"~~", "~~"},   Mark{"*", "*"},     Mark{"_", "*"}};
  for (const Mark& mark : marks) {
    if (!rest.starts_with(mark.sign)) continue;
    if (mark.sign[0] == '_' && word_char(before)) return 0;
    if (mark.sign == "*" && std::isdigit(static_cast<unsigned char>(before)) != 0) return 0;  // 2*3*4
    const std::size_t end = closing(rest, mark.sign);
    if (end == std::string_view::npos) continue;
    out.markdown += mark.ours;
    render(rest.substr(mark.sign.size(), end - mark.sign.size()), depth + 1, out);
    out.markdown += mark.ours;
    return end + mark.sign.size();
  }
  return 0;
}

std::size_t take_tag(std::string_view rest, InlineText& out) {
  const FoundTag found = tag_at(rest);
  if (found.length == 0) return 0;
  if (found.name == "br") {
    add(out, "\n");
    return found.length;
  }
  if (found.name == "sup" || found.name == "sub") {
    out.markdown += found.closing ? "</" + found.name + ">" : "<" + found.name + ">";
    return found.length;
  }
  const auto* known = std::ranges::find(tags, found.name, &Tag::name);
  if (known == tags.end()) return 0;
  out.markdown += known->mark;
  return found.length;
}

std::size_t take_code(std::string_view rest, InlineText& out) {
  rest = rest.substr(0, span_bytes_max);
  const std::size_t ticks = std::min(rest.find_first_not_of('`'), rest.size());
  const std::string_view mark = rest.substr(0, ticks);
  for (std::size_t end = rest.find(mark, ticks); end != std::string_view::npos; end = rest.find(mark, end)) {
    const std::size_t run = std::min(rest.find_first_not_of('`', end), rest.size()) - end;
    if (run == ticks) {
      std::string_view code = rest.substr(ticks, end - ticks);
      if (code.size() > 2 && code.front() == ' ' && code.back() == ' ') code = code.substr(1, code.size() - 2);
      out.text += code;
      out.markdown += rest.substr(0, end + ticks);
      return end + ticks;
    }
    end += run;
  }
  return 0;
}

std::size_t take_link(std::string_view rest, int depth, InlineText& out) {
  const bool picture = rest.starts_with("!["sv);
  const Link link = link_at(picture ? rest.substr(1) : rest);
  if (link.length == 0) return 0;
  if (picture) {
    render(link.text, depth + 1, out);
    return link.length + 1;
  }
  out.markdown += '[';
  render(link.text, depth + 1, out);
  out.markdown += "](" + std::string(link.target) + ")";
  return link.length;
}

void render(std::string_view text, int depth, InlineText& out) {
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = rest[0];
    std::size_t taken = 0;
    if (c == '\\' && rest.size() > 1 && std::ispunct(static_cast<unsigned char>(rest[1])) != 0) {
      // TeX keeps its backslashes: \( \[ \{ \, \; \% and the like mean something else there, but reading them as
      // escapes only loses a backslash, never a word.
      out.text += rest[1];
      out.markdown += rest.substr(0, 2);
      taken = 2;
    } else if (c == '$') {
      // A formula in the line stays as it is: its stars and underscores are no emphasis.
      const std::size_t end = rest.substr(0, span_bytes_max).find('$', 1);
      if (end != std::string_view::npos && end > 1 && rest.substr(0, end).find("\n\n") == std::string_view::npos &&
          rest[1] != ' ' && rest[end - 1] != ' ') {
        add(out, rest.substr(0, end + 1));
        taken = end + 1;
      }
    } else if (depth < depth_max && (c == '*' || c == '_' || c == '~')) {
      taken = take_emphasis(rest, i > 0 ? text[i - 1] : ' ', depth, out);
      if (taken == 0) {  // a run of marks that opens nothing is text as a whole
        const std::size_t run = std::min(rest.find_first_not_of(c), rest.size());
        add(out, rest.substr(0, run));
        taken = run;
      }
    } else if (c == '`') {
      taken = take_code(rest, out);
    } else if (depth < depth_max && (c == '[' || rest.starts_with("!["sv))) {
      taken = take_link(rest, depth, out);
    } else if (c == '<') {
      taken = take_tag(rest, out);
    } else if (c == '&') {
      std::string meant;
      taken = entity_at(rest, meant);
      out.text += meant;
      // "&lt;" stays written so in the markdown: bare, it might open a tag.
      out.markdown += meant == "<" || meant == "&" ? "\\" + meant : meant;
    }
    if (taken == 0) {
      add(out, rest.substr(0, 1));
      taken = 1;
    }
    i += taken;
  }
}

}  // namespace

InlineText inline_text_of(std::string_view markdown) {
  InlineText out;
  render(markdown, 0, out);
  return out;
}

}  // namespace lectern::reading
