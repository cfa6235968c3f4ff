#include "reading/layout/drop_caps.h"

#include <algorithm>
#include <cmath>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {

void join_drop_caps(std::vector<Word>& words, float body_size) {
  constexpr std::size_t initials_max = 20;  // a page has a few; a page of large letters has none
  std::vector<std::size_t> initials;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& w = words[i];
    if (w.text.size() == 1 && is_upper(w.text[0]) && w.size > 1.9F * body_size) initials.push_back(i);
  }
  if (initials.empty() || initials.size() > initials_max) return;
  std::vector<std::size_t> gone;
  for (const std::size_t i : initials) {
    const Word& initial = words[i];
    const float top = initial.baseline - 0.75F * initial.size;
    std::size_t first = words.size();
    int lines_beside = 0;
    float last_baseline = -1e9F;
    std::vector<std::size_t> beside;
    for (std::size_t k = 0; k < words.size(); ++k) {
      const Word& w = words[k];
      const float gap = w.box.x0 - initial.box.x1;
      if (k == i || gap < -0.1F * initial.size || gap > 1.2F * body_size || w.size > 1.5F * body_size) continue;
      if (w.baseline < top || w.baseline > initial.baseline + 0.5F * body_size) continue;
      beside.push_back(k);
    }
    std::ranges::sort(beside, {}, [&](std::size_t k) { return words[k].baseline; });
    for (const std::size_t k : beside) {
      if (first == words.size()) first = k;
      if (words[k].baseline - last_baseline > 0.7F * body_size) ++lines_beside, last_baseline = words[k].baseline;
    }
    // An initial stands beside two lines or more; a large letter before one line is just large.
    if (lines_beside < 2 || words[first].text.empty() || !is_letter(words[first].text.front())) continue;
    words[first].text.insert(words[first].text.begin(), initial.text[0]);
    words[first].box.x0 = std::min(words[first].box.x0, initial.box.x0);
    gone.push_back(i);
  }
  std::size_t next = 0;
  std::size_t at = 0;
  std::erase_if(words, [&](const Word&) { return next < gone.size() && gone[next] == at++ ? (++next, true) : false; });
}

}  // namespace lectern::reading::layout
