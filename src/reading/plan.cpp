#include "reading/plan.h"

#include <map>

namespace lectern::reading {

bool is_usable(const Known& known, const Wanted& wanted) {
  return !wanted.from_scratch && known.identity == wanted.identity;
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
    if (state == PageState::pending || (poor && wanted.retry_failed)) plan.read.push_back(page);
  }
  const bool same_output = known != nullptr && known->output_exists && known->assembled == wanted.output;
  plan.assemble = !plan.read.empty() || !same_output;
  return plan;
}

}  // namespace lectern::reading
