#include "vision/ocr_pool.h"

#include <algorithm>
#include <utility>

namespace lectern::vision {

OcrPool::Lease::~Lease() {
  if (engine_) pool_->release(std::move(options_), std::move(engine_));
}

Result<OcrPool::Lease> OcrPool::acquire(const OcrOptions& options) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, options, &Idle::options);
    if (found != idle_.end()) {
      std::unique_ptr<OcrEngine> engine = std::move(found->engine);
      idle_.erase(found);
      return Lease(*this, options, std::move(engine));
    }
  }
  auto engine = OcrEngine::create(options);  // outside the lock: it loads files
  if (!engine) return std::unexpected(engine.error());
  return Lease(*this, options, std::move(*engine));
}

std::size_t OcrPool::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

void OcrPool::release(OcrOptions options, std::unique_ptr<OcrEngine> engine) {
  std::list<Idle> kept;
  kept.push_front({std::move(options), std::move(engine)});
  std::list<Idle> surplus;  // declared before the lock, so freed after it: unloading a model takes a while
  const std::lock_guard lock(mutex_);
  idle_.splice(idle_.begin(), kept);
  if (idle_.size() > idle_max_) surplus.splice(surplus.begin(), idle_, std::prev(idle_.end()));
}

}  // namespace lectern::vision
