// When a PDF is closed and opened anew in the middle of reading it. PDFium keeps every object that it has parsed until
// the document is closed: fonts, content streams, dictionaries, some 10 kB a page served. A pure function.
#pragma once

#include <chrono>
#include <cstddef>

namespace lectern::document {

// What is known of a document since it was last opened.
struct OpenSpell {
  int pages = 0;                       // loaded since then
  std::chrono::nanoseconds opening{};  // what opening took, the walk through the page tree to the page wanted included
  std::chrono::nanoseconds lasted{};   // since it was open
  std::size_t grown_bytes = 0;         // of the heap, since it was open
};

// True when the spell is worth ending: it served enough pages, and opening costs little against the time it lasted
// (2%), so that a file which is slow to open (a million pages, far from the first) is not opened again and again. A
// heap that has grown is given back earlier (scans stay in it as a whole), at up to a fifth of all time; one that has
// grown much at up to half.
inline constexpr int pages_between_openings = 128;
inline constexpr std::size_t growth_bytes_noticed = std::size_t{6} << 20;
inline constexpr std::size_t growth_bytes_max = std::size_t{32} << 20;
bool should_reopen(const OpenSpell& spell);

}  // namespace lectern::document
