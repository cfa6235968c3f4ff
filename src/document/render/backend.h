// render/: the half of document/ that runs inside lectern-render. A backend opens one document and answers for its
// pages; it is synchronous, single-threaded, and may crash or hang: the sandbox and the host's pool bound the harm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "document/page_content.h"
#include "document/render_request.h"
#include "image/image.h"

namespace lectern::document {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DocumentInfo& info() const = 0;
  // `page_number` counts from 1. An image document has pages without characters.
  virtual Result<PageContent> inspect(int page_number) = 0;
  virtual Result<Rendered> render(const RenderRequest& request) = 0;
};

struct OpenOptions {
  int fd = -1;  // the document; read with pread or mmap, never by name
  std::string password;
  std::int64_t pixels_max = 40'000'000;  // no page or picture is decoded to more
};

// Looks at the first bytes and opens the fitting backend. Errors name what the file looks like ("looks like a ZIP
// archive (Word, Excel, EPUB…)") because a person reads them.
Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options);

// The backends themselves. PDFium must have been loaded (pdfium_load) before the sandbox closes.
Status pdfium_load(const std::string& library_path);
Result<std::unique_ptr<Backend>> open_pdf(const OpenOptions& options);
Result<std::unique_ptr<Backend>> open_image(const OpenOptions& options, DocumentKind kind);

}  // namespace lectern::document
