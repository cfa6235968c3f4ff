// PNG by libspng.
#include <spng.h>

#include <memory>

#include "image/codecs.h"
#include "image/exif.h"
#include "image/row_sink.h"

namespace lectern::image {
namespace {

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

std::unexpected<Error> damaged(int code) {
  return fail(ErrorKind::corrupt, "the PNG is damaged: {}", spng_strerror(code));
}

Result<Context> open(Bytes file, spng_ihdr& header) {
  Context context(spng_ctx_new(0));
  if (!context) return fail(ErrorKind::overloaded, "no memory to decode the PNG");
  spng_set_image_limits(context.get(), side_max_px, side_max_px);
  // Text and profiles may be compressed bombs; no page needs megabytes of them.
  spng_set_chunk_limits(context.get(), std::size_t{16} << 20, std::size_t{32} << 20);
  // A wrong checksum in a chunk that decides pixels is damage; in notes beside the picture it costs only the note.
  spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
  if (const int code = spng_set_png_buffer(context.get(), file.data(), file.size()); code != 0) return damaged(code);
  if (const int code = spng_get_ihdr(context.get(), &header); code != 0) return damaged(code);
  if (Status sound = check_sides("PNG", header.width, header.height); !sound) return std::unexpected(sound.error());
  return context;
}

struct Layout {
  spng_format format;
  RowFormat row;
};

Result<Layout> layout_for(spng_ctx* context, const spng_ihdr& header) {
  spng_trns transparency{};
  const int found = spng_get_trns(context, &transparency);  // reads all chunks before the pixels
  if (found != 0 && found != SPNG_ECHUNKAVAIL) return damaged(found);
  const bool keyed = found == 0;
  if (!keyed && header.color_type == SPNG_COLOR_TYPE_GRAYSCALE && header.bit_depth <= 8) {
    return Layout{SPNG_FMT_G8, RowFormat::gray};
  }
  if (!keyed && (header.color_type == SPNG_COLOR_TYPE_TRUECOLOR || header.color_type == SPNG_COLOR_TYPE_INDEXED)) {
    return Layout{SPNG_FMT_RGB8, RowFormat::rgb};
  }
  return Layout{SPNG_FMT_RGBA8, RowFormat::rgba};
}

Result<Image> decode_rows(spng_ctx* context, const spng_ihdr& header, Layout layout, const DecodeOptions& options) {
  const int code = spng_decode_image(context, nullptr, 0, layout.format, SPNG_DECODE_TRNS | SPNG_DECODE_PROGRESSIVE);
  if (code != 0) return damaged(code);
  const int width = static_cast<int>(header.width);
  const int height = static_cast<int>(header.height);
  RowSink sink({.width_px = width,
                .height_px = height,
                .format = options.format,
                .shrink = shrink_on_the_way_in(width, height, options)});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width) *
                                static_cast<std::size_t>(bytes_per_pixel(layout.row)));
  for (int y = 0; y < height; ++y) {
    const int result = spng_decode_row(context, row.data(), row.size());
    if (result != 0 && !(result == SPNG_EOI && y == height - 1)) return damaged(result);
    sink.put(y, layout.row, row.data());
  }
  return sink.take();
}

// Interlaced rows come in seven passes over the whole picture, so it must be held whole.
Result<Image> decode_whole(spng_ctx* context, const spng_ihdr& header, Layout layout, const DecodeOptions& options) {
  const auto pixel_bytes = static_cast<std::size_t>(bytes_per_pixel(layout.row));
  std::vector<std::uint8_t> all(static_cast<std::size_t>(header.width) * header.height * pixel_bytes);
  const int code = spng_decode_image(context, all.data(), all.size(), layout.format, SPNG_DECODE_TRNS);
  if (code != 0) return damaged(code);
  const int height = static_cast<int>(header.height);
  RowSink sink({.width_px = static_cast<int>(header.width), .height_px = height, .format = options.format});
  for (int y = 0; y < height; ++y) {
    sink.put(y, layout.row, all.data() + static_cast<std::size_t>(y) * header.width * pixel_bytes);
  }
  return sink.take();
}

}  // namespace

Result<std::vector<FrameInfo>> probe_png(Bytes file) {
  spng_ihdr header{};
  const auto context = open(file, header);
  if (!context) return std::unexpected(context.error());
  FrameInfo frame{.width_px = static_cast<int>(header.width), .height_px = static_cast<int>(header.height)};
  frame.gray = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  if (spng_exif exif{}; spng_get_exif(context->get(), &exif) == 0 && exif.data != nullptr) {
    const ExifFacts facts = read_exif({reinterpret_cast<const std::uint8_t*>(exif.data), exif.length});
    frame.turn = turn_for_orientation(facts.orientation);
    frame.dpi_x = facts.dpi_x;
    frame.dpi_y = facts.dpi_y;
  }
  if (spng_phys phys{}; spng_get_phys(context->get(), &phys) == 0 && phys.unit_specifier == 1) {
    frame.dpi_x = sane_dpi(phys.ppu_x * 0.0254);
    frame.dpi_y = sane_dpi(phys.ppu_y * 0.0254);
  }
  return std::vector{frame};
}

Result<Image> decode_png(Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  spng_ihdr header{};
  const auto context = open(file, header);
  if (!context) return std::unexpected(context.error());
  const Result<Layout> layout = layout_for(context->get(), header);
  if (!layout) return std::unexpected(layout.error());
  const bool interlaced = header.interlace_method != 0;
  if (interlaced && static_cast<std::int64_t>(header.width) * header.height > options.pixels_max) {
    return too_many_pixels(frame, options);
  }
  Result<Image> image = interlaced ? decode_whole(context->get(), header, *layout, options)
                                   : decode_rows(context->get(), header, *layout, options);
  // The checksum of the last pixels is only looked at when reading goes on. A missing end does no harm, a wrong sum
  // does.
  if (image && spng_decode_chunks(context->get()) == SPNG_ECHUNK_CRC) return damaged(SPNG_ECHUNK_CRC);
  if (image) image->dpi = frame.dpi_x * static_cast<float>(image->width_px) / static_cast<float>(frame.width_px);
  return image;
}

}  // namespace lectern::image
