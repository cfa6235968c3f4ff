// LECTERN_VECTORIZED before an inner loop's function compiles it twice, plainly and for AVX2 machines; the loader
// picks. Sanitizer builds get the plain one: they instrument the loader's choice before their own runtime is up.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LECTERN_VECTORIZED
#endif
#endif
#if !defined(LECTERN_VECTORIZED)
#if defined(__x86_64__)
#define LECTERN_VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define LECTERN_VECTORIZED
#endif
#endif
