#include "document/renderer_pool.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/async.h"
#include "document/document_file.h"
#include "document/page_budget.h"
#include "document/pool_slots.h"
#include "document/protocol.h"
#include "document/renderer.h"

namespace lectern::document {
namespace {

namespace asio = boost::asio;
using protocol::MessageType;

std::filesystem::path beside_this_program(std::string_view name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(name) : self.parent_path() / name;
}

std::filesystem::path default_pdfium() {
  if (const char* set = std::getenv("LECTERN_PDFIUM"); set != nullptr && *set != '\0') return set;
  std::error_code error;
  const auto beside = beside_this_program("libpdfium.so");
  return std::filesystem::exists(beside, error) ? beside : std::filesystem::path(LECTERN_PDFIUM_LIBRARY);
}

RendererPoolOptions completed(RendererPoolOptions options) {
  if (options.renderer.empty()) options.renderer = beside_this_program("lectern-render");
  if (options.pdfium.empty()) options.pdfium = default_pdfium();
  if (options.processes <= 0) options.processes = hardware_threads();
  return options;
}

}  // namespace

// One file being read: what every renderer needs to open it.
struct DocumentSource {
  DocumentId id = 0;
  std::filesystem::path file;
  std::string password;
  UniqueFd fd;
};

struct RendererPool::Shared {
  explicit Shared(asio::any_io_executor e, RendererPoolOptions o)
      : options(completed(std::move(o))),
        slots(std::make_shared<PoolSlots>(std::move(e),
                                          ProcessOptions{options.renderer, options.pdfium, options.limits},
                                          options.processes, options.recycle_rss_bytes)) {}

  const RendererPoolOptions options;
  const std::shared_ptr<PoolSlots> slots;  // also held by the leases of calls in flight
  std::atomic<DocumentId> last_document{0};
};

namespace {

using SourcePtr = std::shared_ptr<const DocumentSource>;

// The document's name in front: "report.pdf: page 7 crashed the renderer (SIGSEGV)".
Error about(const DocumentSource& source, Error error) {
  error.for_log = fmt::format("{}: {}", source.file.string(), error.for_log);
  error.for_caller = fmt::format("{}: {}", source.file.filename().string(), error.for_caller);
  return error;
}

// Takes the answer apart: the payload that was wanted, the renderer's own error, or nonsense.
Result<protocol::Payload> wanted_payload(Answer answer, MessageType wanted, const std::string& doing) {
  if (answer.type == wanted) return std::move(answer.payload);
  if (answer.type == MessageType::error) {
    auto error = protocol::decode_error(answer.payload);
    if (!error) return std::unexpected(std::move(error.error()));
    return std::unexpected(std::move(*error));
  }
  return fail(ErrorKind::corrupt, "{} made the renderer answer nonsense", doing);
}

// Has the lease's renderer open the document, if it has not.
asio::awaitable<Result<DocumentInfo>> open_in(Lease* lease, SourcePtr source, RendererLimits limits) {
  CallOptions call{MessageType::open, protocol::encode(protocol::OpenCall{source->password, limits.pixels_max}),
                   source->fd.get(), limits.open_timeout};
  lease->set_document(0);  // whatever comes of it, the renderer closes the document that it had
  auto answer = co_await lease->call(std::move(call));
  if (!answer) co_return std::unexpected(describe(answer.error(), "opening it", limits));
  auto payload = wanted_payload(std::move(*answer), MessageType::opened, "opening it");
  if (!payload) co_return std::unexpected(std::move(payload.error()));
  auto info = protocol::decode_opened(*payload);
  if (!info) {
    lease->distrust();
    co_return std::unexpected(std::move(info.error()));
  }
  lease->set_document(source->id);
  co_return std::move(*info);
}

// The renderer that inspected a page, while it waits for the rendering.
class HeldLease {
 public:
  void put(Lease lease) {
    const std::lock_guard lock(mutex_);
    if (!lease_) lease_.emplace(std::move(lease));
  }
  std::optional<Lease> take() {
    const std::lock_guard lock(mutex_);
    std::optional<Lease> taken;
    if (lease_) taken.emplace(std::move(*lease_));
    lease_.reset();
    return taken;
  }

 private:
  std::mutex mutex_;
  std::optional<Lease> lease_;
};

class DocumentHandle : public OpenDocument, public std::enable_shared_from_this<DocumentHandle> {
 public:
  DocumentHandle(std::shared_ptr<PoolSlots> slots, RendererLimits limits, SourcePtr source, DocumentInfo info)
      : slots_(std::move(slots)),
        limits_(limits),
        source_(std::move(source)),
        info_(std::move(info)),
        budget_(limits.page_timeout) {}
  ~DocumentHandle() override { slots_->forget(source_->id); }
  DocumentHandle(const DocumentHandle&) = delete;
  DocumentHandle& operator=(const DocumentHandle&) = delete;

  const DocumentInfo& info() const override { return info_; }

  // Not coroutines themselves: these take hold of the handle at once, so that it may be dropped before the first await.
  asio::awaitable<Result<PageContent>> inspect(int page_number) override {
    return inspect_page(shared_from_this(), page_number);
  }
  asio::awaitable<Result<Rendered>> render(RenderRequest request) override {
    return render_page(shared_from_this(), request);
  }

  PageHold hold(int page_number) override {
    auto hold = std::make_shared<HeldLease>();
    const std::lock_guard lock(holds_mutex_);
    std::erase_if(holds_, [](const auto& known) { return known.second.expired(); });
    holds_.insert_or_assign(page_number, hold);
    return hold;
  }

 private:
  using Self = std::shared_ptr<DocumentHandle>;

  static asio::awaitable<Result<PageContent>> inspect_page(Self self, int page_number) {
    Ask ask{MessageType::inspect, MessageType::content, protocol::encode_page_number(page_number), page_number};
    auto reply = co_await self->ask(std::move(ask));
    if (!reply) co_return std::unexpected(about(*self->source_, std::move(reply.error())));
    auto content = protocol::decode_content(reply->payload);
    if (content && content->page_number != page_number) {
      content = fail(ErrorKind::corrupt, "the renderer answered for page {}", content->page_number);
    }
    if (!content) co_return std::unexpected(self->refuse(*reply, page_number, content.error()));
    if (const auto hold = self->hold_of(page_number)) hold->put(std::move(reply->lease));
    co_return std::move(*content);
  }

  static asio::awaitable<Result<Rendered>> render_page(Self self, RenderRequest request) {
    const int page_number = request.page_number;
    Ask ask{MessageType::render, MessageType::rendered, protocol::encode(request), page_number};
    auto reply = co_await self->ask(std::move(ask));
    if (!reply) co_return std::unexpected(about(*self->source_, std::move(reply.error())));
    auto shown = protocol::decode_rendered(reply->payload, window_bytes(self->limits_), self->limits_.pixels_max);
    if (shown && shown->jpeg && !request.allow_passthrough) {
      shown = fail(ErrorKind::corrupt, "the renderer passed a JPEG through although pixels were asked for");
    }
    if (shown && shown->chroma && !request.allow_chroma) {
      shown = fail(ErrorKind::corrupt, "the renderer sent colours apart although they were to be in the picture");
    }
    if (!shown) co_return std::unexpected(self->refuse(*reply, page_number, shown.error()));
    auto rendered = copy_out(*shown, reply->lease);
    if (!rendered) co_return std::unexpected(self->refuse(*reply, page_number, rendered.error()));
    co_return std::move(*rendered);
  }

  static Result<Rendered> copy_out(const protocol::RenderedInWindow& shown, Lease& lease) {
    Rendered rendered;
    rendered.width_px = shown.width_px;
    rendered.height_px = shown.height_px;
    rendered.path = shown.path;
    rendered.px_per_pt = shown.px_per_pt;
    std::vector<std::span<std::uint8_t>> pieces;
    if (shown.jpeg) {
      rendered.jpeg.resize(shown.bytes);
      pieces.emplace_back(rendered.jpeg);
    } else {
      rendered.image = image::Image::unset(shown.width_px, shown.height_px, shown.format);
      pieces.emplace_back(rendered.image.pixels);
    }
    rendered.image.format = shown.format;
    rendered.image.dpi = shown.dpi;
    if (shown.chroma) {
      const auto half = [&] {
        return image::Image::unset(shown.width_px / 2, shown.height_px / 2, image::PixelFormat::gray8);
      };
      rendered.chroma = image::Chroma{.blue = half(), .red = half()};
      pieces.emplace_back(rendered.chroma->blue.pixels);
      pieces.emplace_back(rendered.chroma->red.pixels);
    }
    if (auto copied = lease.copy_window(pieces); !copied) return std::unexpected(std::move(copied.error()));
    const auto& bytes = rendered.jpeg;
    const bool looks_like_jpeg = bytes.size() > 3 && bytes[0] == 0xFF && bytes[1] == 0xD8;
    if (shown.jpeg && !looks_like_jpeg) return fail(ErrorKind::corrupt, "the renderer passed through what is no JPEG");
    return rendered;
  }

  struct Ask {
    MessageType type;
    MessageType wanted;
    protocol::Payload payload;
    int page_number;
  };
  // The payload, and the lease that its renderer (and the window) is still held by.
  struct Reply {
    Lease lease;
    protocol::Payload payload;
  };

  asio::awaitable<Result<Reply>> ask(Ask ask) {
    if (ask.page_number < 1 || ask.page_number > info_.pages) {
      co_return fail(ErrorKind::invalid_input, "there is no page {}; it has {}", ask.page_number, info_.pages);
    }
    const std::string doing = fmt::format("page {}", ask.page_number);
    for (bool again = false;; again = true) {
      auto lease = co_await lease_for(ask.page_number);
      if (!lease) co_return std::unexpected(std::move(lease.error()));
      if (auto ready = co_await make_ready(&*lease); !ready) co_return std::unexpected(std::move(ready.error()));
      const bool served_before = lease->served_before();
      const bool inspecting = ask.type == MessageType::inspect;
      const auto timeout = inspecting ? budget_.for_inspecting() : budget_.for_rendering(ask.page_number);
      CallOptions call{ask.type, ask.payload, -1, timeout};
      const auto start = std::chrono::steady_clock::now();
      auto answer = co_await lease->call(std::move(call));
      const auto took = std::chrono::steady_clock::now() - start;
      if (answer) {
        if (inspecting) budget_.inspected(ask.page_number, std::chrono::floor<std::chrono::milliseconds>(took));
        lease->count_page();
        auto payload = wanted_payload(std::move(*answer), ask.wanted, doing);
        if (!payload) co_return std::unexpected(on_page(std::move(payload.error()), doing));
        co_return Reply{std::move(*lease), std::move(*payload)};
      }
      // A renderer that has served other pages may have died of what they left behind (memory above all): before the
      // page is blamed, it gets one fresh renderer. A page that hung or took long has cost enough time already.
      const bool cost_much = answer.error().why != Broken::Why::died || took > limits_.page_timeout / 4;
      const bool blame_is_sure = cost_much || !served_before || again;
      if (blame_is_sure) co_return std::unexpected(describe(answer.error(), doing, limits_));
    }
  }

  std::shared_ptr<HeldLease> hold_of(int page_number) {
    const std::lock_guard lock(holds_mutex_);
    const auto found = holds_.find(page_number);
    return found == holds_.end() ? nullptr : found->second.lock();
  }

  asio::awaitable<Result<Lease>> lease_for(int page_number) {
    if (const auto hold = hold_of(page_number)) {
      if (auto lease = hold->take()) co_return std::move(*lease);
    }
    co_return co_await PoolSlots::acquire(slots_, source_->id);
  }

  asio::awaitable<Status> make_ready(Lease* lease) {
    if (lease->document() == source_->id) co_return Status();
    auto info = co_await open_in(lease, source_, limits_);
    if (!info) co_return std::unexpected(std::move(info.error()));
    if (*info != info_) co_return fail(ErrorKind::conflict, "the file has changed while it was being read");
    co_return Status();
  }

  // "page 7: the picture is broken", unless the text names the page already.
  static Error on_page(Error error, const std::string& doing) {
    if (!error.for_caller.contains(doing)) error.for_caller = fmt::format("{}: {}", doing, error.for_caller);
    if (!error.for_log.contains(doing)) error.for_log = fmt::format("{}: {}", doing, error.for_log);
    return error;
  }

  // An answer that no sound renderer gives: the page fails and the renderer goes.
  Error refuse(Reply& reply, int page_number, const Error& violation) {
    reply.lease.distrust();
    const Broken broken{Broken::Why::broke_protocol, {}, violation.for_log};
    return about(*source_, describe(broken, fmt::format("page {}", page_number), limits_));
  }

  const std::shared_ptr<PoolSlots> slots_;  // outlives the pool, so that late calls get an error
  const RendererLimits limits_;
  const SourcePtr source_;
  const DocumentInfo info_;
  PageBudget budget_;
  std::mutex holds_mutex_;
  std::map<int, std::weak_ptr<HeldLease>> holds_;  // by page; guarded by holds_mutex_
};

asio::awaitable<Result<SandboxReport>> check_one(std::shared_ptr<PoolSlots> slots) {
  auto lease = co_await PoolSlots::acquire(slots, 0);
  if (!lease) co_return std::unexpected(std::move(lease.error()));
  co_return lease->sandbox();
}

asio::awaitable<Result<std::shared_ptr<OpenDocument>>> open_document(std::shared_ptr<PoolSlots> slots,
                                                                     RendererLimits limits,
                                                                     std::shared_ptr<DocumentSource> source) {
  if (source->password.size() > protocol::caps.password_bytes) {
    co_return fail(ErrorKind::invalid_input, "the password is longer than {} bytes", protocol::caps.password_bytes);
  }
  if (source->fd) {
    if (auto sound = check_document_file(source->fd.get(), source->file); !sound) {
      co_return std::unexpected(std::move(sound.error()));
    }
  } else {
    auto fd = open_document_file(source->file);
    if (!fd) co_return std::unexpected(std::move(fd.error()));
    source->fd = std::move(*fd);
  }
  auto lease = co_await PoolSlots::acquire(slots, source->id);
  if (!lease) co_return std::unexpected(std::move(lease.error()));
  auto info = co_await open_in(&*lease, source, limits);
  if (!info) co_return std::unexpected(about(*source, std::move(info.error())));
  co_return std::make_shared<DocumentHandle>(slots, limits, source, std::move(*info));
}

}  // namespace

RendererPool::RendererPool(asio::any_io_executor executor, RendererPoolOptions options)
    : shared_(std::make_unique<Shared>(std::move(executor), std::move(options))) {}

RendererPool::~RendererPool() {
  shared_->slots->close();
}

asio::awaitable<Result<SandboxReport>> RendererPool::check() {
  return check_one(shared_->slots);
}

asio::awaitable<Result<std::shared_ptr<OpenDocument>>> RendererPool::open(std::filesystem::path file,
                                                                          std::string password) {
  auto source = std::make_shared<DocumentSource>();
  source->id = ++shared_->last_document;
  source->file = std::move(file);
  source->password = std::move(password);
  return open_document(shared_->slots, shared_->options.limits, std::move(source));
}

asio::awaitable<Result<std::shared_ptr<OpenDocument>>> RendererPool::open(UniqueFd fd, std::string name,
                                                                          std::string password) {
  auto source = std::make_shared<DocumentSource>();
  source->id = ++shared_->last_document;
  source->file = std::move(name);
  source->password = std::move(password);
  source->fd = std::move(fd);
  return open_document(shared_->slots, shared_->options.limits, std::move(source));
}

RendererPoolStats RendererPool::stats() const {
  return shared_->slots->stats();
}

}  // namespace lectern::document
