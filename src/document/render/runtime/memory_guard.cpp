// Linked into lectern-render itself, not into a library: malloc and its kin are defined here, over the C library's, so
// that refusals are noticed also inside PDFium.
#include "document/render/runtime/memory_guard.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include "document/render/process_contract.h"
#include "document/render/sanitizer.h"

namespace {

volatile sig_atomic_t allocation_refused = 0;

}  // namespace

#ifndef LECTERN_UNDER_SANITIZER
namespace {

void* noticed(void* memory) {
  if (memory == nullptr) allocation_refused = 1;
  return memory;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names under which the C library keeps its own for such wrappers.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t size) {
  return noticed(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) {
  return noticed(__libc_calloc(count, size));
}
void* realloc(void* memory, std::size_t size) {
  void* moved = __libc_realloc(memory, size);
  return size == 0 ? moved : noticed(moved);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return noticed(__libc_memalign(alignment, size));
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  void* made = noticed(__libc_memalign(alignment, size));
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
}
#endif

namespace lectern::document {
namespace {

void on_fatal_signal(int number) {
  if (allocation_refused != 0) _exit(exit_out_of_memory);
  // Not for want of memory: returning runs into the same fault again, now with the default end.
  signal(number, SIG_DFL);
  if (number == SIGABRT) raise(number);
}

}  // namespace

void install_memory_guard() {
  if (under_sanitizer) return;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT}) {
    struct sigaction action{};
    action.sa_handler = on_fatal_signal;
    sigaction(number, &action, nullptr);
  }
}

void reset_memory_guard() {
  allocation_refused = 0;
}

}  // namespace lectern::document
