// Whether documents can be opened here at all: asked before work is taken on that could only fail.
#pragma once

#include <string_view>

#include "base/config.h"
#include "document/renderer_pool.h"

namespace lectern::cli {

// What to do about a renderer that does not start.
inline constexpr std::string_view renderer_mend =
    "run ./dev build to make lectern-render and fetch PDFium, or set LECTERN_RENDERER and LECTERN_PDFIUM to where they "
    "are";

// Starts a renderer as reading would. Blocks.
Result<document::SandboxReport> start_renderer(const Config& config);
// The same for those who only want to go on. Errors (unavailable) say what to do.
Status check_renderer(const Config& config);
// The words of such an error, from that of RendererPool::check().
Error broken_installation(const Error& error);

}  // namespace lectern::cli
