// Several reasons to stop, as one.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "base/cancellation.h"

namespace lectern::service {

class StopSigns {
 public:
  StopSigns(std::initializer_list<Cancellation> signs) {
    for (const Cancellation& sign : signs) {
      watched_.push_back(sign.on_request([any = any_]() mutable { any.request(); }));
    }
  }
  Cancellation any() const { return any_; }
  bool requested() const { return any_.requested(); }

 private:
  Cancellation any_;
  std::vector<std::shared_ptr<void>> watched_;
};

}  // namespace lectern::service
