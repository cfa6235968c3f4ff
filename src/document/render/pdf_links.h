// Links of a page, and the outline and title of a document.
#pragma once

#include <string>
#include <vector>

#include "document/page_content.h"
#include "document/render/page_space.h"
#include "document/render/pdfium.h"

namespace lectern::document {

// Links that the PDF holds as annotations. Flattening a page removes them, so they are taken before.
std::vector<Link> annotation_links(fpdf::Document document, fpdf::Page page, const PageSpace& space);
// Addresses written out in the text; those that an annotation already covers are left out.
void add_web_links(fpdf::TextPage text, const PageSpace& space, std::vector<Link>& links);

std::string document_title(fpdf::Document document);
std::vector<OutlineEntry> document_outline(fpdf::Document document);

}  // namespace lectern::document
