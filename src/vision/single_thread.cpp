#include "vision/single_thread.h"

// The OpenMP runtime comes with Debian's libtesseract (libgomp); clang has no omp.h for it.
extern "C" {
void omp_set_num_threads(int threads);
void omp_set_max_active_levels(int levels);
}

namespace lectern::vision {
namespace {

locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C.UTF-8", static_cast<locale_t>(nullptr));
  return locale;
}

}  // namespace

void run_single_threaded() {
  omp_set_num_threads(1);
  omp_set_max_active_levels(0);
}

NumericLocale::NumericLocale() : previous_(uselocale(c_locale())) {}
NumericLocale::~NumericLocale() {
  uselocale(previous_);
}

}  // namespace lectern::vision
