#include "reading/layout/running_lines.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

constexpr float margin_share = 0.13F;  // of the page's height: how far in a running line may stand
constexpr float edge_share = 0.085F;   // a line this near to the edge needs less evidence
constexpr std::size_t lines_max = 4;   // for each margin
constexpr std::size_t reach = 3;       // pages to either side; two would do for left and right pages, one may be odd

bool roman(std::string_view word) {
  return !word.empty() && word.size() <= 7 &&
         std::ranges::all_of(word, [](char c) { return std::string_view("ivxlc").find(c) != std::string_view::npos; });
}

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  std::string token;
  for (const char32_t c : from_utf8(text)) {
    if (is_blank(c)) {
      if (!token.empty()) out.push_back(std::move(token)), token.clear();
    } else if (is_digit(c)) {
      if (!token.ends_with('#')) token += '#';
    } else {
      append_utf8(token, c < 0x80 && is_upper(c) ? c + 0x20 : c);
    }
  }
  if (!token.empty()) out.push_back(std::move(token));
  for (std::string& t : out) {
    if (roman(t)) t = "#";
  }
  return out;
}

bool number_token(std::string_view token) {
  while (!token.empty() && std::string_view("-–—|[](). ").find(token.front()) != std::string_view::npos)
    token.remove_prefix(1);
  while (!token.empty() && std::string_view("-|[]().").find(token.back()) != std::string_view::npos)
    token.remove_suffix(1);
  return token == "#" || token == "#-#" || token == "#/#" || token == "#.#";
}

// Two lines that say the same but for numbers: equal, or one begins with most of the other.
bool alike(const MarginLine& a, const MarginLine& b) {
  if (a.top != b.top || std::abs(a.y - b.y) > 0.012F) return false;
  if (a.shape == b.shape) return true;
  if (a.shape.size() < 12 || b.shape.size() < 12) return false;
  std::size_t same = 0;
  const std::size_t shorter = std::min(a.shape.size(), b.shape.size());
  while (same < shorter && a.shape[same] == b.shape[same]) ++same;
  return same * 10 >= std::max(a.shape.size(), b.shape.size()) * 8;
}

}  // namespace

std::string shape_of(std::string_view text) {
  std::string out;
  for (const std::string& token : tokens_of(text)) out += (out.empty() ? "" : " ") + token;
  return out;
}

std::vector<MarginLine> margin_lines(const PageResult& page) {
  std::vector<MarginLine> lines;
  if (page.size.height <= 0) return lines;
  for (std::size_t i = 0; i < page.blocks.size(); ++i) {
    const Block& b = page.blocks[i];
    if (b.kind == BlockKind::figure || b.kind == BlockKind::code || b.text.empty() || b.text.size() > 200) continue;
    const float y = b.bbox.center_y() / page.size.height;
    const bool top = y < margin_share;
    if (!top && y < 1 - margin_share) continue;
    // One line, or two of a stacked header.
    if (b.bbox.height() > 3.2F * std::max(b.font_size_pt, 6.0F)) continue;
    MarginLine line;
    line.block = static_cast<int>(i);
    line.top = top;
    line.y = y;
    line.size = b.font_size_pt;
    line.tall = b.bbox.height() > 1.7F * std::max(b.font_size_pt, 1.0F);
    line.note = b.kind == BlockKind::footnote;
    const std::string text = b.kind == BlockKind::list_item && b.marker != "-" ? b.marker + " " + b.text : b.text;
    line.shape = shape_of(text);
    const std::vector<std::string> tokens = tokens_of(text);
    if (!tokens.empty()) {
      line.only_number = tokens.size() <= 4 &&
                         std::ranges::all_of(tokens,
                                             [](const std::string& t) {
                                               return number_token(t) || t == "page" || t == "of" || t == "-" ||
                                                      t == "–" || t == "p." || t == "/" || t == "|" || t == "seite" ||
                                                      t == "página" || t == "de";
                                             }) &&
                         std::ranges::any_of(tokens, [](const std::string& t) { return number_token(t); });
      line.numbered = line.only_number || number_token(tokens.front()) || number_token(tokens.back());
    }
    lines.push_back(std::move(line));
  }
  // The outermost ones only: what stands between them and the edge is what runs.
  std::ranges::sort(lines, {}, [](const MarginLine& l) { return l.top ? l.y : 1 - l.y; });
  std::size_t tops = 0;
  std::size_t bottoms = 0;
  std::erase_if(lines, [&](const MarginLine& l) { return (l.top ? ++tops : ++bottoms) > lines_max; });
  return lines;
}

std::vector<std::vector<bool>> find_running(const std::vector<std::vector<MarginLine>>& pages, float body_size) {
  std::vector<std::vector<bool>> running(pages.size());
  std::vector<std::pair<float, float>> places;  // height and size of lines that surely run
  for (std::size_t p = 0; p < pages.size(); ++p) {
    running[p].resize(pages[p].size());
    // A number in a line is evidence only while nothing but running lines stands between it and the edge: what follows
    // a title is a byline.
    bool outermost_top = true;
    bool outermost_bottom = true;
    bool titled_top = false;  // a title of this page alone stands between the line and the edge
    bool titled_bottom = false;
    for (std::size_t i = 0; i < pages[p].size(); ++i) {
      const MarginLine& line = pages[p][i];
      bool again = false;
      for (std::size_t q = p > reach ? p - reach : 0; q < std::min(pages.size(), p + reach + 1) && !again; ++q) {
        if (q == p) continue;
        again = std::ranges::any_of(pages[q], [&](const MarginLine& other) { return alike(line, other); });
      }
      // A heading that happens to come twice ("Summary") is larger than text; running lines seldom are.
      const bool large = line.size > 1.25F * body_size && !line.only_number;
      const float edge = line.top ? line.y : 1 - line.y;
      const bool at_edge = edge < edge_share && line.size <= 1.06F * body_size;
      const bool small = line.size < 0.96F * body_size && line.shape.size() < 100;
      bool& outermost = line.top ? outermost_top : outermost_bottom;
      bool& titled = line.top ? titled_top : titled_bottom;
      // A paragraph may come again too: a standing clause under the headings of a contract.
      const bool text = !outermost && (line.tall || titled) && line.size >= 0.96F * body_size;
      running[p][i] = (again && !large && !text) || (line.only_number && edge < margin_share * 0.8F) ||
                      (outermost && line.numbered && !line.note && (at_edge || small));
      outermost = outermost && running[p][i];
      titled = titled || (large && !again);
      if (again && running[p][i]) places.emplace_back(line.y, line.size);
    }
  }
  // Where running lines stand on other pages, a line of the same size runs too: chapter titles change, their place does
  // not.
  std::ranges::sort(places);
  for (std::size_t p = 0; p < pages.size(); ++p) {
    for (std::size_t i = 0; i < pages[p].size(); ++i) {
      if (running[p][i]) continue;
      const MarginLine& line = pages[p][i];
      auto it = std::ranges::lower_bound(places, std::pair<float, float>{line.y - 0.004F, 0});
      int same = 0;
      for (; it != places.end() && it->first < line.y + 0.004F && same < 2; ++it)
        same += std::abs(it->second - line.size) < 0.3F ? 1 : 0;
      running[p][i] = same >= 2 && line.size < 1.1F * body_size;
    }
  }
  return running;
}

}  // namespace lectern::reading::layout
