// Whether a sanitizer's runtime is linked in. It reserves terabytes of address space and may run a thread of its own.
#pragma once

namespace lectern::document {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LECTERN_UNDER_SANITIZER 1
#endif
#endif

#ifdef LECTERN_UNDER_SANITIZER
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif

}  // namespace lectern::document
