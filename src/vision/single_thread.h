// Keeps Tesseract to the calling thread, and its number parsing to the C locale.
#pragma once

#include <locale.h>

#include <clocale>

namespace lectern::vision {

// Tesseract asks OpenMP for four threads by name, which a default of one does not overrule; a nesting depth of zero
// does. The setting belongs to the calling thread, so it is made before every call: the pool is our parallelism, and
// four threads a worker made pages slower, not faster. Other OpenMP code on this thread is kept single-threaded too.
void run_single_threaded();

// Tesseract reads numbers with the locale's decimal point; for the length of a call this thread's is '.'.
class NumericLocale {
 public:
  NumericLocale();
  ~NumericLocale();
  NumericLocale(const NumericLocale&) = delete;
  NumericLocale& operator=(const NumericLocale&) = delete;

 private:
  locale_t previous_;
};

}  // namespace lectern::vision
