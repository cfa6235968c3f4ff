#include "document/render/backend.h"

namespace lectern::document {

Result<std::unique_ptr<Backend>> open_image(const OpenOptions&, DocumentKind) {
  return fail(ErrorKind::unavailable, "pictures cannot be read yet");
}

}  // namespace lectern::document
