#include "document/render/pdf_scan.h"

#include "document/render/decode_picture.h"
#include "document/render/fax_tiff.h"
#include "image/decode.h"
#include "image/jbig2.h"
#include "image/row_sink.h"

namespace lectern::document {
namespace {

constexpr std::size_t stored_bytes_max = std::size_t{128} << 20;

image::Pixels stored_bytes(fpdf::PageObject object) {
  const auto& f = fpdf::functions();
  const unsigned long size = f.FPDFImageObj_GetImageDataRaw(object, nullptr, 0);
  if (size == 0 || size > stored_bytes_max) return {};
  image::Pixels bytes(size);  // not set to zero first
  f.FPDFImageObj_GetImageDataRaw(object, bytes.data(), size);
  return bytes;
}

// A stencil paints where its samples say so, in the current colour: only black on white is a plain picture.
bool paints_black(fpdf::PageObject object) {
  unsigned r = 255;
  unsigned g = 255;
  unsigned b = 255;
  unsigned alpha = 0;
  return fpdf::functions().FPDFPageObj_GetFillColor(object, &r, &g, &b, &alpha) != 0 && r + g + b == 0 && alpha == 255;
}

bool is_bilevel(ImageCoding coding) {
  return coding == ImageCoding::ccitt || coding == ImageCoding::jbig2;
}

// The stored JPEG can be decoded without PDFium when its numbers of colours are the ones that JPEG itself defines.
bool is_plain_jpeg(const FoundPicture& picture, const PictureDictionary& dictionary) {
  using Color = PictureDictionary::Color;
  return picture.picture.coding == ImageCoding::jpeg && dictionary.color != Color::other &&
         !dictionary.has_parameters && fpdf::functions().FPDFImageObj_GetImageFilterCount(picture.object) == 1;
}

bool is_plain_fax(const FoundPicture& picture, const PictureDictionary& dictionary) {
  return picture.picture.coding == ImageCoding::ccitt && dictionary.group4_columns == picture.picture.width_px &&
         (dictionary.stencil || dictionary.color != PictureDictionary::Color::other) &&
         fpdf::functions().FPDFImageObj_GetImageFilterCount(picture.object) == 1;
}

// Without parameters: those would name segments that are shared with other pictures.
bool is_plain_jbig2(const FoundPicture& picture, const PictureDictionary& dictionary) {
  return picture.picture.coding == ImageCoding::jbig2 && !dictionary.has_parameters &&
         (dictionary.stencil || dictionary.color != PictureDictionary::Color::other) &&
         fpdf::functions().FPDFImageObj_GetImageFilterCount(picture.object) == 1;
}

// 1 becomes 0, which is black, and 0 becomes 255. A function of its own, so that nothing seems to alias and many bytes
// are done at once.
void to_gray(const std::uint8_t* __restrict bits, std::uint8_t flip, std::span<std::uint8_t> row) {
  std::uint8_t* __restrict to = row.data();
  const std::size_t size = row.size();
  for (std::size_t x = 0; x < size; ++x) to[x] = static_cast<std::uint8_t>((bits[x] - 1) ^ flip);
}

Result<image::Image> decode_plain_jbig2(const Scan& scan, int width_px, int height_px, bool exactly) {
  const int width = scan.place.width_px;
  const int height = scan.place.height_px;
  image::RowSink sink({.width_px = width,
                       .height_px = height,
                       .shrink = image::shrink_factor_for(width, height, width_px, height_px),
                       .width_px_out = exactly ? width_px : 0,
                       .height_px_out = exactly ? height_px : 0});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width));
  const std::uint8_t flip = scan.inverted ? 0xFF : 0;
  int y = 0;
  const auto take = [&](const std::uint8_t* pixels) {
    to_gray(pixels, flip, row);
    sink.put(y++, image::RowFormat::gray, row.data());
  };
  const Status decoded = image::decode_jbig2({.width_px = width, .height_px = height, .stream = scan.jbig2}, take);
  if (!decoded) return std::unexpected(decoded.error());
  return sink.take();
}

Result<image::Image> decode_by_pdfium(const Scan& scan, image::PixelFormat format, int width_px, int height_px) {
  const auto& f = fpdf::functions();
  const fpdf::OwnedBitmap bitmap(f.FPDFImageObj_GetBitmap(scan.object));
  if (!bitmap) return fail(ErrorKind::corrupt, "the picture on the page is damaged");
  const int width = f.FPDFBitmap_GetWidth(bitmap.get());
  const int height = f.FPDFBitmap_GetHeight(bitmap.get());
  const auto stride = static_cast<std::size_t>(f.FPDFBitmap_GetStride(bitmap.get()));
  const auto* rows = static_cast<const std::uint8_t*>(f.FPDFBitmap_GetBuffer(bitmap.get()));
  if (rows == nullptr || width <= 0 || height <= 0) return fail(ErrorKind::corrupt, "the picture on the page is empty");
  image::RowSink sink({.width_px = width,
                       .height_px = height,
                       .format = format,
                       .shrink = image::shrink_factor_for(width, height, width_px, height_px)});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width) * 3);
  // A stencil's bitmap says where paint goes, and the paint is black.
  const auto put_gray = [&](int y, const std::uint8_t* from) {
    if (scan.stencil) {
      std::transform(from, from + width, row.data(), [](std::uint8_t paint) -> std::uint8_t { return ~paint; });
    }
    sink.put(y, image::RowFormat::gray, scan.stencil ? row.data() : from);
  };
  const int bitmap_format = f.FPDFBitmap_GetFormat(bitmap.get());
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = rows + stride * static_cast<std::size_t>(y);
    switch (bitmap_format) {
      case fpdf::bitmap_gray:
        put_gray(y, from);
        break;
      case fpdf::bitmap_bgr:
        sink.put(y, image::RowFormat::bgr, from);
        break;
      case fpdf::bitmap_bgra:
        sink.put(y, image::RowFormat::bgra, from);
        break;
      case fpdf::bitmap_bgrx:
        for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
          std::copy_n(from + x * 4, 3, row.data() + x * 3);
        }
        sink.put(y, image::RowFormat::bgr, row.data());
        break;
      default:
        return fail(ErrorKind::internal, "PDFium gave a picture of unknown format {}", bitmap_format);
    }
  }
  return sink.take();
}

}  // namespace

std::optional<Scan> examine_scan(const FoundPicture& picture, const DocumentBytes& document, std::size_t& near) {
  const std::span<const std::uint8_t> file = document.bytes();
  const auto& f = fpdf::functions();
  const auto turn = turn_of(picture.to_upright);
  if (!turn || picture.picture.width_px <= 0 || picture.picture.height_px <= 0) return std::nullopt;
  if (f.FPDFPageObj_HasTransparency(picture.object) != 0) return std::nullopt;
  // Cut by a clip path well inside its own edges: what is cut away must not be seen.
  const RectPt& whole = picture.unclipped;
  const RectPt& seen = picture.picture.box;
  const float slack = 1 + 0.005F * std::max(whole.width(), whole.height());
  const bool page_edge_only = seen.width() + slack >= whole.width() && seen.height() + slack >= whole.height();
  if (!page_edge_only) return std::nullopt;

  image::Pixels stored = stored_bytes(picture.object);
  const auto at = find_stream(file, stored, near, [&document] { document.drop_from_memory(); });
  if (!at) return std::nullopt;
  near = *at;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto dictionary_text = dictionary_before(text, *at);
  if (!dictionary_text) return std::nullopt;
  const PictureDictionary dictionary = read_picture_dictionary(*dictionary_text);
  if (dictionary.masked || dictionary.odd_decode) return std::nullopt;
  if (dictionary.stencil && !(is_bilevel(picture.picture.coding) && paints_black(picture.object))) return std::nullopt;

  Scan scan{.object = picture.object, .coding = picture.picture.coding, .stencil = dictionary.stencil};
  scan.place = {
      .width_px = picture.picture.width_px, .height_px = picture.picture.height_px, .turn = *turn, .box = whole};
  if (is_plain_jpeg(picture, dictionary)) {
    scan.inverted = dictionary.inverted;
    scan.jpeg = std::move(stored);
  } else if (is_plain_fax(picture, dictionary)) {
    scan.tiff = fax_tiff({.width_px = scan.place.width_px,
                          .height_px = scan.place.height_px,
                          .black_is_white = dictionary.black_is_one != dictionary.inverted,
                          .data = stored});
  } else if (is_plain_jbig2(picture, dictionary)) {
    scan.inverted = dictionary.inverted;
    scan.jbig2 = std::move(stored);
  }
  return scan;
}

Result<Rendered> render_scan(const Scan& scan, const ScanRequest& wanted) {
  const RenderSize size = size_for_picture(wanted.request, wanted.asked, scan.place, wanted.pixels_max);
  if (!scan.jpeg.empty()) {
    const auto frames = image::probe(image::FileFormat::jpeg, scan.jpeg);
    if (!frames) return std::unexpected(frames.error());
    const image::FrameInfo& frame = frames->front();
    // Four inks are a matter of the PDF's own colour rules; and a size that contradicts the PDF is a damaged file.
    if (frame.cmyk || frame.width_px != scan.place.width_px || frame.height_px != scan.place.height_px) {
      return fail(ErrorKind::corrupt, "the JPEG on the page is not what the page says");
    }
    if (!scan.inverted && fits_untouched(wanted.request, size, scan.place, wanted.page)) {
      return Rendered{.jpeg = {scan.jpeg.begin(), scan.jpeg.end()},
                      .width_px = frame.width_px,
                      .height_px = frame.height_px,
                      .path = RenderPath::passthrough,
                      .px_per_pt = scan.place.dpi_x() / 72};
    }
    const PlaceOptions options{.path = RenderPath::jpeg_scaled, .format = wanted.request.format};
    const StoredPicture jpeg{
        .format = image::FileFormat::jpeg, .bytes = scan.jpeg, .frame = frame, .inverted = scan.inverted};
    return place_picture(scan.place, size, options, decoder_of(jpeg, wanted.request, wanted.pixels_max));
  }
  if (!scan.tiff.empty()) {
    const auto frames = image::probe(image::FileFormat::tiff, scan.tiff);
    if (!frames) return std::unexpected(frames.error());
    const PlaceOptions fax{.path = RenderPath::bilevel, .format = wanted.request.format};
    StoredPicture tiff{.format = image::FileFormat::tiff, .bytes = scan.tiff, .frame = frames->front()};
    tiff.frame.gray = true;
    return place_picture(scan.place, size, fax, decoder_of(tiff, wanted.request, wanted.pixels_max));
  }
  if (static_cast<std::int64_t>(scan.place.width_px) * scan.place.height_px > wanted.pixels_max) {
    return fail(ErrorKind::overloaded, "the picture on the page is larger than the limit");
  }
  const bool bilevel = is_bilevel(scan.coding);
  const image::PixelFormat format = bilevel ? image::PixelFormat::gray8 : wanted.request.format;
  const PlaceOptions options{.path = bilevel ? RenderPath::bilevel : RenderPath::picture,
                             .format = wanted.request.format};
  const auto decode = [&](int width_px, int height_px, bool exactly) -> Result<DecodedPicture> {
    Result<image::Image> image = fail(ErrorKind::invalid_input, "not a plain JBIG2 picture");
    if (!scan.jbig2.empty()) image = decode_plain_jbig2(scan, width_px, height_px, exactly);
    if (!image && image.error().kind == ErrorKind::invalid_input) {
      image = decode_by_pdfium(scan, format, width_px, height_px);
    }
    if (!image) return std::unexpected(std::move(image.error()));
    return DecodedPicture(std::move(*image));
  };
  return place_picture(scan.place, size, options, decode);
}

bool may_be_lost(const FoundPicture& found, std::int64_t pixels_max) {
  const auto& f = fpdf::functions();
  const PictureObject& picture = found.picture;
  if (picture.coding == ImageCoding::jbig2 && f.FPDFImageObj_GetImageFilterCount(found.object) == 1 &&
      image::is_cut_off_jbig2(stored_bytes(found.object))) {
    return true;
  }
  if (static_cast<std::int64_t>(picture.width_px) * picture.height_px > pixels_max) return false;
  return !fpdf::OwnedBitmap(f.FPDFImageObj_GetBitmap(found.object));
}

}  // namespace lectern::document
