// BMP, read by hand: no library of Debian 12 reads it well without dragging more in. Headers from OS/2 1.x to V5; 1, 2,
// 4, 8, 16, 24 and 32 bits; RLE4 and RLE8; bit fields; rows either way up.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "image/codecs.h"
#include "image/row_sink.h"

namespace lectern::image {
namespace {

constexpr std::size_t file_header_size = 14;

enum Compression : std::uint32_t { rgb = 0, rle8 = 1, rle4 = 2, bit_fields = 3, alpha_bit_fields = 6 };

std::unexpected<Error> damaged(std::string_view why) {
  return fail(ErrorKind::corrupt, "the BMP is damaged: {}", why);
}

// Little-endian numbers; reading past the end gives 0, and sizes are checked before pixels are touched.
std::uint32_t number(Bytes bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = (value << 8) | (at + i < bytes.size() ? bytes[at + i] : 0U);
  return value;
}

// Where a colour lies in a pixel of 16 or 32 bits.
struct Channel {
  std::uint32_t mask = 0;
  std::uint8_t value(std::uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const std::uint32_t most = mask >> shift;
    return static_cast<std::uint8_t>((static_cast<std::uint64_t>((pixel & mask) >> shift) * 255 + most / 2) / most);
  }
};

struct Header {
  int width = 0;
  int height = 0;
  bool top_down = false;
  int bits = 0;
  std::uint32_t compression = rgb;
  double dpi_x = 0;
  double dpi_y = 0;
  std::size_t palette_at = 0;
  std::size_t palette_entry_size = 4;
  std::size_t palette_entries = 0;
  std::size_t pixels_at = 0;
  std::array<Channel, 4> channels{};  // red, green, blue, alpha
};

void read_channels(Bytes file, std::uint32_t header_size, Header& header) {
  if (header.compression == rgb) {
    if (header.bits == 16) header.channels = {{{0x7C00}, {0x03E0}, {0x001F}, {0}}};
    if (header.bits == 32) header.channels = {{{0x00FF0000}, {0x0000FF00}, {0x000000FF}, {0}}};
    return;
  }
  // Directly behind a 40-byte header, or inside a longer one: the same place either way.
  for (std::size_t i = 0; i < 4; ++i) {
    const bool has_alpha = header_size >= 56 || header.compression == alpha_bit_fields;
    header.channels[i] = {i < 3 || has_alpha ? number(file, file_header_size + 40 + i * 4, 4) : 0};
  }
}

Result<Header> read_header(Bytes file) {
  if (file.size() < file_header_size + 12 || file[0] != 'B' || file[1] != 'M') return damaged("it is cut off");
  const std::uint32_t header_size = number(file, 14, 4);
  Header header{.pixels_at = number(file, 10, 4)};
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint32_t colors_used = 0;
  if (header_size == 12) {
    width = number(file, 18, 2);
    height = number(file, 20, 2);
    header.bits = static_cast<int>(number(file, 24, 2));
    header.palette_entry_size = 3;
  } else if (header_size >= 40 && header_size <= 256) {
    width = static_cast<std::int32_t>(number(file, 18, 4));
    height = static_cast<std::int32_t>(number(file, 22, 4));
    header.bits = static_cast<int>(number(file, 28, 2));
    header.compression = number(file, 30, 4);
    header.dpi_x = static_cast<std::int32_t>(number(file, 38, 4)) * 0.0254;
    header.dpi_y = static_cast<std::int32_t>(number(file, 42, 4)) * 0.0254;
    colors_used = number(file, 46, 4);
  } else {
    return fail(ErrorKind::invalid_input, "this kind of BMP (header of {} bytes) cannot be read", header_size);
  }
  header.top_down = height < 0;
  if (height < 0) height = -height;
  if (Status sound = check_sides("BMP", width, height); !sound) return std::unexpected(sound.error());
  header.width = static_cast<int>(width);
  header.height = static_cast<int>(height);

  const bool depth_ok = header.bits == 1 || header.bits == 2 || header.bits == 4 || header.bits == 8 ||
                        header.bits == 16 || header.bits == 24 || header.bits == 32;
  const bool coding_ok = header.compression == rgb || (header.compression == rle8 && header.bits == 8) ||
                         (header.compression == rle4 && header.bits == 4) ||
                         ((header.compression == bit_fields || header.compression == alpha_bit_fields) &&
                          (header.bits == 16 || header.bits == 32));
  if (!depth_ok || !coding_ok || (header.top_down && (header.compression == rle8 || header.compression == rle4))) {
    return fail(ErrorKind::invalid_input, "this kind of BMP ({} bits, compression {}) cannot be read", header.bits,
                header.compression);
  }
  const bool masks_follow = header_size == 40 && header.compression >= bit_fields;
  header.palette_at =
      file_header_size + header_size + (masks_follow ? (header.compression == bit_fields ? 12U : 16U) : 0U);
  if (header.bits <= 8) {
    const std::size_t most = std::size_t{1} << header.bits;
    header.palette_entries = colors_used == 0 ? most : std::min<std::size_t>(colors_used, most);
  }
  read_channels(file, header_size, header);
  if (header.pixels_at >= file.size()) return damaged("its pixels are missing");
  return header;
}

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;  // R, G, B; black where the file has no entry

Palette read_palette(Bytes file, const Header& header) {
  Palette palette{};
  for (std::size_t i = 0; i < header.palette_entries; ++i) {
    const std::size_t at = header.palette_at + i * header.palette_entry_size;
    for (std::size_t c = 0; c < 3; ++c) palette[i][c] = static_cast<std::uint8_t>(number(file, at + 2 - c, 1));
  }
  return palette;
}

void indices_to_rgb(std::span<const std::uint8_t> indices, const Palette& palette, std::uint8_t* to) {
  for (const std::uint8_t index : indices) {
    for (const std::uint8_t value : palette[index]) *to++ = value;
  }
}

// A stored row → R, G, B (and alpha where the file has it).
class RowReader {
 public:
  RowReader(const Header& header, const Palette& palette) : header_(header), palette_(palette) {
    indices_.resize(static_cast<std::size_t>(header.width));
  }

  RowFormat format() const {
    if (header_.bits == 24) return RowFormat::bgr;
    return header_.channels[3].mask != 0 ? RowFormat::rgba : RowFormat::rgb;
  }

  void read(const std::uint8_t* row, std::uint8_t* to) {
    const auto width = static_cast<std::size_t>(header_.width);
    if (header_.bits <= 8) {
      const auto bits = static_cast<unsigned>(header_.bits);
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t bit = x * bits;
        indices_[x] = static_cast<std::uint8_t>((row[bit >> 3] >> (8 - bits - (bit & 7))) & ((1U << bits) - 1));
      }
      indices_to_rgb(indices_, palette_, to);
    } else if (header_.bits == 24) {
      std::copy_n(row, width * 3, to);
    } else {
      const std::size_t size = header_.bits == 16 ? 2 : 4;
      const std::size_t out = header_.channels[3].mask != 0 ? 4 : 3;
      for (std::size_t x = 0; x < width; ++x) {
        const std::uint32_t pixel = number({row + x * size, size}, 0, size);
        for (std::size_t c = 0; c < out; ++c) *to++ = header_.channels[c].value(pixel);
      }
    }
  }

 private:
  const Header& header_;
  const Palette& palette_;
  std::vector<std::uint8_t> indices_;
};

Result<Image> decode_plain(Bytes file, const Header& header, const Palette& palette, const DecodeOptions& options) {
  const std::size_t stride =
      (static_cast<std::size_t>(header.width) * static_cast<std::size_t>(header.bits) + 31) / 32 * 4;
  const std::size_t row_bytes =
      (static_cast<std::size_t>(header.width) * static_cast<std::size_t>(header.bits) + 7) / 8;
  const std::size_t needed = stride * (static_cast<std::size_t>(header.height) - 1) + row_bytes;
  if (file.size() - header.pixels_at < needed) return damaged("it is cut off");
  RowSink sink({.width_px = header.width,
                .height_px = header.height,
                .format = options.format,
                .shrink = shrink_on_the_way_in(header.width, header.height, options)});
  RowReader reader(header, palette);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(header.width) * 4);
  for (int y = 0; y < header.height; ++y) {
    const int stored = header.top_down ? y : header.height - 1 - y;
    reader.read(file.data() + header.pixels_at + stride * static_cast<std::size_t>(stored), row.data());
    sink.put(y, reader.format(), row.data());
  }
  return sink.take();
}

// Run-length coding can move the pen, so the indices are drawn on a canvas first. Pixels never drawn stay index 0.
std::optional<std::vector<std::uint8_t>> unpack_runs(Bytes runs, const Header& header) {
  const auto width = static_cast<std::size_t>(header.width);
  std::vector<std::uint8_t> canvas(width * static_cast<std::size_t>(header.height));
  std::size_t x = 0;
  std::size_t y = 0;  // from the bottom
  std::size_t at = 0;
  const auto draw = [&](std::uint8_t index) {
    if (x < width && y < static_cast<std::size_t>(header.height)) {
      canvas[(static_cast<std::size_t>(header.height) - 1 - y) * width + x] = index;
    }
    ++x;
  };
  const auto nibble = [&](std::uint8_t pair, std::size_t i) {
    return static_cast<std::uint8_t>(i % 2 == 0 ? pair >> 4 : pair & 15);
  };
  const bool wide = header.compression == rle8;
  while (at + 1 < runs.size() && y < static_cast<std::size_t>(header.height)) {
    const std::size_t count = runs[at];
    const std::uint8_t value = runs[at + 1];
    at += 2;
    if (count > 0) {
      for (std::size_t i = 0; i < count; ++i) draw(wide ? value : nibble(value, i));
    } else if (value == 0) {
      x = 0;
      ++y;
    } else if (value == 1) {
      return canvas;
    } else if (value == 2) {
      if (at + 1 >= runs.size()) return std::nullopt;
      x += runs[at];
      y += runs[at + 1];
      at += 2;
    } else {
      const std::size_t bytes = wide ? value : (std::size_t{value} + 1) / 2;
      if (runs.size() - at < bytes) return std::nullopt;
      for (std::size_t i = 0; i < value; ++i) draw(wide ? runs[at + i] : nibble(runs[at + i / 2], i));
      at += bytes + (bytes & 1);  // padded to whole words
    }
  }
  return y >= static_cast<std::size_t>(header.height) || at >= runs.size() ? std::optional(std::move(canvas))
                                                                           : std::nullopt;
}

Result<Image> decode_runs(Bytes file, const Header& header, const Palette& palette, const FrameInfo& frame,
                          const DecodeOptions& options) {
  if (static_cast<std::int64_t>(header.width) * header.height > options.pixels_max)
    return too_many_pixels(frame, options);
  const auto canvas = unpack_runs(file.subspan(header.pixels_at), header);
  if (!canvas) return damaged("its runs are cut off");
  RowSink sink({.width_px = header.width, .height_px = header.height, .format = options.format});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(header.width) * 3);
  for (int y = 0; y < header.height; ++y) {
    const auto width = static_cast<std::size_t>(header.width);
    indices_to_rgb(std::span(*canvas).subspan(static_cast<std::size_t>(y) * width, width), palette, row.data());
    sink.put(y, RowFormat::rgb, row.data());
  }
  return sink.take();
}

}  // namespace

Result<std::vector<FrameInfo>> probe_bmp(Bytes file) {
  const Result<Header> header = read_header(file);
  if (!header) return std::unexpected(header.error());
  return std::vector{FrameInfo{.width_px = header->width,
                               .height_px = header->height,
                               .dpi_x = sane_dpi(header->dpi_x),
                               .dpi_y = sane_dpi(header->dpi_y)}};
}

Result<Image> decode_bmp(Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  const Result<Header> header = read_header(file);
  if (!header) return std::unexpected(header.error());
  const Palette palette = read_palette(file, *header);
  const bool runs = header->compression == rle8 || header->compression == rle4;
  Result<Image> image =
      runs ? decode_runs(file, *header, palette, frame, options) : decode_plain(file, *header, palette, options);
  if (image) image->dpi = frame.dpi_x * static_cast<float>(image->width_px) / static_cast<float>(frame.width_px);
  return image;
}

}  // namespace lectern::image
