// Tables of the Unicode standard that unicode.cpp looks things up in.
#pragma once

#include <array>
#include <span>

namespace lectern::reading::layout {

struct PresentationForm {
  char32_t form;
  std::array<char32_t, 4> letters;  // zero-filled
};
struct Composition {
  char32_t base;
  char32_t mark;
  char32_t composed;
};
extern const std::span<const PresentationForm> presentation_forms;  // sorted by form
extern const std::span<const Composition> compositions;             // sorted by base, then mark

}  // namespace lectern::reading::layout
