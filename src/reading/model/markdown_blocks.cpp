// GitHub markdown as models write it → blocks. Forgiving: what is not closed ends with the text, and what is nothing
// special is a paragraph, so that every word ends up in a block.
#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <utility>

#include "reading/layout/unicode.h"
#include "reading/model/inline_plain.h"
#include "reading/model/reply_text.h"
#include "reading/model/table_blocks.h"
#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;
using Lines = std::vector<std::string_view>;

constexpr int quote_depth_max = 8;

std::size_t indent_of(std::string_view line) {
  std::size_t columns = 0;
  for (const char c : line) {
    if (c == '\t')
      columns += 4;
    else if (c == ' ')
      ++columns;
    else
      break;
  }
  return columns;
}

std::string_view unindented(std::string_view line) {
  return line.substr(std::min(line.size(), line.find_first_not_of(" \t")));
}

Block block_of(BlockKind kind, std::string_view markdown) {
  InlineText inline_text = inline_text_of(trimmed(markdown));
  Block block;
  block.kind = kind;
  block.text = std::string(trimmed(inline_text.text));
  std::string inner(trimmed(inline_text.markdown));
  if (inner != block.text) block.markdown = std::move(inner);
  return block;
}

bool is_rule(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty() || (text[0] != '-' && text[0] != '*' && text[0] != '_')) return false;
  return std::ranges::count(text, text[0]) >= 3 && text.find_first_not_of(std::string{text[0], ' '}) == text.npos;
}

struct Heading {
  int level = 0;
  std::string_view text;
};
std::optional<Heading> heading_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (indent_of(line) > 3 || !text.starts_with('#')) return std::nullopt;
  const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
  if (level > 6 || (level < text.size() && text[level] != ' ' && text[level] != '\t')) return std::nullopt;
  std::string_view inner = trimmed(text.substr(level));
  const std::size_t end = inner.find_last_not_of('#');
  if (end == std::string_view::npos) return Heading{static_cast<int>(level), ""};
  if (end + 1 < inner.size() && (inner[end] == ' ' || inner[end] == '\t')) inner = trimmed(inner.substr(0, end));
  return Heading{static_cast<int>(level), inner};
}

struct Item {
  std::string marker;
  std::string_view text;
  std::size_t indent = 0;
};
std::optional<Item> item_of(std::string_view line) {
  const std::string_view text = unindented(line);
  const auto blank_at = [&](std::size_t at) { return at < text.size() && (text[at] == ' ' || text[at] == '\t'); };
  if (text.empty() || is_rule(line)) return std::nullopt;
  for (const std::string_view bullet : {"-"sv, "*"sv, "+"sv, "•"sv, "◦"sv, "▪"sv}) {
    if (text.starts_with(bullet) && blank_at(bullet.size()))
      return Item{.marker = "-", .text = trimmed(text.substr(bullet.size())), .indent = indent_of(line)};
  }
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || digits > 9) return std::nullopt;
  if ((text[digits] != '.' && text[digits] != ')') || !blank_at(digits + 1)) return std::nullopt;
  return Item{.marker = std::string(text.substr(0, digits + 1)),
              .text = trimmed(text.substr(digits + 1)),
              .indent = indent_of(line)};
}

struct FenceLine {
  char sign = 0;
  std::size_t length = 0;
  std::string_view language;
};
std::optional<FenceLine> fence_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return std::nullopt;
  const std::size_t length = std::min(text.find_first_not_of(text[0]), text.size());
  const std::string_view language = trimmed(text.substr(length));
  if (length < 3 || language.find('`') != std::string_view::npos) return std::nullopt;
  return FenceLine{.sign = text[0], .length = length, .language = language};
}

struct Note {
  std::string_view mark;
  std::string_view text;
};
std::optional<Note> note_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with("[^"sv)) return std::nullopt;
  const std::size_t end = text.find("]:"sv);
  if (end == std::string_view::npos || end > 40 || end == 2) return std::nullopt;
  return Note{.mark = text.substr(2, end - 2), .text = trimmed(text.substr(end + 2))};
}

// A line that is one picture: its description and target.
struct Picture {
  std::string_view description;
  std::string_view target;
};
std::optional<Picture> picture_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with("!["sv) || !text.ends_with(')')) return std::nullopt;
  const std::size_t middle = text.find("]("sv);
  if (middle == std::string_view::npos || text.find(')', middle) + 1 != text.size()) return std::nullopt;
  return Picture{.description = text.substr(2, middle - 2),
                 .target = text.substr(middle + 2, text.size() - middle - 3)};
}

std::size_t table_tag_in(std::string_view line) {
  for (std::size_t at = line.find('<'); at != std::string_view::npos; at = line.find('<', at + 1)) {
    const std::string_view rest = line.substr(at);
    if (lower(rest.substr(0, 6)) == "<table" && (rest.size() == 6 || rest[6] == '>' || rest[6] == ' ')) return at;
  }
  return std::string_view::npos;
}

// Lines of one paragraph: a short line was broken on purpose (addresses, verse), a long one by the width of the page.
std::string joined(const Lines& lines) {
  constexpr std::size_t on_purpose = 50;
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = i == 0 ? lines[i] : unindented(lines[i]);
    const bool hard = line.ends_with("  "sv) || line.ends_with('\\');
    line = trimmed_end(line);
    if (line.ends_with('\\')) line.remove_suffix(1);
    if (i > 0) {
      const std::u32string end =
          layout::from_utf8(std::string_view(out).substr(out.size() - std::min<std::size_t>(4, out.size())));
      const std::u32string begin = layout::from_utf8(line.substr(0, 4));
      const bool ideographs =
          !end.empty() && !begin.empty() && layout::is_ideograph(end.back()) && layout::is_ideograph(begin.front());
      if (!out.ends_with('\n') && !(ideographs)) out += ' ';
    }
    out += line;
    if (i + 1 < lines.size() && (hard || line.size() < on_purpose)) out += '\n';
  }
  return out;
}

class Parser {
 public:
  explicit Parser(int depth) : depth_(depth) {}

  std::vector<Block> parse(std::string_view markdown) {
    end_ = markdown.data() + markdown.size();
    lines_ = lines_of(markdown);
    while (at_ < lines_.size()) step();
    end_paragraph();
    return std::move(blocks_);
  }

 private:
  void step() {
    const std::string_view line = lines_[at_];
    if (is_blank_line(line)) {
      end_paragraph();
      ++at_;
      return;
    }
    if (take_fence() || take_formula() || take_table() || take_html_table() || take_line(line) || take_quote()) return;
    if (paragraph_.empty()) {
      paragraph_kind_ = BlockKind::paragraph;
      if (indent_of(line) < 2) levels_.clear();
    }
    paragraph_.push_back(line);
    ++at_;
  }

  // What one line says alone.
  bool take_line(std::string_view line) {
    if (const auto heading = heading_of(line)) {
      add_heading(heading->level, heading->text);
    } else if (!paragraph_.empty() && paragraph_kind_ == BlockKind::paragraph && paragraph_.size() == 1 &&
               is_underline(line)) {
      const std::string title(paragraph_[0]);
      paragraph_.clear();
      add_heading(trimmed(line)[0] == '=' ? 1 : 2, title);
    } else if (is_rule(line)) {
      end_paragraph();
    } else if (const auto item = item_of(line)) {
      end_paragraph();
      begin_item(*item);
    } else if (const auto note = note_of(line)) {
      end_paragraph();
      paragraph_kind_ = BlockKind::footnote;
      marker_ = note->mark;
      paragraph_.push_back(note->text);
    } else if (const auto picture = picture_of(line)) {
      end_paragraph();
      Block block = block_of(BlockKind::figure, picture->description);
      block.markdown.clear();
      // Only what we saved ourselves is a file; other targets are the model's invention.
      if (picture->target.starts_with("figure:"sv)) block.file = std::string(picture->target);
      blocks_.push_back(std::move(block));
    } else if (trimmed(line).starts_with("<!--"sv) && trimmed(line).ends_with("-->"sv)) {
      end_paragraph();
    } else {
      return false;
    }
    ++at_;
    return true;
  }

  static bool is_underline(std::string_view line) {
    const std::string_view text = trimmed(line);
    return text.size() >= 3 && (text.find_first_not_of('=') == text.npos || text.find_first_not_of('-') == text.npos);
  }

  void add_heading(int level, std::string_view text) {
    end_paragraph();
    levels_.clear();
    if (is_blank_line(text)) return;
    Block block = block_of(BlockKind::heading, text);
    block.level = level;
    blocks_.push_back(std::move(block));
  }

  // Nesting follows the indentation: deeper than the item above is its child, else what stood as deep before.
  void begin_item(const Item& item) {
    while (!levels_.empty() && levels_.back() > item.indent) levels_.pop_back();
    if (levels_.empty() || item.indent > levels_.back() + 1) levels_.push_back(item.indent);
    paragraph_kind_ = BlockKind::list_item;
    marker_ = item.marker;
    level_ = static_cast<int>(std::min<std::size_t>(levels_.size() - 1, 8));
    paragraph_.push_back(item.text);
  }

  void end_paragraph() {
    if (paragraph_.empty()) return;
    const std::string text = joined(paragraph_);
    paragraph_.clear();
    Block block = block_of(paragraph_kind_, text);
    if (paragraph_kind_ != BlockKind::paragraph) block.marker = std::move(marker_);
    if (paragraph_kind_ == BlockKind::list_item) block.level = level_;
    marker_.clear();
    if (!block.text.empty() || block.kind == BlockKind::list_item) blocks_.push_back(std::move(block));
  }

  bool take_fence() {
    const auto open = fence_of(lines_[at_]);
    if (!open) return false;
    end_paragraph();
    const std::size_t indent = indent_of(lines_[at_]);
    Block block;
    block.kind = BlockKind::code;
    // Words that are no name of a language are code that somebody began too early.
    constexpr auto name_signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+#.-"sv;
    const bool name =
        open->language.size() <= 24 && open->language.find_first_not_of(name_signs) == std::string_view::npos;
    if (name) block.language = std::string(open->language);
    if (!name) block.text = std::string(open->language) + "\n";
    for (++at_; at_ < lines_.size(); ++at_) {
      const auto close = fence_of(lines_[at_]);
      if (close && close->sign == open->sign && close->length >= open->length && close->language.empty()) {
        ++at_;
        break;
      }
      std::string_view line = lines_[at_];
      line.remove_prefix(std::min({indent, line.size(), std::min(line.find_first_not_of(' '), line.size())}));
      block.text.append(line) += '\n';
    }
    if (is_blank_line(block.text)) block.text = std::exchange(block.language, {}) + "\n";
    block.text.pop_back();
    if (!block.text.empty()) blocks_.push_back(std::move(block));
    return true;
  }

  // $$…$$ and \[…\] on lines of their own.
  bool take_formula() {
    const std::string_view first = trimmed(lines_[at_]);
    const bool dollars = first.starts_with("$$"sv);
    if (!dollars && !first.starts_with("\\["sv)) return false;
    const std::string_view close = dollars ? "$$"sv : "\\]"sv;
    std::string tex;
    std::size_t last = at_;
    std::string_view line = first.substr(2);
    for (;; line = lines_[last]) {
      const std::string_view text = trimmed_end(line);
      if (const std::size_t end = text.find(close); end != std::string_view::npos) {
        if (!trimmed(text.substr(end + 2)).empty()) return false;  // goes on: a formula in a sentence
        tex += text.substr(0, end);
        break;
      }
      tex.append(text) += '\n';
      // A formula has no blank lines: what is not closed before one is none.
      if (++last >= lines_.size() || is_blank_line(lines_[last])) return false;
    }
    end_paragraph();
    Block block;
    block.kind = BlockKind::formula;
    block.text = std::string(trimmed(tex));
    block.markdown = "$$" + block.text + "$$";
    if (!block.text.empty()) blocks_.push_back(std::move(block));
    at_ = last + 1;
    return true;
  }

  bool take_table() {
    const auto rest = std::span(lines_).subspan(at_);
    const std::size_t count = pipe_table_lines(rest);
    if (count == 0) return false;
    end_paragraph();
    Block block;
    block.kind = BlockKind::table;
    block.table = pipe_table(rest.first(count));
    add_table(std::move(block));
    at_ += count;
    return true;
  }

  bool take_html_table() {
    const std::string_view line = lines_[at_];
    const std::size_t begin = table_tag_in(line);
    if (begin == std::string_view::npos) return false;
    if (!is_blank_line(line.substr(0, begin))) paragraph_.push_back(line.substr(0, begin));
    end_paragraph();
    const std::string_view text(line.data() + begin, static_cast<std::size_t>(end_ - line.data()) - begin);
    const HtmlTable found = html_table(text);
    if (!found.stray.empty()) blocks_.push_back(block_of(BlockKind::caption, found.stray));
    Block block;
    block.kind = BlockKind::table;
    block.table = found.table;
    add_table(std::move(block));
    // The table may end in the middle of a line: read on from there.
    const char* const after = text.data() + found.length;
    while (at_ < lines_.size() && lines_[at_].data() + lines_[at_].size() < after) ++at_;
    if (at_ < lines_.size() && lines_[at_].data() < after) {
      lines_[at_].remove_prefix(static_cast<std::size_t>(after - lines_[at_].data()));
      if (is_blank_line(lines_[at_])) ++at_;
    }
    return true;
  }

  void add_table(Block block) {
    if (block.table.cells.empty()) return;
    int row = 0;
    for (const TableCell& cell : block.table.cells) {
      if (!block.text.empty()) block.text += cell.row != row ? '\n' : '\t';
      block.text += inline_text_of(cell.text).text;
      row = cell.row;
    }
    blocks_.push_back(std::move(block));
  }

  bool take_quote() {
    if (!unindented(lines_[at_]).starts_with('>') || depth_ >= quote_depth_max) return false;
    end_paragraph();
    std::string inner;
    for (; at_ < lines_.size() && unindented(lines_[at_]).starts_with('>'); ++at_) {
      std::string_view text = unindented(lines_[at_]).substr(1);
      if (text.starts_with(' ')) text.remove_prefix(1);
      inner.append(text) += '\n';
    }
    for (Block& block : Parser(depth_ + 1).parse(inner)) blocks_.push_back(std::move(block));
    return true;
  }

  const int depth_;
  const char* end_ = nullptr;
  Lines lines_;
  std::size_t at_ = 0;
  std::vector<Block> blocks_;
  Lines paragraph_;  // of the paragraph, item or footnote that is open
  BlockKind paragraph_kind_ = BlockKind::paragraph;
  std::string marker_;
  int level_ = 0;
  std::vector<std::size_t> levels_;  // indentations of the list that is open
};

}  // namespace

std::vector<Block> blocks_of_markdown(std::string_view markdown) {
  return Parser(0).parse(markdown);
}

}  // namespace lectern::reading
