#include "document/render/backend.h"
#include "document/render/document_bytes.h"
#include "document/render/sniff.h"

namespace lectern::document {

Result<std::unique_ptr<Backend>> open_backend(const OpenOptions& options) {
  Sniffed sniffed;
  {
    const auto bytes = DocumentBytes::from_fd(options.fd);
    if (!bytes) return std::unexpected(bytes.error());
    sniffed = sniff(bytes->bytes().first(std::min<std::size_t>(bytes->bytes().size(), 8192)));
  }
  if (!sniffed.kind) {
    return fail(ErrorKind::invalid_input, "looks like {}, which Lectern cannot read{}{}", sniffed.looks_like,
                sniffed.advice.empty() ? "" : ": ", sniffed.advice);
  }
  if (*sniffed.kind == DocumentKind::pdf) return open_pdf(options);
  return open_image(options, *sniffed.kind);
}

}  // namespace lectern::document
