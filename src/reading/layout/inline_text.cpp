#include "reading/layout/inline_text.h"

#include <array>
#include <string_view>

#include "reading/layout/unicode.h"
#include "reading/output/escape.h"

namespace lectern::reading::layout {
namespace {

char32_t lowered(char32_t c) {
  if (c < 0x80) return is_upper(c) ? c + 0x20 : c;
  if (!is_upper(c)) return c;
  if (c <= 0xDE || (c >= 0x391 && c <= 0x3AB) || (c >= 0x410 && c <= 0x42F)) return c + 0x20;
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;
  return c + 1;
}

std::u32string core_of(std::u32string_view word) {
  const auto part = [](char32_t c) { return is_letter(c) || is_digit(c) || is_dash(c) || c == '\'' || c == 0x2019; };
  while (!word.empty() && !part(word.front())) word.remove_prefix(1);
  while (!word.empty() && !part(word.back())) word.remove_suffix(1);
  std::u32string out(word);
  for (char32_t& c : out) c = is_dash(c) ? U'-' : lowered(c);
  return out;
}

// Prefixes that English and its neighbours write with a hyphen more often than without.
bool keeps_hyphen(std::u32string_view before) {
  static constexpr std::array<std::u32string_view, 14> prefixes = {U"self", U"non",   U"well",  U"all",  U"high",
                                                                   U"low",  U"half",  U"cross", U"ex",   U"real",
                                                                   U"long", U"short", U"so",    U"state"};
  return std::ranges::find(prefixes, before) != prefixes.end();
}

struct Mark {
  bool bold = false, italic = false, struck = false, code = false;
  std::int8_t script = 0;
  std::int32_t link = -1;
  bool operator==(const Mark&) const = default;
};

struct Run {
  Mark mark;
  std::string text;
};

// Links are found by whole words, so the sign that ends the clause comes along; it is not part of the link.
std::size_t end_of_link(std::string_view text, std::size_t from, std::size_t to, std::string_view uri) {
  constexpr std::string_view clause_ends = ".,;:";
  while (to > from + 1 && clause_ends.find(text[to - 1]) != std::string_view::npos && !uri.ends_with(text[to - 1]))
    --to;
  return to;
}

std::string wrapped(const Run& run, const std::vector<document::Link>& links) {
  // Marks hug the text: markdown does not take "** bold **" for bold.
  std::string_view body = run.text;
  const std::size_t from = body.find_first_not_of(' ');
  if (from == std::string_view::npos) return run.text;
  std::size_t to = body.find_last_not_of(' ') + 1;
  if (run.mark.link >= 0) to = end_of_link(body, from, to, links[static_cast<std::size_t>(run.mark.link)].uri);
  const std::string_view plain = body.substr(from, to - from);
  std::string core = run.mark.link >= 0 ? escape_link_text(plain) : escape_markdown(plain);
  if (run.mark.code && body.find('`') == std::string_view::npos) core = "`" + std::string(plain) + "`";
  if (run.mark.script != 0) core = run.mark.script > 0 ? "<sup>" + core + "</sup>" : "<sub>" + core + "</sub>";
  if (run.mark.struck) core = "~~" + core + "~~";
  if (run.mark.bold && run.mark.italic)
    core = "***" + core + "***";
  else if (run.mark.bold)
    core = "**" + core + "**";
  else if (run.mark.italic)
    core = "*" + core + "*";
  if (run.mark.link >= 0) {
    const std::string& uri = links[static_cast<std::size_t>(run.mark.link)].uri;
    const bool bare = uri.find_first_of("() ") == std::string::npos;
    core = "[" + core + "](" + (bare ? uri : "<" + uri + ">") + ")";
  }
  return std::string(body.substr(0, from)) + core + std::string(body.substr(to));
}

bool has_letter_or_digit(std::u32string_view text) {
  return std::ranges::any_of(text, [](char32_t c) { return is_letter(c) || is_digit(c); });
}

}  // namespace

void Vocabulary::add(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    std::u32string word;
    for (std::size_t i = 0; i < line.words.size(); ++i) {
      const Word& w = line.words[i];
      if (w.space_before && !word.empty()) words_.insert(core_of(word)), word.clear();
      word += w.text;
    }
    // The last word of a line may be the first half of a broken one.
    if (!word.empty() && !is_dash(word.back())) words_.insert(core_of(word));
  }
}

Join join_of(std::u32string_view last_word, std::u32string_view first_word, const Vocabulary& vocabulary) {
  if (last_word.empty() || first_word.empty()) return Join::none;
  const char32_t end = last_word.back();
  const char32_t start = first_word.front();
  if (is_ideograph(end) && is_ideograph(start)) return Join::none;
  if (!is_dash(end)) {
    if (end == 0x2013 && last_word.size() > 1 && is_digit(start)) return Join::none;  // a range or number: "737–" + "9"
    if (end == U'/' && last_word.size() > 8) return Join::none;                       // a broken address
    return Join::space;
  }
  if (last_word.size() < 2 || !is_letter(last_word[last_word.size() - 2])) {
    return last_word.size() >= 2 && is_digit(last_word[last_word.size() - 2]) && is_digit(start) ? Join::none
                                                                                                 : Join::space;
  }
  if (!is_lower(start)) return is_upper(start) || is_digit(start) ? Join::none : Join::space;
  const std::u32string before = core_of(last_word.substr(0, last_word.size() - 1));
  const std::u32string after = core_of(first_word);
  if (vocabulary.knows(before + after)) return Join::drop_hyphen;
  if (vocabulary.knows(before + U"-" + after)) return Join::none;
  if (before.find(U'-') != std::u32string::npos) return Join::none;
  return keeps_hyphen(before) ? Join::none : Join::drop_hyphen;
}

InlineText inline_text(std::span<const Line> lines, const std::vector<document::Link>& links,
                       const Vocabulary& vocabulary, const InlineOptions& options) {
  std::vector<Run> runs;
  std::u32string tail;  // the last word as it stands, over changes of style
  bool first = true;
  const auto drop_last = [&] {
    // Takes back the hyphen, which is one byte or the three of U+2010.
    std::string& text = runs.back().text;
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
    if (!text.empty()) text.pop_back();
  };
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const Line& line = lines[l];
    const std::size_t from = l == 0 ? std::min(options.skip_words, line.words.size()) : 0;
    for (std::size_t i = from; i < line.words.size(); ++i) {
      const Word& w = line.words[i];
      std::string glue = w.space_before ? " " : "";
      if (i == from) {
        glue.clear();
        if (!first && options.keep_breaks) {
          glue = "\n";
        } else if (!first) {
          std::u32string head = w.text;
          for (std::size_t k = i + 1; k < line.words.size() && !line.words[k].space_before; ++k)
            head += line.words[k].text;
          switch (join_of(tail, head, vocabulary)) {
            case Join::space:
              glue = " ";
              break;
            case Join::none:
              break;
            case Join::drop_hyphen:
              drop_last();
              break;
          }
        }
      }
      if (w.space_before || i == from) tail.clear();
      tail += w.text;
      Mark mark;
      // Signs without letters look the same in bold; marking them up only makes noise.
      if (options.emphasis) mark.bold = w.bold, mark.italic = w.italic && !w.math, mark.code = w.mono && options.code;
      mark.struck = w.struck;
      mark.script = has_letter_or_digit(w.text) ? w.script : std::int8_t{0};
      if (w.link >= 0 && safe_link(links[static_cast<std::size_t>(w.link)].uri)) mark.link = w.link;
      if (mark.script != 0) mark.bold = mark.italic = false;  // "**a****<sup>1</sup>**" would be read wrongly
      if (!has_letter_or_digit(w.text) && !runs.empty() && runs.back().mark.script == 0 &&
          mark.link == runs.back().mark.link) {
        const Mark& before = runs.back().mark;
        mark.bold = mark.bold && before.bold;
        mark.italic = mark.italic && before.italic;
        mark.code = mark.code && before.code;
      }
      if (!runs.empty() && runs.back().mark == mark) {
        runs.back().text += glue;
      } else if (!runs.empty() && !glue.empty()) {
        // The space belongs to whichever side carries no mark.
        runs.back().text += glue;
        runs.push_back({mark, {}});
      } else {
        runs.push_back({mark, {}});
      }
      runs.back().text += to_utf8(w.text);
      first = false;
    }
  }
  InlineText out;
  std::string marked;
  for (const Run& run : runs) {
    out.text += run.text;
    // "!" right before a link would make a picture of it.
    if (run.mark.link >= 0 && marked.ends_with('!') && !run.text.starts_with(' '))
      marked.insert(marked.size() - 1, "\\");
    marked += wrapped(run, links);
  }
  if (marked != escape_markdown(out.text)) out.markdown = std::move(marked);
  return out;
}

std::string join_texts(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  const std::u32string a = from_utf8(first);
  const std::u32string b = from_utf8(second);
  const std::size_t last_blank = a.find_last_of(U" \n");
  const std::u32string_view tail =
      std::u32string_view(a).substr(last_blank == std::u32string::npos ? 0 : last_blank + 1);
  const std::u32string_view head = std::u32string_view(b).substr(0, b.find_first_of(U" \n"));
  switch (join_of(tail, head, {})) {
    case Join::space:
      return first + " " + second;
    case Join::none:
      return first + second;
    case Join::drop_hyphen:
      return to_utf8(std::u32string_view(a).substr(0, a.size() - 1)) + second;
  }
  return first + " " + second;
}

}  // namespace lectern::reading::layout
