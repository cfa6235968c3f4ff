// What can be decided only with the whole document in view: running headers and footers, heading levels, paragraphs and
// tables that go on over a page break. Two passes over the pages in order: observe all, then finish each.
// Memory: a few hundred bytes a page, whatever the page holds.
#pragma once

#include <memory>

#include "document/page_content.h"
#include "reading/page_result.h"

namespace lectern::reading {

class DocumentPass {
 public:
  DocumentPass();
  ~DocumentPass();
  DocumentPass(const DocumentPass&) = delete;
  DocumentPass& operator=(const DocumentPass&) = delete;

  // The document's own outline, when it has one: the best evidence for headings. Before the first finish().
  void outline(const std::vector<document::OutlineEntry>& entries);
  // In page order, each page once; failed pages too (they have no blocks).
  void observe(const PageResult& page);
  // After the last observe(): changes kinds and levels in place. The order of calls does not matter.
  void finish(PageResult& page) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lectern::reading
