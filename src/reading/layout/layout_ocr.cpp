#include "reading/layout/layout.h"
namespace lectern::reading {
std::vector<Block> layout_ocr(const OcrLayoutInput&) {
  return {};
}
}  // namespace lectern::reading
