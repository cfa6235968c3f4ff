// Tesseract ends the process where one of its internal assertions fails. A page must not: inside guarded(), an abort()
// on the calling thread ends the call instead.
#pragma once

#include <csetjmp>

namespace lectern::vision {

namespace abort_guard {
// Where an abort() on this thread returns to; null outside guarded().
sigjmp_buf*& target();
void install_handler();

struct Reset {  // also when `work` throws
  ~Reset() { target() = nullptr; }
};
}  // namespace abort_guard

// Runs `work` and returns true; returns false if it called abort(). What `work` had alive is then leaked, not
// destroyed, and the library it was in is in an unknown state: abandon the object that was called. POSIX lets a handler
// of SIGABRT jump out, and glibc's abort() can be called again afterwards. Guards do not nest.
template <class Work>
bool guarded(const Work& work) {
  abort_guard::install_handler();
  sigjmp_buf here;
  const abort_guard::Reset reset;
  if (sigsetjmp(here, 1) != 0) return false;
  abort_guard::target() = &here;
  work();
  return true;
}

}  // namespace lectern::vision
