#include "document/pool_slots.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace lectern::document {
namespace {

namespace asio = boost::asio;

// Looking up a process's memory costs some microseconds; once in so many pages is enough.
constexpr std::uint64_t pages_between_memory_checks = 4;

std::unexpected<Error> closed_error() {
  return fail(ErrorKind::cancelled, "the renderers were stopped");
}

}  // namespace

struct Slot {
  bool busy = false;
  std::uint64_t last_used = 0;
  std::unique_ptr<Renderer> renderer;  // null: none started
  DocumentId document = 0;
  RendererMemory memory;

  void drop_renderer() {
    renderer.reset();
    document = 0;
    memory = {};
  }
};

struct PoolSlots::Waiter {
  Waiter(const asio::any_io_executor& executor, DocumentId id) : call{id, 0}, wake(executor, 1) {}
  WaitingCall call;
  Slot* given = nullptr;  // guarded by the pool's mutex; set when taken out of the line
  asio::experimental::concurrent_channel<void(boost::system::error_code)> wake;
};

// Takes the waiter out of the line when its coroutine ends early, and passes on what it was given in the meantime.
struct PoolSlots::WaitGuard {
  PoolSlots& slots;
  std::shared_ptr<Waiter> waiter;

  ~WaitGuard() {
    if (Slot* unused = leave()) slots.release(unused);
  }
  Slot* leave() {
    const std::lock_guard lock(slots.mutex_);
    std::erase(slots.waiting_, waiter);
    return std::exchange(waiter->given, nullptr);
  }
};

Lease::~Lease() {
  if (!slots_) return;
  if (in_call_) slot_->drop_renderer();  // nobody knows any more what its next answer would belong to
  if (counted_page_ && slot_->renderer) slots_->recycle_if_grown(*slot_);
  slots_->release(slot_);
}

const SandboxReport& Lease::sandbox() const {
  return slot_->renderer->sandbox();
}
DocumentId Lease::document() const {
  return slot_->document;
}
bool Lease::served_before() const {
  return slot_->memory.pages > 0;
}

void Lease::set_document(DocumentId document) {
  slot_->document = document;
  slot_->memory = {};
}

void Lease::count_page() {
  ++slot_->memory.pages;
  counted_page_ = true;
}

asio::awaitable<std::expected<Answer, Broken>> Lease::call(CallOptions options) {
  in_call_ = true;
  auto answer = co_await slot_->renderer->call(std::move(options));
  in_call_ = false;
  if (!answer) {
    slot_->drop_renderer();
    const std::lock_guard lock(slots_->mutex_);
    if (slots_->closed_) {
      answer.error().why = Broken::Why::stopped;
    } else {
      ++(answer.error().why == Broken::Why::timed_out ? slots_->stats_.timed_out : slots_->stats_.crashed);
    }
  }
  co_return answer;
}

Status Lease::copy_window(std::span<const std::span<std::uint8_t>> pieces) {
  return slot_->renderer->copy_window(pieces);
}

void Lease::distrust() {
  slot_->drop_renderer();
  const std::lock_guard lock(slots_->mutex_);
  ++slots_->stats_.crashed;
}

PoolSlots::PoolSlots(asio::any_io_executor executor, ProcessOptions options, int processes,
                     std::int64_t recycle_rss_bytes)
    : executor_(std::move(executor)), options_(std::move(options)), recycle_rss_bytes_(recycle_rss_bytes) {
  for (int i = 0; i < processes; ++i) slots_.push_back(std::make_unique<Slot>());
}

PoolSlots::~PoolSlots() = default;

asio::awaitable<Result<Lease>> PoolSlots::acquire(std::shared_ptr<PoolSlots> slots, DocumentId document) {
  auto slot = co_await slots->take_slot(document);
  if (!slot) co_return std::unexpected(std::move(slot.error()));
  Lease lease(slots, *slot);
  Slot& place = **slot;
  // It may have ended while nobody was looking (the machine ran out of memory, somebody killed it): no page's fault.
  if (place.renderer && place.renderer->process().exited()) place.drop_renderer();
  if (!place.renderer) {
    if (auto allowed = slots->start_allowed(); !allowed) co_return std::unexpected(std::move(allowed.error()));
    auto on_start = [slots](const std::shared_ptr<RendererProcess>& process) { slots->note_process(process); };
    auto started = co_await Renderer::start(slots->executor_, slots->options_, std::move(on_start));
    slots->note_start(started);
    if (auto allowed = slots->start_allowed(); !allowed && allowed.error().kind == ErrorKind::cancelled) {
      co_return std::unexpected(std::move(allowed.error()));
    }
    if (!started) co_return std::unexpected(std::move(started.error()));
    place.renderer = std::move(*started);
  }
  co_return std::move(lease);
}

asio::awaitable<Result<Slot*>> PoolSlots::take_slot(DocumentId document) {
  auto waiter = std::make_shared<Waiter>(executor_, document);
  {
    const std::lock_guard lock(mutex_);
    if (closed_) co_return closed_error();
    if (auto slot = try_take(document)) co_return *slot;
    waiting_.push_back(waiter);
  }
  WaitGuard guard{*this, waiter};
  co_await waiter->wake.async_receive(asio::as_tuple(asio::use_awaitable));
  Slot* slot = guard.leave();
  if (slot == nullptr) co_return closed_error();  // or this call was cancelled: the same to its caller
  co_return slot;
}

std::optional<Slot*> PoolSlots::try_take(DocumentId document) {
  std::vector<RendererView> views;
  views.reserve(slots_.size());
  for (const auto& slot : slots_) {
    // A busy slot's renderer belongs to its lease: not even looked at here.
    views.push_back(slot->busy ? RendererView{.busy = true}
                               : RendererView{false, slot->renderer != nullptr, slot->document, slot->last_used});
  }
  const auto chosen = choose_renderer(views, document);
  if (!chosen) return std::nullopt;
  Slot* slot = slots_[*chosen].get();
  slot->busy = true;
  slot->last_used = ++uses_;
  return slot;
}

Status PoolSlots::start_allowed() const {
  const std::lock_guard lock(mutex_);
  if (closed_) return closed_error();
  if (!starts_.may_try(std::chrono::steady_clock::now())) return std::unexpected(start_error_);
  return {};
}

void PoolSlots::note_start(const Result<std::unique_ptr<Renderer>>& started) {
  const std::lock_guard lock(mutex_);
  if (started) {
    ++stats_.started;
    starts_.note_success();
  } else {
    starts_.note_failure(std::chrono::steady_clock::now());
    start_error_ = started.error();
  }
}

void PoolSlots::note_process(const std::shared_ptr<RendererProcess>& process) {
  const std::lock_guard lock(mutex_);
  std::erase_if(processes_, [](const auto& known) { return known.expired(); });
  processes_.push_back(process);
  if (closed_) process->kill();
}

void PoolSlots::release(Slot* slot) {
  std::shared_ptr<Waiter> next;
  std::unique_ptr<Renderer> unwanted;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      unwanted = std::move(slot->renderer);
      slot->busy = false;
      return;
    }
    std::vector<WaitingCall> calls;
    calls.reserve(waiting_.size());
    for (const auto& waiter : waiting_) calls.push_back(waiter->call);
    const auto chosen = choose_waiting(calls, slot->document);
    if (!chosen) {
      slot->busy = false;
      return;
    }
    for (std::size_t i = 0; i < *chosen; ++i) ++waiting_[i]->call.overtaken;
    next = waiting_[*chosen];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(*chosen));
    next->given = slot;  // stays busy
    slot->last_used = ++uses_;
  }
  next->wake.try_send(boost::system::error_code());
}

void PoolSlots::recycle_if_grown(Slot& slot) {
  const std::uint64_t pages = slot.memory.pages;
  if (pages != 1 && pages % pages_between_memory_checks != 0) return;
  slot.memory.rss_now = slot.renderer->process().rss_bytes();
  if (pages == 1) slot.memory.rss_at_first = slot.memory.rss_now;
  if (!should_recycle(slot.memory, {recycle_rss_bytes_, options_.limits.memory_bytes})) return;
  slot.drop_renderer();
  const std::lock_guard lock(mutex_);
  ++stats_.recycled;
}

void PoolSlots::forget(DocumentId document) {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->busy || !slot->renderer || slot->document != document) continue;
    slot->renderer->tell(protocol::MessageType::close);
    slot->document = 0;
    slot->memory = {};
  }
}

void PoolSlots::close() {
  std::deque<std::shared_ptr<Waiter>> waiting;
  std::vector<std::unique_ptr<Renderer>> idle;
  std::vector<std::shared_ptr<RendererProcess>> running;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    waiting.swap(waiting_);
    for (const auto& slot : slots_) {
      if (!slot->busy) idle.push_back(std::move(slot->renderer));
    }
    for (const auto& known : processes_) {
      if (auto process = known.lock()) running.push_back(std::move(process));
    }
  }
  for (const auto& process : running) process->kill();  // all at once, so that they die side by side
  for (const auto& waiter : waiting) waiter->wake.try_send(boost::system::error_code());
}

RendererPoolStats PoolSlots::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace lectern::document
