// DeepSeek-OCR's grounding grammar: <|ref|>LABEL<|/ref|><|det|>[[x1, y1, x2, y2], …]<|/det|>, then the text of what it
// points at. Damage costs a mark, never words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lectern::reading {

// In thousandths of the page, 0..999.
struct GroundedBox {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  bool operator==(const GroundedBox&) const = default;
};

struct GroundedPart {
  std::string label;  // lower case; empty = text that nothing points at
  std::vector<GroundedBox> boxes;
  std::string text;
  bool operator==(const GroundedPart&) const = default;
};

bool is_grounded(std::string_view reply);
std::vector<GroundedPart> grounded_parts(std::string_view reply);

// The boxes in what stands between <|det|> and <|/det|>: numbers in fours, clamped to the page, corners in order;
// boxes without area are left out.
std::vector<GroundedBox> grounded_boxes(std::string_view list);

}  // namespace lectern::reading
