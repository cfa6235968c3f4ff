#include "document/render/document_bytes.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace lectern::document {

Result<DocumentBytes> DocumentBytes::from_fd(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return fail_errno("cannot look at the document", errno);
  if (S_ISDIR(status.st_mode)) return fail(ErrorKind::invalid_input, "this is a folder, not a document");
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid_input, "this is not a regular file");
  if (status.st_size == 0) return fail(ErrorKind::invalid_input, "the file is empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) {
    return fail(ErrorKind::invalid_input, "the document ({} MB) does not fit into the renderer's memory limit",
                size >> 20);
  }
  DocumentBytes document;
  document.bytes_ = {static_cast<const std::uint8_t*>(at), size};
  return document;
}

DocumentBytes::DocumentBytes(DocumentBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

DocumentBytes& DocumentBytes::operator=(DocumentBytes&& other) noexcept {
  if (this != &other) {
    release();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

DocumentBytes::~DocumentBytes() {
  release();
}

void DocumentBytes::drop_from_memory() const {
  // The mapping is private and never written, so nothing is lost.
  madvise(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

void DocumentBytes::release() {
  // munmap takes a mutable pointer although it writes nothing.
  if (!bytes_.empty()) munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace lectern::document
