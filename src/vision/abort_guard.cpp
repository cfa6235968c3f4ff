#include "vision/abort_guard.h"

#include <csignal>
#include <mutex>

namespace lectern::vision::abort_guard {
namespace {

struct sigaction previous;

extern "C" void on_abort(int) {
  if (sigjmp_buf* where = target()) siglongjmp(*where, 1);
  // Somebody else's: as if we had never been here.
  sigaction(SIGABRT, &previous, nullptr);
  raise(SIGABRT);
}

}  // namespace

sigjmp_buf*& target() {
  thread_local sigjmp_buf* target = nullptr;
  return target;
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_handler = on_abort;
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, &previous);
  });
}

}  // namespace lectern::vision::abort_guard
