// How many questions to put to a program at once. Memory is found out by running into it: the size is halved when the
// program runs out of it, and grows back slowly. No clock, no I/O: process_desk.h acts on it.
#pragma once

#include <chrono>
#include <optional>

namespace lectern::provider {

struct BatchSizeOptions {
  int batch_max = 64;
  int good_to_grow = 8;   // full batches in a row before it grows by a quarter
  int good_to_reach = 4;  // so many times more before it reaches again a size that has failed
};

class BatchSize {
 public:
  // Starts at the top: one failed batch costs less than growing there would.
  explicit BatchSize(BatchSizeOptions options);

  int present() const { return present_; }
  // The program itself cannot take more than this at once.
  void lower_max(int batch_max);
  // A batch of `size` came through whole. Smaller ones than the present size prove nothing about it.
  void good(int size);
  // A batch of `size` was too much.
  void too_much(int size);

 private:
  BatchSizeOptions options_;
  int present_;
  int good_ = 0;               // full batches in a row
  std::optional<int> failed_;  // the smallest size that has failed since the last time it was reached
};

// How long to wait for more questions before a batch goes out that is not full: a batch takes about the same time
// whatever its size, so a small part of what the last one took is well spent. The next questions come when the answers
// of the last batch have reached their askers.
std::chrono::nanoseconds collecting_time(std::chrono::nanoseconds last_batch);

}  // namespace lectern::provider
