// JPEG by libjpeg-turbo.
#include <cstring>

#include "image/codecs.h"
#include "image/exif.h"
#include "image/jpeg_decompressor.h"
#include "image/row_sink.h"

namespace lectern::image {
namespace {

ExifFacts exif_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* m = info.marker_list; m != nullptr; m = m->next) {
    if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && std::memcmp(m->data, "Exif\0\0", 6) == 0) {
      return read_exif({m->data, m->data_length});
    }
  }
  return {};
}

FrameInfo frame_of(const jpeg_decompress_struct& info) {
  const ExifFacts exif = exif_of(info);
  FrameInfo frame{.width_px = static_cast<int>(info.image_width),
                  .height_px = static_cast<int>(info.image_height),
                  .dpi_x = exif.dpi_x,
                  .dpi_y = exif.dpi_y,
                  .turn = turn_for_orientation(exif.orientation)};
  if (info.saw_JFIF_marker && (info.density_unit == 1 || info.density_unit == 2)) {
    const double factor = info.density_unit == 2 ? 2.54 : 1;
    frame.dpi_x = sane_dpi(info.X_density * factor);
    frame.dpi_y = sane_dpi(info.Y_density * factor);
  }
  frame.gray = info.num_components == 1;
  frame.cmyk = info.num_components == 4;
  if (info.jpeg_color_space == JCS_YCbCr && info.num_components == 3) {
    const auto finest = [&](const jpeg_component_info& gray, const jpeg_component_info& color) {
      return gray.h_samp_factor >= color.h_samp_factor && gray.v_samp_factor >= color.v_samp_factor;
    };
    frame.gray_and_chroma =
        finest(info.comp_info[0], info.comp_info[1]) && finest(info.comp_info[0], info.comp_info[2]);
  }
  return frame;
}

// Adobe writes CMYK inverted, so that ink is what is missing from 255; others write ink as it is.
void cmyk_to_rgb(std::vector<std::uint8_t>& row, bool inverted) {
  std::uint8_t* to = row.data();
  for (std::size_t i = 0; i + 3 < row.size(); i += 4) {
    unsigned c[4] = {row[i], row[i + 1], row[i + 2], row[i + 3]};
    if (!inverted) {
      for (unsigned& ink : c) ink = 255 - ink;
    }
    for (int k = 0; k < 3; ++k) *to++ = static_cast<std::uint8_t>((c[k] * c[3] + 127) / 255);
  }
}

}  // namespace

Result<std::vector<FrameInfo>> probe_jpeg(Bytes file) {
  JpegDecompressor decompressor;
  if (!decompressor.read_header(file)) return decompressor.damaged();
  const FrameInfo frame = frame_of(decompressor.info());
  if (Status sound = check_sides("JPEG", frame.width_px, frame.height_px); !sound)
    return std::unexpected(sound.error());
  return std::vector{frame};
}

Result<Image> decode_jpeg(Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  JpegDecompressor decompressor;
  if (!decompressor.read_header(file)) return decompressor.damaged();
  auto& info = decompressor.info();
  if (static_cast<int>(info.image_width) != frame.width_px || static_cast<int>(info.image_height) != frame.height_px) {
    return fail(ErrorKind::internal, "the JPEG changed since it was probed");
  }
  const bool gray = options.format == PixelFormat::gray8;
  info.scale_num = choose_jpeg_scale(frame, options);
  info.scale_denom = 8;
  const bool four_inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = four_inks ? JCS_CMYK : gray || info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  if (!decompressor.plan()) return decompressor.damaged();
  if (static_cast<std::int64_t>(info.output_width) * info.output_height > options.pixels_max) {
    return too_many_pixels(frame, options);
  }
  if (!decompressor.start()) return decompressor.damaged();

  const int height = static_cast<int>(info.output_height);
  RowSink sink({.width_px = static_cast<int>(info.output_width),
                .height_px = height,
                .format = options.format,
                .width_px_out = options.exactly ? options.width_px_wanted : 0,
                .height_px_out = options.exactly ? options.height_px_wanted : 0});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(info.output_width) *
                                static_cast<std::size_t>(info.output_components));
  const RowFormat row_format = info.out_color_space == JCS_GRAYSCALE ? RowFormat::gray : RowFormat::rgb;
  for (int y = 0; y < height; ++y) {
    if (!decompressor.read_row(row.data())) return decompressor.damaged();
    if (four_inks) cmyk_to_rgb(row, info.saw_Adobe_marker != FALSE);
    sink.put(y, row_format, row.data());
  }
  Image image = sink.take();
  image.dpi = frame.dpi_x * static_cast<float>(image.width_px) / static_cast<float>(frame.width_px);
  return image;
}

}  // namespace lectern::image
