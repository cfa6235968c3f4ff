// Which pages of a document are wanted: "1-10,15,20-". Pages count from 1.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lectern::reading {

struct PageRange {
  static constexpr int open_end = std::numeric_limits<int>::max();
  int first = 1;
  int last = open_end;  // inclusive; open_end = to the end of the document
  bool operator==(const PageRange&) const = default;
};

// A set of pages, kept sorted and merged, so that equal sets are equal values. The default is every page.
class PageSelection {
 public:
  PageSelection() = default;
  // "3", "1-10", "20-" (to the end), "-5" (from the first), joined by commas; blanks are ignored.
  // Errors (invalid_input) name the part that is wrong and show how it is written.
  static Result<PageSelection> parse(std::string_view text);
  // Exactly these. REQUIRES: some, from 1.
  static PageSelection of_pages(std::span<const int> pages);

  bool everything() const { return *this == PageSelection{}; }
  // The wanted pages that a document of `page_count` pages has, ascending.
  std::vector<int> of(int page_count) const;
  std::int64_t count(int page_count) const;  // how many they are
  // The canonical way to write it: "1-10,15,20-".
  std::string to_string() const;
  bool operator==(const PageSelection&) const = default;

 private:
  std::vector<PageRange> ranges_{PageRange{}};
};

// Errors (invalid_input): none of the wanted pages is there, or there are more than `pages_max`.
Status check_selection(const PageSelection& pages, int page_count, int pages_max);

}  // namespace lectern::reading
