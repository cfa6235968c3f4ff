// Standard output as a place for results: whoever reads it may be slow, or gone.
#pragma once

#include <string_view>

#include "base/cancellation.h"
#include "base/error.h"

namespace lectern::cli {

// Blocks while the reader is slow, but not past a request to stop.
class StandardOutput {
 public:
  StandardOutput(int fd, Cancellation cancellation) : fd_(fd), cancellation_(std::move(cancellation)) {}

  Status write(std::string_view bytes);
  bool closed() const { return closed_; }  // the reader has gone (EPIPE)

 private:
  int fd_;
  Cancellation cancellation_;
  bool closed_ = false;
};

}  // namespace lectern::cli
