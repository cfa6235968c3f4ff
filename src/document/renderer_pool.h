// document/: files → pages. The host half: starts sandboxed renderers (lectern-render), hands them documents by
// descriptor, and takes page contents and pixels back.
// May use: image/, telemetry/, base/. Knows nothing of OCR, models or markdown.
// Start here, then page_content.h (what a page holds) and render_request.h (how pixels are asked for).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "document/page_content.h"
#include "document/render_request.h"
#include "document/sandbox_report.h"

namespace lectern::document {

struct RendererPoolOptions {
  std::filesystem::path renderer;  // lectern-render; empty = beside this program
  std::filesystem::path pdfium;    // libpdfium.so; empty = the pinned one
  int processes = 0;               // 0 = one a core
  RendererLimits limits;
  // A renderer that has grown beyond this (resident, and by half of what its document needed at first) is replaced
  // between two pages, so that a long document costs no more memory than a short one.
  std::int64_t recycle_rss_bytes = std::int64_t{14} << 20;
};

// What the pool has done so far; for tests, doctor and telemetry.
struct RendererPoolStats {
  std::uint64_t started = 0;
  std::uint64_t crashed = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t recycled = 0;
};

class OpenDocument;

// Keeps a page's renderer for it; see OpenDocument::hold(). Dropping it lets go.
using PageHold = std::shared_ptr<void>;

// A pool of renderer processes. All public calls are safe from any thread; coroutines run on the executor given.
// A page that crashes or hangs its renderer fails alone (ErrorKind::corrupt or ErrorKind::timeout); the next call gets
// a fresh renderer, which opens the document again by itself. Destroying the pool ends all renderers.
class RendererPool {
 public:
  RendererPool(boost::asio::any_io_executor executor, RendererPoolOptions options);
  ~RendererPool();
  RendererPool(const RendererPool&) = delete;
  RendererPool& operator=(const RendererPool&) = delete;

  // Starts one renderer and reports its sandbox; an error says how to mend the installation.
  boost::asio::awaitable<Result<SandboxReport>> check();

  // Opens the file once here, checks that a renderer can read it, and returns a handle whose pages can be asked for in
  // parallel: each free renderer opens the same descriptor when first needed. Wrong or missing password, unknown format
  // and unreadable files are ErrorKind::invalid_input with a text for people.
  boost::asio::awaitable<Result<std::shared_ptr<OpenDocument>>> open(std::filesystem::path file, std::string password);
  // The same for a file that is open already: `name` is what errors call it.
  boost::asio::awaitable<Result<std::shared_ptr<OpenDocument>>> open(UniqueFd fd, std::string name,
                                                                     std::string password);

  RendererPoolStats stats() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// One document being read. Calls wait for a free renderer; calls may overlap. Must not outlive the pool's executor.
class OpenDocument {
 public:
  virtual ~OpenDocument() = default;
  virtual const DocumentInfo& info() const = 0;
  virtual boost::asio::awaitable<Result<PageContent>> inspect(int page_number) = 0;
  virtual boost::asio::awaitable<Result<Rendered>> render(RenderRequest request) = 0;
  // For whoever inspects a page and then renders it: as long as the hold lives, the renderer that inspected the page
  // waits for the rendering, so that the page is loaded once. Nobody else gets that renderer meanwhile: hold a page
  // only over the few moments between the two. Null where there is nothing to gain.
  virtual PageHold hold(int /*page_number*/) { return nullptr; }
};

}  // namespace lectern::document
