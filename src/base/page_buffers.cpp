#include "base/page_buffers.h"

#include <malloc.h>

namespace lectern {

void keep_page_buffers() {
  constexpr int largest_kept = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, largest_kept);
  mallopt(M_TRIM_THRESHOLD, 2 * largest_kept);
  mallopt(M_ARENA_MAX, 2);  // each heap keeps that much
}

}  // namespace lectern
