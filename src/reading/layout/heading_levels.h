// Levels of headings, from the styles they have over the whole document, their numbering and the document's outline.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/page_content.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

// What is kept of the document while its pages go by: counts, no text.
class HeadingStatistics {
 public:
  void outline(const std::vector<document::OutlineEntry>& entries);
  void observe(const PageResult& page);
  // After the last observe(). Changes kinds and levels of headings, and of paragraphs that are headings.
  void finish(PageResult& page) const;
  // The size of most of the document's running text; 0 before any was seen.
  float body_size() const;

 private:
  // Styles are told apart by halves of a point and by weight.
  struct Style {
    int half_points = 0;
    bool bold = false;
    auto operator<=>(const Style&) const = default;
  };
  struct Seen {
    int headings = 0;
    int first_page = 0;
    std::size_t first_length = 0;  // of the first heading's text
    std::map<int, int> depths;     // numbering depth → how often
  };
  static Style style_of(const Block& block);
  int level_of(const Block& block) const;
  std::map<Style, int> levels() const;
  void keep_one_title(std::map<Style, int>& out) const;

  std::map<int, long> body_;    // half points → characters
  std::map<int, long> tables_;  // the same of tables, for documents that hold little else
  long blocks_ = 0;
  std::map<Style, Seen> headings_;
  std::map<std::string, int> outline_;  // bare title → level
  int outline_top_ = 0;                 // entries of level 1
  mutable std::map<Style, int> levels_;
  mutable std::optional<int> numbered_offset_;  // level of a numbered heading less its depth
  mutable bool levels_known_ = false;
};

// Letters and digits of a title in lower case: how outline entries and headings are compared.
std::string bare_title(std::string_view text);

}  // namespace lectern::reading::layout
