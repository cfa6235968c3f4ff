// render/: the half of document/ that runs inside lectern-render. A backend opens one document and answers for its
// pages; it is synchronous, single-threaded, and may crash or hang: the sandbox and the host's pool bound the harm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "document/page_content.h"
#include "document/render/reopen_policy.h"
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
  std::int64_t pixels_max = 40'000'000;                               // no page or picture is decoded to more
  bool (*should_reopen)(const OpenSpell&) = document::should_reopen;  // of a PDF; another one is for tests
};

// Looks at the first bytes and opens the fitting backend. Errors name what the file looks like ("looks like a ZIP
// archive (Word, Excel, EPUB…)") because a person reads them.
Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options);

// The PDF library. It must be loaded before the sandbox closes; an empty path means the pinned one. Another build than
// the pinned one is an error, unless `library_path` names it on purpose: then it is loaded, and pdfium_info() has a
// warning.
Status pdfium_load(const std::string& library_path);

struct PdfiumInfo {
  std::string path;      // empty before pdfium_load()
  std::string build_id;  // of the library that was loaded
  std::string pinned_build_id;
  std::string warning;  // for people; empty when the pinned library is in use
  bool pinned() const { return build_id == pinned_build_id; }
  bool operator==(const PdfiumInfo&) const = default;
};
const PdfiumInfo& pdfium_info();

// The backends themselves.
Result<std::unique_ptr<Backend>> open_pdf(const OpenOptions& options);
Result<std::unique_ptr<Backend>> open_image(const OpenOptions& options, DocumentKind kind);

}  // namespace lectern::document
