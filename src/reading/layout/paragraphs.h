// The lines of one column → groups that belong together: a paragraph, a heading, a list item, a stretch of code.
#pragma once

#include <optional>
#include <vector>

#include "reading/layout/lines.h"
#include "reading/layout/markers.h"

namespace lectern::reading::layout {

// What is usual on the page; everything else is judged against it.
struct PageStyle {
  float body_size = 10;
  std::uint16_t body_font = 0;
  float pitch = 1.2F;      // baseline to baseline, in sizes
  bool body_bold = false;  // most of the text is bold, so bold says nothing
  bool body_mono = false;  // a typewritten page: fixed pitch says nothing
  SizePt page;
};
// `words_size`: the size of most characters of the whole page, tables included; it decides where little runs outside
// them.
PageStyle page_style(const std::vector<Line>& segments, SizePt page, float words_size);
// The size that most characters have.
float usual_size(const std::vector<Word>& words);

struct Group {
  std::vector<Line> lines;
  std::optional<ListMarker> marker;
  bool toc = false;  // a line of a table of contents
  RectPt box() const;
  float size() const;  // of most characters
  bool bold() const;
  bool mono() const;
  int chars() const;
  bool rtl() const;
};

std::vector<Group> group_lines(std::vector<Line> lines, const PageStyle& style);

}  // namespace lectern::reading::layout
