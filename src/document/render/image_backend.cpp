// Picture files as documents: each frame is a page without characters.
#include <cmath>

#include "document/render/backend.h"
#include "document/render/decode_picture.h"
#include "document/render/document_bytes.h"
#include "document/render/picture_page.h"
#include "document/render/picture_place.h"
#include "image/decode.h"

namespace lectern::document {
namespace {

image::FileFormat file_format(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::jpeg:
      return image::FileFormat::jpeg;
    case DocumentKind::png:
      return image::FileFormat::png;
    case DocumentKind::tiff:
      return image::FileFormat::tiff;
    case DocumentKind::webp:
      return image::FileFormat::webp;
    case DocumentKind::bmp:
      return image::FileFormat::bmp;
    case DocumentKind::pdf:
      break;
  }
  std::abort();  // open_image is called for pictures only
}

class ImageBackend final : public Backend {
 public:
  ImageBackend(DocumentBytes bytes, DocumentKind kind, std::int64_t pixels_max)
      : bytes_(std::move(bytes)), format_(file_format(kind)), pixels_max_(pixels_max) {
    info_.kind = kind;
  }

  Status learn() {
    auto frames = image::probe(format_, bytes_.bytes());
    if (!frames) return std::unexpected(frames.error());
    frames_ = std::move(*frames);
    info_.pages = static_cast<int>(frames_.size());
    return {};
  }

  const DocumentInfo& info() const override { return info_; }

  Result<PageContent> inspect(int page_number) override {
    const auto found = find(page_number);
    if (!found) return std::unexpected(found.error());
    const image::FrameInfo* frame = *found;
    const PicturePlace place = place_on_page(*frame);
    PageContent content{.page_number = page_number,
                        .size = {place.box.width(), place.box.height()},
                        .page_rotate = frame->turn.clockwise_degrees};
    content.pictures.push_back({.object_index = 0,
                                .box = place.box,
                                .width_px = frame->width_px,
                                .height_px = frame->height_px,
                                .bits_per_pixel = frame->gray ? 8 : 24,
                                .coding = format_ == image::FileFormat::jpeg ? ImageCoding::jpeg : ImageCoding::other});
    content.full_page_scan = 0;
    return content;
  }

  Result<Rendered> render(const RenderRequest& request) override {
    const auto found = find(request.page_number);
    if (!found) return std::unexpected(found.error());
    const image::FrameInfo* frame = *found;
    const PicturePlace place = place_on_page(*frame);
    const SizePt page{place.box.width(), place.box.height()};
    const Result<RenderSize> asked = render_size(request, page, pixels_max_);
    if (!asked) return std::unexpected(asked.error());
    const RenderSize size = size_for_picture(request, *asked, place, pixels_max_);
    const bool jpeg = format_ == image::FileFormat::jpeg;
    if (jpeg && !frame->cmyk && fits_untouched(request, size, place, page)) return hand_over(*frame, place);
    const StoredPicture stored{.format = format_, .bytes = bytes_.bytes(), .frame = *frame};
    const PlaceOptions options{.path = jpeg ? RenderPath::jpeg_scaled : RenderPath::picture, .format = request.format};
    return place_picture(place, size, options, decoder_of(stored, request, pixels_max_));
  }

 private:
  Result<const image::FrameInfo*> find(int page_number) const {
    if (page_number < 1 || page_number > info_.pages) {
      return fail(ErrorKind::not_found, "page {} does not exist: the document has {} pages", page_number, info_.pages);
    }
    const image::FrameInfo& frame = frames_[static_cast<std::size_t>(page_number - 1)];
    if (!frame.damage.empty()) return fail(ErrorKind::corrupt, "{}", frame.damage);
    return &frame;
  }

  Rendered hand_over(const image::FrameInfo& frame, const PicturePlace& place) const {
    const auto bytes = bytes_.bytes();
    return {.jpeg = {bytes.begin(), bytes.end()},
            .width_px = frame.width_px,
            .height_px = frame.height_px,
            .path = RenderPath::passthrough,
            .px_per_pt = place.dpi_x() / 72};
  }

  DocumentBytes bytes_;
  image::FileFormat format_;
  std::int64_t pixels_max_;
  std::vector<image::FrameInfo> frames_;
  DocumentInfo info_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_image(const OpenOptions& options, DocumentKind kind) {
  auto bytes = DocumentBytes::from_fd(options.fd);
  if (!bytes) return std::unexpected(bytes.error());
  auto backend = std::make_unique<ImageBackend>(std::move(*bytes), kind, options.pixels_max);
  if (Status learned = backend->learn(); !learned) return std::unexpected(learned.error());
  return backend;
}

}  // namespace lectern::document
