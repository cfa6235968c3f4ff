// OCR engines kept for reuse: loading one costs some 70 ms and 20 MB, and none may be used by two threads at once.
// Thread safe.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "vision/ocr.h"

namespace lectern::vision {

// Engines are made when first asked for and go back on release. At most `idle_max` wait for reuse; the one unused for
// longest goes first. So no more engines exist than are leased plus `idle_max`: give it the number of CPU workers.
class OcrPool {
 public:
  // The right to use one engine; it returns to the pool on destruction. Must not outlive the pool.
  class Lease {
   public:
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    OcrEngine& operator*() const { return *engine_; }
    OcrEngine* operator->() const { return engine_.get(); }

   private:
    friend class OcrPool;
    Lease(OcrPool& pool, OcrOptions options, std::unique_ptr<OcrEngine> engine)
        : pool_(&pool), options_(std::move(options)), engine_(std::move(engine)) {}

    OcrPool* pool_;
    OcrOptions options_;
    std::unique_ptr<OcrEngine> engine_;  // null once moved from
  };

  explicit OcrPool(std::size_t idle_max) : idle_max_(idle_max) {}

  // Never waits: an idle engine made with the same options, else a new one. Errors are those of OcrEngine::create.
  Result<Lease> acquire(const OcrOptions& options);
  std::size_t idle() const;

 private:
  struct Idle {
    OcrOptions options;
    std::unique_ptr<OcrEngine> engine;
  };
  void release(OcrOptions options, std::unique_ptr<OcrEngine> engine);

  const std::size_t idle_max_;
  mutable std::mutex mutex_;
  std::list<Idle> idle_;  // guarded by mutex_; most recently used first
};

}  // namespace lectern::vision
