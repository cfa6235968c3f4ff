// The places for renderers in a pool, and who holds which. A call takes a Lease on one place, talks to its renderer,
// and lets go; whatever happens in between (error, cancellation, destruction of the waiting coroutine), the place is
// free afterwards and holds a sound renderer or none. Threads: all of PoolSlots is safe from any thread; a Lease
// belongs to one call.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "document/pool_policy.h"
#include "document/renderer.h"
#include "document/renderer_pool.h"

namespace lectern::document {

class PoolSlots;
struct Slot;

class Lease {
 public:
  Lease(std::shared_ptr<PoolSlots> slots, Slot* slot) : slots_(std::move(slots)), slot_(slot) {}
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

  const SandboxReport& sandbox() const;
  DocumentId document() const;  // what the renderer has open
  void set_document(DocumentId document);
  bool served_before() const;  // it has answered for a page of this document
  void count_page();           // it has answered for one more

  // REQUIRES: called from the coroutine that owns the lease. After Broken the lease has no renderer.
  boost::asio::awaitable<std::expected<Answer, Broken>> call(CallOptions options);
  Status copy_window(std::span<const std::span<std::uint8_t>> pieces);
  // Throws the renderer away: it has said something that it never would if it were sound.
  void distrust();

 private:
  std::shared_ptr<PoolSlots> slots_;  // null after a move
  Slot* slot_;
  bool in_call_ = false;
  bool counted_page_ = false;
};

class PoolSlots : public std::enable_shared_from_this<PoolSlots> {
 public:
  PoolSlots(boost::asio::any_io_executor executor, ProcessOptions options, int processes,
            std::int64_t recycle_rss_bytes);
  ~PoolSlots();

  // Waits for a place, starts a renderer there if need be, prefers one that has `document` open.
  static boost::asio::awaitable<Result<Lease>> acquire(std::shared_ptr<PoolSlots> slots, DocumentId document);
  // Idle renderers let go of a document that nobody will ask for again.
  void forget(DocumentId document);
  // Ends all renderers. Calls that wait, are in flight or come later get ErrorKind::cancelled.
  void close();
  RendererPoolStats stats() const;

 private:
  friend class Lease;
  struct Waiter;
  struct WaitGuard;

  boost::asio::awaitable<Result<Slot*>> take_slot(DocumentId document);
  std::optional<Slot*> try_take(DocumentId document);  // REQUIRES: mutex_ held
  Status start_allowed() const;
  void note_start(const Result<std::unique_ptr<Renderer>>& started);
  void note_process(const std::shared_ptr<RendererProcess>& process);
  void release(Slot* slot);
  void recycle_if_grown(Slot& slot);

  const boost::asio::any_io_executor executor_;
  const ProcessOptions options_;
  const std::int64_t recycle_rss_bytes_;

  mutable std::mutex mutex_;
  // Guarded by mutex_, except that the renderer of a busy slot belongs to its lease.
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<std::shared_ptr<Waiter>> waiting_;
  std::vector<std::weak_ptr<RendererProcess>> processes_;  // to kill on close, also while starting or leased
  std::uint64_t uses_ = 0;
  StartPolicy starts_;
  Error start_error_;
  bool closed_ = false;
  RendererPoolStats stats_;
};

}  // namespace lectern::document
