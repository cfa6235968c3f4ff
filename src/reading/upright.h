// Digital pages whose text runs sideways or upside down: a landscape table bound into a portrait report.
#pragma once

#include "document/page_content.h"

namespace lectern::reading {

// The clockwise turn (0, 90, 180 or 270) that makes most of the page's characters run left to right; 0 when the page
// has few characters or no clear majority.
int turn_of_text(const document::PageContent& content);

// The page turned clockwise: everything on it moves along, and its sides swap for 90 and 270.
document::PageContent turned(document::PageContent content, int clockwise_degrees);

// A box on a page of size `page` after that page was turned clockwise. `turned_box(b, s, r)` then
// `turned_box(…, turned_size(s, r), 360 - r)` gives `b` again.
RectPt turned_box(const RectPt& box, SizePt page, int clockwise_degrees);
SizePt turned_size(SizePt page, int clockwise_degrees);

}  // namespace lectern::reading
