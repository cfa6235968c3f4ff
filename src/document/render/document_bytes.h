// The bytes of the document that the renderer was handed.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"

namespace lectern::document {

// The file, mapped read-only. Movable; the bytes stay in place. A pipe cannot be mapped: whoever hands documents over
// spools it first, as several renderers read the same descriptor.
class DocumentBytes {
 public:
  static Result<DocumentBytes> from_fd(int fd);
  DocumentBytes(DocumentBytes&& other) noexcept;
  DocumentBytes& operator=(DocumentBytes&& other) noexcept;
  ~DocumentBytes();

  std::span<const std::uint8_t> bytes() const { return bytes_; }
  // What was read stays mapped but counts against our memory no longer; it comes back from the page cache when touched.
  void drop_from_memory() const;

 private:
  DocumentBytes() = default;
  void release();
  std::span<const std::uint8_t> bytes_;
};

}  // namespace lectern::document
