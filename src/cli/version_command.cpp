// lectern version
#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "vision/ocr.h"

namespace lectern::cli {

int version_command(const CommandLine& line) {
  const std::string tesseract = vision::engine_version();
  if (line.json) {
    const nlohmann::ordered_json json{{"lectern", LECTERN_VERSION},
                                      {"pdfium", LECTERN_PDFIUM_VERSION},
                                      {"pdfium_build_id", LECTERN_PDFIUM_BUILD_ID},
                                      {"tesseract", tesseract},
                                      {"compiler", __VERSION__}};
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("lectern {}\nPDFium {} (build {})\nTesseract {}\n{}\n", LECTERN_VERSION, LECTERN_PDFIUM_VERSION,
             LECTERN_PDFIUM_BUILD_ID, tesseract, __VERSION__);
  return 0;
}

}  // namespace lectern::cli
