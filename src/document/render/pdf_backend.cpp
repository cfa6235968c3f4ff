// PDFs by PDFium. One page is kept loaded between calls, because reading inspects a page and then renders it.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "document/render/backend.h"
#include "document/render/document_bytes.h"
#include "document/render/pdf_links.h"
#include "document/render/pdf_objects.h"
#include "document/render/pdf_render.h"
#include "document/render/pdf_scan.h"
#include "document/render/pdf_text.h"

namespace lectern::document {
namespace {

constexpr int chars_max = 400'000;
constexpr int pages_counted_max = 1'000'000;
constexpr int pages_between_checks = 8;  // of memory: looking costs more than a page is worth

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

bool is_white(const image::Image& image) {
  return std::ranges::all_of(image.pixels, [](std::uint8_t value) { return value == 255; });
}

std::unexpected<Error> open_error(unsigned long code, bool password_given) {
  switch (code) {
    case fpdf::error_password:
      return fail(ErrorKind::invalid_input, "{}",
                  password_given ? "the password is wrong: give --password or LECTERN_PASSWORD"
                                 : "needs a password: give --password or LECTERN_PASSWORD");
    case fpdf::error_security:
      return fail(ErrorKind::invalid_input, "the PDF is encrypted in a way that cannot be read (not by a password)");
    case fpdf::error_format:
      return fail(ErrorKind::invalid_input, "the PDF is damaged beyond repair, or no PDF at all");
    default:
      return fail(ErrorKind::invalid_input, "the PDF cannot be opened (PDFium error {})", code);
  }
}

class PdfBackend final : public Backend {
 public:
  PdfBackend(DocumentBytes bytes, const OpenOptions& options)
      : f_(fpdf::functions()),
        bytes_(std::move(bytes)),
        password_(options.password),
        pixels_max_(options.pixels_max),
        should_reopen_(options.should_reopen) {}

  Status open() {
    const auto started = std::chrono::steady_clock::now();
    file_ = {.file_length = bytes_.bytes().size(), .get_block = &read_block, .param = this};
    document_.reset(f_.FPDF_LoadCustomDocument(&file_, password_.empty() ? nullptr : password_.c_str()));
    if (!document_) return open_error(f_.FPDF_GetLastError(), !password_.empty());
    begin_spell(started);
    return {};
  }

  Status learn() {
    info_.kind = DocumentKind::pdf;
    info_.pages = std::min(f_.FPDF_GetPageCount(document_.get()), pages_counted_max);
    if (info_.pages <= 0) return fail(ErrorKind::invalid_input, "the PDF has no pages");
    info_.title = document_title(document_.get());
    info_.outline = document_outline(document_.get());
    heap_at_open_ = heap_in_use();  // title and outline are read once and stay
    return {};
  }

  const DocumentInfo& info() const override { return info_; }

  Result<PageContent> inspect(int page_number) override {
    if (Status loaded = load(page_number); !loaded) return std::unexpected(loaded.error());
    PageContent content{.page_number = page_number, .size = page_.space.size, .page_rotate = page_.space.page_rotate};
    content.links = page_.links;
    if (const fpdf::OwnedTextPage text(f_.FPDFText_LoadPage(page_.handle.get())); text) {
      collect_text(text.get(), page_.space, chars_max, content);
      add_web_links(text.get(), page_.space, content.links);
    }
    const FoundObjects found = collect_objects(page_.handle.get(), page_.space, {}, content);
    content.full_page_scan = find_full_page_scan(found, content);
    remember_picture(found, content.full_page_scan);
    return content;
  }

  Result<Rendered> render(const RenderRequest& request) override {
    if (Status loaded = load(request.page_number); !loaded) return std::unexpected(loaded.error());
    const Result<RenderSize> size = render_size(request, page_.space.size, pixels_max_);
    if (!size) return std::unexpected(size.error());
    if (const Scan* scan = find_scan(); scan != nullptr) {
      auto rendered =
          render_scan(*scan, {.request = request, .asked = *size, .page = page_.space.size, .pixels_max = pixels_max_});
      // Whatever the fast path stumbles over, PDFium may still be able to draw.
      if (rendered) return rendered;
    }
    auto drawn = draw_page(page_.handle.get(), page_.space, *size, request.format);
    // The page is nothing but a picture. When that cannot be decoded, an empty sheet must not pass for it.
    if (drawn && page_.picture && !request.clip && is_white(drawn->image) && may_be_lost(*page_.picture, pixels_max_)) {
      return fail(ErrorKind::corrupt, "the picture that fills the page is damaged, and nothing of it can be shown");
    }
    return drawn;
  }

 private:
  struct LoadedPage {
    int number = 0;
    fpdf::OwnedPage handle;
    PageSpace space;
    std::vector<Link> links;
    bool picture_known = false;
    std::optional<FoundPicture> picture;  // the one that seems to be the page
    bool picture_examined = false;
    std::optional<Scan> scan;  // set when it can be taken without drawing
  };

  // What PDFium reads when it opens a document, or looks for a page, lies all over the file; with what the kernel maps
  // around each place, that would soon be most of it.
  static int read_block(void* self, unsigned long position, unsigned char* buffer, unsigned long size) {
    constexpr unsigned long around = 64 << 10;
    constexpr unsigned long touched_max = 4 << 20;
    auto& backend = *static_cast<PdfBackend*>(self);
    const auto bytes = backend.bytes_.bytes();
    if (position > bytes.size() || size > bytes.size() - position) return 0;
    std::memcpy(buffer, bytes.data() + position, size);
    if (position / around != backend.read_at_ / around) backend.touched_ += around;
    backend.read_at_ = position + size;
    backend.touched_ += size;
    if (backend.touched_ > touched_max) {
      backend.bytes_.drop_from_memory();
      backend.touched_ = 0;
    }
    return 1;
  }

  // Examined only when pixels are wanted: it reads the picture's bytes.
  const Scan* find_scan() {
    if (!page_.picture_known) {
      PageContent content{.size = page_.space.size};
      const FoundObjects found = collect_objects(page_.handle.get(), page_.space, {}, content);
      std::optional<std::uint32_t> index = find_full_page_scan(found, content);
      if (index) {  // only now look at the text: most pages need not
        if (const fpdf::OwnedTextPage text(f_.FPDFText_LoadPage(page_.handle.get())); text) {
          collect_text(text.get(), page_.space, chars_max, content);
          index = find_full_page_scan(found, content);
        }
      }
      remember_picture(found, index);
    }
    if (page_.picture && !page_.picture_examined) {
      std::size_t& place = scan_places_.emplace(page_.number, likely_place()).first->second;
      page_.scan = examine_scan(*page_.picture, bytes_, place);
      page_.picture_examined = true;
    }
    return page_.scan ? &*page_.scan : nullptr;
  }

  // Where the page's picture is likely to lie: as far from that of the nearest page whose place is known as it would be
  // if all pages took the same part of the file.
  std::size_t likely_place() const {
    const auto size = static_cast<double>(bytes_.bytes().size());
    int known_page = 1;
    double known_place = 0;
    if (!scan_places_.empty()) {
      auto nearest = scan_places_.lower_bound(page_.number);
      const bool is_last = nearest == scan_places_.end();
      if (nearest != scan_places_.begin()) {
        const auto before = std::prev(nearest);
        if (is_last || page_.number - before->first <= nearest->first - page_.number) nearest = before;
      }
      known_page = nearest->first;
      known_place = static_cast<double>(nearest->second);
    }
    const double away = size / std::max(1, info_.pages) * (page_.number - known_page);
    return static_cast<std::size_t>(std::clamp(known_place + away, 0.0, size));
  }

  void remember_picture(const FoundObjects& found, std::optional<std::uint32_t> index) {
    if (page_.picture_known) return;
    page_.picture_known = true;
    if (index) page_.picture = found.pictures[*index];
  }

  Status load(int page_number) {
    if (page_number < 1 || page_number > info_.pages) {
      return fail(ErrorKind::not_found, "page {} does not exist: the document has {} pages", page_number, info_.pages);
    }
    if (page_.number == page_number) return {};
    page_ = {};
    // What a page needs of the file is read once; of a file of scans the pages behind would soon be all of it.
    bytes_.drop_from_memory();
    if (++spell_.pages % pages_between_checks == 0) {
      spell_.lasted = std::chrono::steady_clock::now() - opened_at_;
      spell_.grown_bytes = std::max(heap_in_use(), heap_at_open_) - heap_at_open_;
      if (should_reopen_(spell_)) {
        if (Status reopened = reopen(page_number); !reopened) return reopened;
      }
    }
    LoadedPage page{.number = page_number};
    if (Status loaded = load_handle(page); !loaded) return loaded;
    if (const auto known = flattened_.find(page_number); known != flattened_.end()) {
      page.links = known->second;
    } else {
      page.links = annotation_links(document_.get(), page.handle.get(), page.space);
      const Annotations annotations = look_at_annotations(page.handle.get());
      if (annotations.without_look) make_looks(page.handle.get());
      if (annotations.drawn && f_.FPDFPage_Flatten(page.handle.get(), 0) == fpdf::flatten_done) {
        flattened_.emplace(page_number, page.links);
        page.handle.reset();
        if (Status loaded = load_handle(page); !loaded) return loaded;
      }
    }
    page_ = std::move(page);
    return {};
  }

  Status load_handle(LoadedPage& page) {
    page.handle.reset(f_.FPDF_LoadPage(document_.get(), page.number - 1));
    if (!page.handle) return fail(ErrorKind::corrupt, "page {} is damaged and cannot be opened", page.number);
    fpdf::RectF box;
    if (f_.FPDF_GetPageBoundingBox(page.handle.get(), &box) == 0 || !(box.right > box.left) ||
        !(box.top > box.bottom)) {
      return fail(ErrorKind::corrupt, "page {} has no size", page.number);
    }
    page.space = make_page_space(box, f_.FPDFPage_GetRotation(page.handle.get()));
    return {};
  }

  struct Annotations {
    bool drawn = false;         // form fields, stamps, notes: flattening makes their text part of the page's own
    bool without_look = false;  // a field that has a value but no picture of it
  };

  Annotations look_at_annotations(fpdf::Page page) const {
    Annotations found;
    const int count = std::min(f_.FPDFPage_GetAnnotCount(page), 10'000);
    for (int i = 0; i < count && !found.without_look; ++i) {
      const fpdf::OwnedAnnotation annotation(f_.FPDFPage_GetAnnot(page, i));
      if (!annotation) continue;
      const int type = f_.FPDFAnnot_GetSubtype(annotation.get());
      found.drawn |= type != fpdf::annotation_link && type != fpdf::annotation_popup;
      constexpr unsigned long empty_string = 2;  // bytes of a final NUL
      found.without_look |=
          type == fpdf::annotation_widget && f_.FPDFAnnot_GetAP(annotation.get(), 0, nullptr, 0) <= empty_string;
    }
    return found;
  }

  // Programs that fill forms often leave the drawing of values to the reader (/NeedAppearances). PDFium does so when it
  // draws annotations, however small the drawing.
  void make_looks(fpdf::Page page) const {
    std::uint32_t pixel = 0;
    const fpdf::OwnedBitmap bitmap(f_.FPDFBitmap_CreateEx(1, 1, fpdf::bitmap_bgrx, &pixel, sizeof(pixel)));
    if (bitmap) f_.FPDF_RenderPageBitmap(bitmap.get(), page, 0, 0, 1, 1, 0, fpdf::render_annotations);
  }

  // To find a page, PDFium reads and keeps every entry of the page tree before it. That belongs to the price of
  // opening, and is no growth: it comes back with every opening.
  Status reopen(int page_number) {
    const auto started = std::chrono::steady_clock::now();
    document_.reset();
    flattened_.clear();
    malloc_trim(0);
    if (Status opened = open(); !opened) return opened;
    fpdf::SizeF unused;
    f_.FPDF_GetPageSizeByIndexF(document_.get(), page_number - 1, &unused);
    begin_spell(started);
    return {};
  }

  void begin_spell(std::chrono::steady_clock::time_point started) {
    opened_at_ = std::chrono::steady_clock::now();
    spell_ = {.opening = opened_at_ - started};
    heap_at_open_ = heap_in_use();
  }

  const fpdf::Functions& f_;
  DocumentBytes bytes_;  // PDFium reads from it as long as the document is open
  fpdf::FileAccess file_;
  unsigned long read_at_ = 0;
  unsigned long touched_ = 0;  // bytes in memory since they were last dropped, roughly
  std::string password_;
  std::int64_t pixels_max_;
  DocumentInfo info_;
  bool (*should_reopen_)(const OpenSpell&);
  OpenSpell spell_;
  std::chrono::steady_clock::time_point opened_at_;
  std::size_t heap_at_open_ = 0;
  std::map<int, std::size_t> scan_places_;  // by page: where its picture lies in the file, or is likely to
  fpdf::OwnedDocument document_;
  std::map<int, std::vector<Link>> flattened_;  // pages of `document_` whose annotations are part of their content now
  LoadedPage page_;                             // last: closes before the document does
};

}  // namespace

Result<std::unique_ptr<Backend>> open_pdf(const OpenOptions& options) {
  auto bytes = DocumentBytes::from_fd(options.fd);
  if (!bytes) return std::unexpected(bytes.error());
  auto backend = std::make_unique<PdfBackend>(std::move(*bytes), options);
  if (Status opened = backend->open(); !opened) return std::unexpected(opened.error());
  if (Status learned = backend->learn(); !learned) return std::unexpected(learned.error());
  return backend;
}

}  // namespace lectern::document
