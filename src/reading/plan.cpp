#include "reading/plan.h"

#include <map>

namespace lectern::reading {
namespace {

// Rows of earlier versions say "1-", so it is the pages that count and not how they are written.
bool has_pages(const Assembled& assembled, const std::vector<int>& pages, int page_count) {
  const auto selection = PageSelection::parse(assembled.pages);
  return selection && selection->of(page_count) == pages;
}

}  // namespace

bool is_usable(const Known& known, const Wanted& wanted) {
  return !wanted.from_scratch && known.identity == wanted.identity;
}

std::vector<int> output_pages(const Known* known, const Wanted& wanted, int page_count) {
  const std::vector<int> now = wanted.pages.of(page_count);
  std::set<int> pages(now.begin(), now.end());
  if (known != nullptr) {
    for (const PageRecord& record : known->records) pages.insert(record.page);
  }
  return {pages.begin(), pages.end()};
}

Plan plan_document(const Known* known, const Wanted& wanted, int page_count) {
  Plan plan;
  std::map<int, PageState> states;
  if (known != nullptr) {
    for (const PageRecord& record : known->records) states[record.page] = record.state;
  }
  for (const int page : wanted.pages.of(page_count)) {
    const auto found = states.find(page);
    const PageState state = found == states.end() ? PageState::pending : found->second;
    const bool poor = state == PageState::failed || state == PageState::fallback;
    const bool lost = known != nullptr && known->figures_lost.contains(page);
    if (state == PageState::pending || lost || (poor && wanted.retry_failed)) plan.read.push_back(page);
  }
  const bool same_output = known != nullptr && known->output_exists && known->assembled &&
                           known->assembled->format == wanted.format && known->assembled->output == wanted.output &&
                           has_pages(*known->assembled, output_pages(known, wanted, page_count), page_count);
  plan.assemble = !plan.read.empty() || !same_output;
  return plan;
}

}  // namespace lectern::reading
