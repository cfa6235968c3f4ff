// The renderer's command line: limits and the path of PDFium, set by the host (renderer_process.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace lectern::document {

struct RendererArguments {
  std::int64_t memory_bytes = 0;
  std::uint64_t window_bytes = 0;
  std::string pdfium;
};

Result<RendererArguments> parse_arguments(std::span<char* const> argv);

}  // namespace lectern::document
