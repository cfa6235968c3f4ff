#include "provider/batch_size.h"

#include <algorithm>

namespace lectern::provider {

BatchSize::BatchSize(BatchSizeOptions options) : options_(options), present_(std::max(1, options.batch_max)) {
  options_.batch_max = present_;
}

void BatchSize::lower_max(int batch_max) {
  options_.batch_max = std::clamp(batch_max, 1, options_.batch_max);
  present_ = std::min(present_, options_.batch_max);
}

void BatchSize::good(int size) {
  if (size < present_ || present_ == options_.batch_max) return;
  ++good_;
  const int grown = std::min(present_ + std::max(1, present_ / 4), options_.batch_max);
  const bool failed_before = failed_ && grown >= *failed_;
  if (good_ < options_.good_to_grow * (failed_before ? options_.good_to_reach : 1)) return;
  if (failed_before) failed_.reset();
  present_ = grown;
  good_ = 0;
}

void BatchSize::too_much(int size) {
  good_ = 0;
  if (size <= 1) return;  // one question alone is too large: no batch size would help it
  failed_ = failed_ ? std::min(*failed_, size) : size;
  present_ = std::min(present_, size / 2);
}

std::chrono::nanoseconds collecting_time(std::chrono::nanoseconds last_batch) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::nanoseconds>(last_batch / 20, 0s, 1s);
}

}  // namespace lectern::provider
