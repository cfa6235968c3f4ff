// Writes small PDFs for tests: objects by hand, offsets and cross-reference table by machine.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace lectern::document {

class PdfWriter {
 public:
  // Objects are numbered from 1 in the order of their making; a number may be reserved first and filled later.
  int reserve() {
    objects_.emplace_back();
    return static_cast<int>(objects_.size());
  }
  void set(int number, std::string body) { objects_[static_cast<std::size_t>(number - 1)] = std::move(body); }
  int add(std::string body) {
    const int number = reserve();
    set(number, std::move(body));
    return number;
  }
  // `entries` stand in the stream's dictionary besides its length.
  int add_stream(std::string_view bytes, std::string_view entries = "") {
    return add(fmt::format("<< {} /Length {} >>\nstream\n{}\nendstream", entries, bytes.size(), bytes));
  }

  std::string finish(int catalog, std::string_view trailer_entries = "") const {
    std::string out = "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n";
    std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects_.size() + 1);
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      table += fmt::format("{:010} 00000 n \n", out.size());
      out += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects_[i]);
    }
    const std::size_t start = out.size();
    return out + table +
           fmt::format("trailer\n<< /Size {} /Root {} 0 R {} >>\nstartxref\n{}\n%%EOF\n", objects_.size() + 1, catalog,
                       trailer_entries, start);
  }

 private:
  std::vector<std::string> objects_;
};

struct PdfPageOptions {
  std::string content;  // the page's content stream
  std::string media_box = "[0 0 612 792]";
  std::string resources;  // besides the font /F1 (Helvetica, not embedded)
  std::string entries;    // more entries of the page's dictionary
};

// A document of these pages.
inline std::string pdf_of_pages(const std::vector<PdfPageOptions>& pages) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int font = pdf.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  std::string kids;
  for (const PdfPageOptions& page : pages) {
    const int content = pdf.add_stream(page.content);
    const int number =
        pdf.add(fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox {} /Contents {} 0 R "
                            "/Resources << /Font << /F1 {} 0 R >> {} >> {} >>",
                            tree, page.media_box, content, font, page.resources, page.entries));
    kids += fmt::format("{} 0 R ", number);
  }
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", pages.size(), kids));
  return pdf.finish(catalog);
}

inline std::string text_content(std::string_view text) {
  return fmt::format("BT /F1 24 Tf 72 700 Td ({}) Tj ET", text);
}

}  // namespace lectern::document
