// How sanitizers behave inside the sandbox: no helper process for symbols, a bounded single allocation in place of the
// memory limit, and no look for leaks at the end (it would need ptrace).
#include "document/render/sanitizer.h"

#ifdef LECTERN_UNDER_SANITIZER
extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:symbolize=0:allocator_may_return_null=1:max_allocation_size_mb=1024";
}
extern "C" const char* __tsan_default_options() {
  return "symbolize=0:allocator_may_return_null=1:max_allocation_size_mb=1024";
}
#endif
