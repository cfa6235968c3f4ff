#include "reading/model/reply_text.h"

#include <fmt/format.h>

#include "reading/model/front_matter.h"
#include "reading/model/grounding.h"
#include "reading/model/reply_wrapping.h"
#include "reading/model/text_pieces.h"
#include "reading/output/escape.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

// At most one blank line in a row, outside of code; no blanks at the ends of lines but those that break them.
std::string tidied(std::string_view text) {
  std::string out;
  bool code = false;
  int blank = 0;
  bool broken = false;  // the line before ends in blanks that break it
  for (const std::string_view line : lines_of(text)) {
    if (trimmed(line).starts_with("```"sv)) code = !code;
    if (!code && is_blank_line(line)) {
      ++blank;
      continue;
    }
    if (broken && blank == 0) out += "  ";
    if (!out.empty()) out += blank > 0 && !code ? "\n\n" : "\n";
    if (code && blank > 0 && !out.empty()) out += "\n";
    blank = 0;
    const std::string_view kept = trimmed_end(line);
    out += kept;
    broken = !code && line.substr(kept.size()).starts_with("  "sv);
  }
  return std::string(trimmed_end(out));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Links to "figure:<index>" are ours to give.
std::string without_our_targets(std::string text) {
  replace_all(text, "](figure:", "](figure-");
  return text;
}

// TeX that nobody else knows, and centring that markdown does not have.
std::string cleaned_markup(std::string text) {
  replace_all(text, "\\coloneqq", ":=");
  replace_all(text, "\\eqqcolon", "=:");
  replace_all(text, "<center>", "");
  replace_all(text, "</center>", "");
  return without_our_targets(std::move(text));
}

RectPt on_page(const GroundedBox& box, SizePt page) {
  const auto x = [&](int v) { return static_cast<float>(v) / 999 * page.width; };
  const auto y = [&](int v) { return static_cast<float>(v) / 999 * page.height; };
  return {.x0 = x(box.x0), .y0 = y(box.y0), .x1 = x(box.x1), .y1 = y(box.y1)};
}

enum class LabelKind : std::uint8_t { any, title, sub_title, caption, formula, footnote, header, footer, picture };
LabelKind kind_of(std::string_view label) {
  if (label == "image" || label == "figure") return LabelKind::picture;
  if (label == "title") return LabelKind::title;
  if (label == "sub_title" || label == "subtitle") return LabelKind::sub_title;
  if (label.ends_with("caption")) return LabelKind::caption;
  if (label.ends_with("equation") || label == "formula") return LabelKind::formula;
  if (label.ends_with("footnote")) return LabelKind::footnote;
  if (label.ends_with("header")) return LabelKind::header;
  if (label.ends_with("footer") || label == "page_number") return LabelKind::footer;
  return LabelKind::any;
}

// What the label knows better than the markdown: only plain paragraphs are given another kind.
void apply(LabelKind kind, Block& block) {
  if (block.kind != BlockKind::paragraph) return;
  switch (kind) {
    case LabelKind::any:
    case LabelKind::picture:
      return;
    case LabelKind::title:
    case LabelKind::sub_title:
      block.kind = BlockKind::heading;
      block.level = kind == LabelKind::title ? 1 : 2;
      return;
    case LabelKind::caption:
      block.kind = BlockKind::caption;
      return;
    case LabelKind::formula:
      block.kind = BlockKind::formula;
      return;
    case LabelKind::footnote:
      block.kind = BlockKind::footnote;
      return;
    case LabelKind::header:
      block.kind = BlockKind::page_header;
      return;
    case LabelKind::footer:
      block.kind = BlockKind::page_footer;
      return;
  }
}

class GroundedPage {
 public:
  explicit GroundedPage(SizePt size) : size_(size) {}

  void add(const GroundedPart& part) {
    RectPt box;
    for (const GroundedBox& each : part.boxes) box = union_of(box, on_page(each, size_));
    const LabelKind kind = kind_of(part.label);
    if (kind == LabelKind::picture) {
      for (const GroundedBox& each : part.boxes) add_figure(on_page(each, size_));
      box = {};  // the text beside a picture is not inside it
    }
    std::string markdown = tidied(cleaned_markup(part.text));
    if (markdown.empty()) return;
    std::vector<Block> blocks = blocks_of_markdown(markdown);
    for (Block& block : blocks) {
      block.bbox = box;
      apply(kind, block);
      out_.blocks.push_back(std::move(block));
    }
    const bool bare = blocks.size() == 1 && !markdown.starts_with('#');
    if (bare && kind == LabelKind::title) markdown.insert(0, "# ");
    if (bare && kind == LabelKind::sub_title) markdown.insert(0, "## ");
    append(markdown);
  }

  ReplyText finish() {
    if (!out_.markdown.empty()) out_.markdown += '\n';
    return std::move(out_);
  }

 private:
  void add_figure(const RectPt& box) {
    const std::string target = fmt::format("figure:{}", out_.figures.size());
    Block block;
    block.kind = BlockKind::figure;
    block.bbox = box;
    block.file = target;
    out_.figures.push_back({.box = box, .block = out_.blocks.size()});
    out_.blocks.push_back(std::move(block));
    append("![](" + target + ")");
  }
  void append(std::string_view markdown) {
    if (!out_.markdown.empty()) out_.markdown += "\n\n";
    out_.markdown += markdown;
  }

  SizePt size_;
  ReplyText out_;
};

ReplyText text_of(std::string_view text, SizePt page) {
  if (is_grounded(text)) {
    GroundedPage grounded(page);
    for (const GroundedPart& part : grounded_parts(text)) grounded.add(part);
    return grounded.finish();
  }
  ReplyText out;
  out.markdown = without_our_targets(tidied(text));
  out.blocks = blocks_of_markdown(out.markdown);
  if (!out.markdown.empty()) out.markdown += '\n';
  return out;
}

}  // namespace

ReplyText reply_text(std::string_view reply, const ReplyContext& context) {
  std::string text = without_special_tokens(without_thoughts(plain_lines(reply)));
  FrontMatter told;
  bool nothing = false;
  if (auto wrapped = unwrap_json(text)) {
    told = read_front_matter(wrapped->front_matter);
    nothing = wrapped->nothing;
    text = plain_lines(wrapped->text);
  }
  text = without_remarks(text);
  if (const auto split = split_front_matter(text)) {
    told = split->told;
    nothing = trimmed(split->text).empty();
    text = without_remarks(split->text);
  }
  ReplyText out;
  if (nothing || says_nothing(text)) {
    out.said_nothing = true;
  } else {
    out = text_of(text, context.page_size);
  }
  out.rotation = told.rotation;
  out.diagram = told.diagram;
  return out;
}

void name_figures(ReplyText& text, const std::vector<std::string>& files) {
  for (std::size_t i = text.figures.size(); i-- > 0;) {
    const std::string name = i < files.size() ? files[i] : std::string{};
    const std::string link = fmt::format("![](figure:{})", i);
    const std::size_t at = text.markdown.find(link);
    if (at != std::string::npos) {
      if (!name.empty()) {
        text.markdown.replace(at, link.size(), "![](" + file_link(name) + ")");
      } else {
        // With its empty line, so that none is left over.
        std::size_t length = link.size();
        while (at + length < text.markdown.size() && text.markdown[at + length] == '\n') ++length;
        text.markdown.erase(at, length);
      }
    }
    if (text.figures[i].block < text.blocks.size()) text.blocks[text.figures[i].block].file = name;
  }
  const std::size_t end = text.markdown.find_last_not_of('\n');
  text.markdown.resize(end == std::string::npos ? 0 : end + 1);
  if (!text.markdown.empty()) text.markdown += '\n';
}

}  // namespace lectern::reading
