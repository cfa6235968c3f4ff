#include "reading/layout/document_pass.h"

namespace lectern::reading {

struct DocumentPass::State {};

DocumentPass::DocumentPass() : state_(std::make_unique<State>()) {}
DocumentPass::~DocumentPass() = default;
void DocumentPass::outline(const std::vector<document::OutlineEntry>&) {}
void DocumentPass::observe(const PageResult&) {}
void DocumentPass::finish(PageResult&) const {}

}  // namespace lectern::reading
