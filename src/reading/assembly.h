// From journalled pages to one output: two passes in page order, two pages in memory at a time. The first lets the
// document-wide pass see every page; the second finishes and renders them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "reading/journal.h"
#include "reading/output/render.h"

namespace lectern::reading {

using ByteSink = std::function<Status(std::string_view bytes)>;

struct AssemblyOptions {
  OutputFormat format = OutputFormat::markdown;
  bool named = false;  // several documents share the output: each begins with its name
};

// What stands before the first and after the last document of an output (HTML has such; the others are empty).
std::string output_head(OutputFormat format, std::string_view title);
std::string output_tail(OutputFormat format);

// The same page by page, for those who cannot wait: what only the whole document tells is missing (heading levels,
// running headers, paragraphs over page breaks), except on pages that a model read, which never have it. In JSON each
// page result is a line of its own; with `named` a line {"document": …} comes before those of a document.
std::string streamed_head(const JournalHeader& header, AssemblyOptions options);
std::string streamed_page(PageResult page, OutputFormat format, bool first);
std::string streamed_tail(AssemblyOptions options);

// REQUIRES: the journal has all of `pages`, which ascend. A failed page becomes a placeholder that names page and
// reason.
Status assemble_document(const Journal& journal, std::span<const int> pages, AssemblyOptions options,
                         const ByteSink& sink);

}  // namespace lectern::reading
