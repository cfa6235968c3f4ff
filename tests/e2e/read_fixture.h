// Documents and folders for tests of `lectern read` through the real program.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "document/minimal_pdf.h"
#include "program.h"
#include "temp_folder.h"

namespace lectern::e2e {

class ReadTest : public testing::Test {
 protected:
  // A digital PDF; page n says so in the middle of the page, where nobody takes it for a running header.
  std::string pdf(const std::string& name, int pages) {
    std::vector<document::PdfPageOptions> contents;
    for (int page = 1; page <= pages; ++page) {
      contents.push_back(
          {.content = fmt::format("BT /F1 12 Tf 72 400 Td (Page {} of the {} report.) Tj ET", page, name)});
    }
    return put(name, document::pdf_of_pages(contents));
  }
  std::string put(const std::string& name, const std::string& bytes) {
    const auto file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  static std::string slurp(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string out(const std::string& name = "out") const { return (folder_.path() / name).string(); }

  TempFolder folder_;
};

}  // namespace lectern::e2e
