// List items, one after another, as nested <ul> and <ol>.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reading/page_result.h"

namespace lectern::reading {

// Writes to `out`. A deeper list stands in the <li> that it belongs to; numbers that do not follow from their place
// (1, 2, 3…) are written out. Marks that are no numbers ("a)", "(iv)") stay visible as text of a bullet, as in
// markdown.
class HtmlLists {
 public:
  explicit HtmlLists(std::string& out) : out_(out) {}

  // `html` is the text of the item.
  void add(const Block& item, const std::string& html);
  // Ends the lists that are open.
  void close();

 private:
  struct Open {
    int level = 0;
    bool ordered = false;
    int next = 1;  // the number that the next item has by itself
  };
  void open(int level, std::optional<int> number);
  void close_last();

  std::string& out_;
  std::vector<Open> open_;  // each in the <li> of the one before, which is still open
};

}  // namespace lectern::reading
