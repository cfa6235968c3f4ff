#include "reading/assembly.h"

#include <nlohmann/json.hpp>

#include "reading/document_type.h"
#include "reading/layout/document_pass.h"
#include "reading/model/model_reader.h"
#include "reading/output/escape.h"
#include "reading/output/json.h"
#include "reading/output/page_break.h"
#include "reading/page_result.h"

namespace lectern::reading {
namespace {

// Quiet, readable on screen and paper, nothing fetched from anywhere.
constexpr std::string_view style = R"(
  :root { color-scheme: light dark; }
  body { font: 17px/1.55 Georgia, "Times New Roman", serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
  h1, h2, h3, h4, h5, h6 { font-family: system-ui, sans-serif; line-height: 1.25; }
  section[data-page] { border-top: 1px solid #8884; margin-top: 2rem; padding-top: .5rem; }
  section[data-page]::before { content: "page " attr(data-page); float: right; font: 12px system-ui, sans-serif; opacity: .6; }
  table { border-collapse: collapse; margin: 1rem 0; font-size: .92em; }
  th, td { border: 1px solid #8886; padding: .25rem .5rem; text-align: left; vertical-align: top; }
  img { max-width: 100%; height: auto; }
  pre { overflow-x: auto; padding: .75rem; background: #8882; font-size: .85em; }
  .failed { color: #b00; font-family: system-ui, sans-serif; }
)";

// Inside an HTML comment "--" must not occur.
std::string comment_safe(std::string text) {
  for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) text.replace(at, 2, "- ");
  std::ranges::replace(text, '\n', ' ');
  if (text.ends_with('-')) text += ' ';
  return text;
}

std::string placeholder(const PageResult& page, OutputFormat format) {
  const bool in_words = format == OutputFormat::markdown || format == OutputFormat::text;
  if (in_words && page.reader == "model") return page_placeholder(page.page, page.error);
  switch (format) {
    case OutputFormat::markdown:
      return fmt::format("<!-- page {} could not be read: {} -->\n", page.page, comment_safe(page.error));
    case OutputFormat::text:
      return fmt::format("[page {} could not be read: {}]\n", page.page, page.error);
    case OutputFormat::html:
      return fmt::format(
          "<section data-page=\"{0}\"><p class=\"failed\">Page {0} could not be read: {1}</p></section>\n", page.page,
          escape_html(page.error));
    case OutputFormat::json:
      break;  // the page result says it itself
  }
  return to_json(page);
}

// A model's markdown is put out as it is: turning it into blocks and back could only lose something.
bool speaks_for_itself(const PageResult& page) {
  return !page.model.empty() && !page.markdown.empty();
}

std::string markdown_of(const PageResult& page) {
  if (!speaks_for_itself(page) && !page.blocks.empty()) return to_markdown(page);
  return page.markdown.empty() || page.markdown.ends_with('\n') ? page.markdown : page.markdown + '\n';
}

std::string rendered(const PageResult& page, OutputFormat format) {
  if (!page.error.empty()) return placeholder(page, format);
  switch (format) {
    case OutputFormat::markdown:
      return markdown_of(page);
    case OutputFormat::text:
      return to_text(page);
    case OutputFormat::html:
      return to_html(page);
    case OutputFormat::json:
      break;
  }
  return to_json(page);
}

std::string document_json(const JournalHeader& header) {
  const nlohmann::ordered_json document{{"name", header.document},
                                        {"sha256", header.identity.sha256},
                                        {"pages", header.info.pages},
                                        {"type", type_name(header.info.kind)}};
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string document_head(const JournalHeader& header, AssemblyOptions options) {
  switch (options.format) {
    case OutputFormat::markdown:
      return options.named ? fmt::format("<!-- document: {} -->\n\n", comment_safe(header.document)) : "";
    case OutputFormat::text:
      return options.named ? fmt::format("==> {} <==\n\n", header.document) : "";
    case OutputFormat::html:
      return fmt::format("<article data-document=\"{0}\">\n{1}", escape_html(header.document),
                         options.named ? fmt::format("<h1>{}</h1>\n", escape_html(header.document)) : "");
    case OutputFormat::json:
      break;
  }
  return fmt::format(R"({{"document":{},"pages":[)", document_json(header));
}

std::string_view document_tail(AssemblyOptions options) {
  switch (options.format) {
    case OutputFormat::markdown:
    case OutputFormat::text:
      return options.named ? "\n" : "";
    case OutputFormat::html:
      return "</article>\n";
    case OutputFormat::json:
      return "]}\n";
  }
  return "";
}

std::string_view page_separator(OutputFormat format) {
  switch (format) {
    case OutputFormat::markdown:
    case OutputFormat::text:
      return "\n";  // pages end in a newline, so this leaves a blank line
    case OutputFormat::html:
      return "";
    case OutputFormat::json:
      return ",";
  }
  return "";
}

}  // namespace

std::string output_head(OutputFormat format, std::string_view title) {
  if (format != OutputFormat::html) return {};
  return fmt::format(
      "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escape_html(title), style);
}

std::string output_tail(OutputFormat format) {
  return format == OutputFormat::html ? "</body>\n</html>\n" : std::string();
}

std::string streamed_head(const JournalHeader& header, AssemblyOptions options) {
  if (options.format != OutputFormat::json) return document_head(header, options);
  return options.named ? fmt::format("{{\"document\":{}}}\n", document_json(header)) : "";
}

std::string streamed_page(PageResult page, OutputFormat format, bool first) {
  if (format == OutputFormat::json) {
    page.markdown = markdown_of(page);
    return to_json(page) + "\n";
  }
  const std::string text = rendered(page, format);
  return first || text.empty() ? text : std::string(page_separator(format)) + text;
}

std::string streamed_tail(AssemblyOptions options) {
  return options.format == OutputFormat::json ? "" : std::string(document_tail(options));
}

Status assemble_document(const Journal& journal, std::span<const int> pages, AssemblyOptions options,
                         const ByteSink& sink) {
  DocumentPass pass;
  pass.outline(journal.header().info.outline);
  for (const int number : pages) {
    const auto page = journal.read(number);
    if (!page) return std::unexpected(page.error());
    // What a model wrote has its headings and paragraphs already; as evidence it would mislead.
    if (page->model.empty()) {
      pass.observe(*page);
    } else {
      pass.observe(PageResult{.page = page->page, .size = page->size});
    }
  }
  if (auto sent = sink(document_head(journal.header(), options)); !sent) return sent;
  // One page ahead: a paragraph that goes on over a page break is put together before its page is rendered. In JSON
  // each page keeps what stands on it.
  const auto finished = [&](std::size_t at) -> Result<PageResult> {
    auto page = journal.read(pages[at]);
    if (page && page->model.empty()) pass.finish(*page);
    return page;
  };
  bool first = true;
  Result<PageResult> page = pages.empty() ? PageResult{} : finished(0);
  for (std::size_t at = 0; at < pages.size(); ++at) {
    if (!page) return std::unexpected(page.error());
    Result<PageResult> next = at + 1 < pages.size() ? finished(at + 1) : PageResult{};
    if (!next) return std::unexpected(next.error());
    if (options.format == OutputFormat::json) {
      page->markdown = markdown_of(*page);
    } else if (page->model.empty() && next->model.empty()) {
      join_over_break(*page, *next);
    }
    const std::string text = rendered(*page, options.format);
    page = std::move(next);
    if (text.empty()) continue;  // a blank page leaves no gap
    if (!first) {
      if (auto sent = sink(page_separator(options.format)); !sent) return sent;
    }
    if (auto sent = sink(text); !sent) return sent;
    first = false;
  }
  return sink(document_tail(options));
}

}  // namespace lectern::reading
