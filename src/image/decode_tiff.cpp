// TIFF by libtiff, from memory. Plain rows (bilevel, gray, RGB in strips) are read row by row; everything else
// (palette, YCbCr, JPEG, tiles, CMYK, odd depths) goes through libtiff's own RGBA conversion, which wants the picture
// whole.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "image/codecs.h"
#include "image/exif.h"
#include "image/row_sink.h"

namespace lectern::image {
namespace {

constexpr tmsize_t single_allocation_max = tmsize_t{600} << 20;

// What libtiff sees as the file, and what it complained about last.
struct Source {
  Bytes file;
  std::uint64_t position = 0;
  std::string complaint;
};

tmsize_t read_from(thandle_t handle, void* to, tmsize_t size) {
  auto& source = *static_cast<Source*>(handle);
  if (source.position >= source.file.size() || size <= 0) return 0;
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(size), source.file.size() - source.position);
  std::memcpy(to, source.file.data() + source.position, count);
  source.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t refuse_write(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t seek_to(thandle_t handle, toff_t offset, int from) {
  auto& source = *static_cast<Source*>(handle);
  if (from == SEEK_CUR) offset += source.position;
  if (from == SEEK_END) offset += source.file.size();
  source.position = offset;
  return offset;
}

int close_nothing(thandle_t) {
  return 0;
}
toff_t size_of(thandle_t handle) {
  return static_cast<Source*>(handle)->file.size();
}

int map_file(thandle_t handle, void** base, toff_t* size) {
  const auto& source = *static_cast<Source*>(handle);
  *base = const_cast<std::uint8_t*>(source.file.data());  // libtiff's signature; it only reads
  *size = source.file.size();
  return 1;
}
void unmap_nothing(thandle_t, void*, toff_t) {}

int keep_complaint(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  char text[256];
  std::vsnprintf(text, sizeof(text), format, arguments);
  static_cast<Source*>(user)->complaint = text;
  return 1;
}
int ignore_warning(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

std::unexpected<Error> damaged(const Source& source) {
  return fail(ErrorKind::corrupt, "the TIFF is damaged{}{}", source.complaint.empty() ? "" : ": ", source.complaint);
}

Tiff open(Source& source) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  if (!options) return {};
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), single_allocation_max);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_complaint, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
  return Tiff(TIFFClientOpenExt("document", "r", &source, read_from, refuse_write, seek_to, close_nothing, size_of,
                                map_file, unmap_nothing, options.get()));
}

template <class T>
T field(TIFF* tiff, std::uint32_t tag, T fallback) {
  T value = fallback;
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : fallback;
}

// The facts that decide how a frame is read.
struct Form {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t bits = 1;
  std::uint16_t samples = 1;
  std::uint16_t photometric = 0;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t sample_format = SAMPLEFORMAT_UINT;
  std::uint16_t extra_samples = 0;
  bool tiled = false;
};

Form form_of(TIFF* tiff) {
  Form form;
  form.width = field<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0);
  form.height = field<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0);
  form.bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  form.samples = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  form.planar = field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  form.compression = field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  form.sample_format = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  std::uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &form.extra_samples, &kinds);
  form.tiled = TIFFIsTiled(tiff) != 0;
  std::uint16_t photometric = 0;
  // Fax writers leave the tag out; black on white is what they mean.
  form.photometric = TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) == 1 ? photometric
                     : form.samples >= 3                                        ? std::uint16_t{PHOTOMETRIC_RGB}
                                                                                : std::uint16_t{PHOTOMETRIC_MINISWHITE};
  return form;
}

FrameInfo frame_of(TIFF* tiff, const Form& form) {
  FrameInfo frame{.width_px = static_cast<int>(form.width),
                  .height_px = static_cast<int>(form.height),
                  .turn = turn_for_orientation(field<std::uint16_t>(tiff, TIFFTAG_ORIENTATION, 1)),
                  .gray = form.photometric == PHOTOMETRIC_MINISBLACK || form.photometric == PHOTOMETRIC_MINISWHITE,
                  .cmyk = form.photometric == PHOTOMETRIC_SEPARATED,
                  .offset = TIFFCurrentDirOffset(tiff)};
  const auto unit = field<std::uint16_t>(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  if (unit != RESUNIT_NONE) {
    const double factor = unit == RESUNIT_CENTIMETER ? 2.54 : 1;
    frame.dpi_x = sane_dpi(static_cast<double>(field<float>(tiff, TIFFTAG_XRESOLUTION, 0)) * factor);
    frame.dpi_y = sane_dpi(static_cast<double>(field<float>(tiff, TIFFTAG_YRESOLUTION, 0)) * factor);
  }
  return frame;
}

bool has_plain_rows(const Form& form) {
  const bool gray = form.photometric == PHOTOMETRIC_MINISBLACK || form.photometric == PHOTOMETRIC_MINISWHITE;
  if (form.tiled || form.sample_format != SAMPLEFORMAT_UINT || form.extra_samples != 0) return false;
  if (gray && form.samples == 1) return form.bits == 1 || form.bits == 8 || form.bits == 16;
  return form.photometric == PHOTOMETRIC_RGB && form.samples == 3 && form.bits == 8 &&
         form.planar == PLANARCONFIG_CONTIG;
}

// The eight pixels of a byte of bits, each black (0) or white (255), first pixel first in memory.
constexpr auto eight_pixels = [] {
  std::array<std::array<std::uint8_t, 8>, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned i = 0; i < 8; ++i) table[byte][i] = ((byte >> (7 - i)) & 1) != 0 ? 255 : 0;
  }
  return table;
}();

// One stored row → one byte a sample. `invert` for pictures that count ink (white is zero).
void unpack_row(const std::uint8_t* row, const Form& form, bool invert, std::uint8_t* to) {
  const std::uint8_t flip = invert ? 0xFF : 0;
  if (form.bits == 1) {
    std::uint32_t x = 0;
    for (; x + 8 <= form.width; x += 8) std::memcpy(to + x, &eight_pixels[row[x >> 3] ^ flip], 8);
    if (x < form.width) std::memcpy(to + x, &eight_pixels[row[x >> 3] ^ flip], form.width - x);
  } else if (form.bits == 16) {
    for (std::uint32_t x = 0; x < form.width; ++x) {
      std::uint16_t value = 0;
      std::memcpy(&value, row + std::size_t{x} * 2, 2);  // libtiff has turned it into our byte order
      to[x] = static_cast<std::uint8_t>((value >> 8) ^ flip);
    }
  } else {
    for (std::size_t i = 0; i < std::size_t{form.width} * form.samples; ++i) to[i] = row[i] ^ flip;
  }
}

Result<Image> decode_rows(TIFF* tiff, const Source& source, const Form& form, const DecodeOptions& options) {
  const auto width = static_cast<int>(form.width);
  const auto height = static_cast<int>(form.height);
  const tmsize_t row_bytes = TIFFScanlineSize(tiff);
  const std::size_t needed = (std::size_t{form.width} * form.samples * form.bits + 7) / 8;
  if (row_bytes <= 0 || static_cast<std::size_t>(row_bytes) < needed) return damaged(source);
  RowSink sink({.width_px = width,
                .height_px = height,
                .format = options.format,
                .shrink = shrink_on_the_way_in(width, height, options),
                .width_px_out = options.exactly ? options.width_px_wanted : 0,
                .height_px_out = options.exactly ? options.height_px_wanted : 0});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(row_bytes));
  std::vector<std::uint8_t> samples(std::size_t{form.width} * form.samples);
  const bool invert = form.photometric == PHOTOMETRIC_MINISWHITE;
  const bool fax = form.compression == COMPRESSION_CCITTFAX3 || form.compression == COMPRESSION_CCITTFAX4 ||
                   form.compression == COMPRESSION_CCITTRLE || form.compression == COMPRESSION_CCITTRLEW;
  int bad_rows = 0;
  for (int y = 0; y < height; ++y) {
    if (TIFFReadScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) != 1) {
      // Transmission errors spoil single rows of a fax; the page can still be read. Other codings lose the rest.
      if (!fax || ++bad_rows > height / 4) return damaged(source);
      std::memset(row.data(), invert ? 0 : 0xFF, row.size());
    }
    unpack_row(row.data(), form, invert, samples.data());
    sink.put(y, form.samples == 3 ? RowFormat::rgb : RowFormat::gray, samples.data());
  }
  return sink.take();
}

Result<Image> decode_by_libtiff(TIFF* tiff, const Source& source, const FrameInfo& frame,
                                const DecodeOptions& options) {
  if (static_cast<std::int64_t>(frame.width_px) * frame.height_px > options.pixels_max)
    return too_many_pixels(frame, options);
  char why[1024] = {};
  if (TIFFRGBAImageOK(tiff, why) == 0)
    return fail(ErrorKind::invalid_input, "this kind of TIFF cannot be read: {}", why);
  std::vector<std::uint32_t> raster(static_cast<std::size_t>(frame.width_px) *
                                    static_cast<std::size_t>(frame.height_px));
  // Asked for its own orientation, libtiff leaves the rows as stored; turning is our caller's work.
  TIFFRGBAImage reader{};
  if (TIFFRGBAImageBegin(&reader, tiff, 1, why) == 0)
    return fail(ErrorKind::invalid_input, "this kind of TIFF cannot be read: {}", why);
  reader.req_orientation = reader.orientation;
  const int read = TIFFRGBAImageGet(&reader, raster.data(), static_cast<std::uint32_t>(frame.width_px),
                                    static_cast<std::uint32_t>(frame.height_px));
  TIFFRGBAImageEnd(&reader);
  if (read == 0) return damaged(source);
  RowSink sink({.width_px = frame.width_px, .height_px = frame.height_px, .format = options.format});
  std::vector<std::uint8_t> row(static_cast<std::size_t>(frame.width_px) * 3);
  for (int y = 0; y < frame.height_px; ++y) {
    const std::uint32_t* from = raster.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.width_px);
    for (std::size_t x = 0; x < static_cast<std::size_t>(frame.width_px); ++x) {
      // Colours come multiplied by alpha: on white, what is missing is white.
      const std::uint32_t white = 255 - TIFFGetA(from[x]);
      row[x * 3] = static_cast<std::uint8_t>(std::min(255U, TIFFGetR(from[x]) + white));
      row[x * 3 + 1] = static_cast<std::uint8_t>(std::min(255U, TIFFGetG(from[x]) + white));
      row[x * 3 + 2] = static_cast<std::uint8_t>(std::min(255U, TIFFGetB(from[x]) + white));
    }
    sink.put(y, RowFormat::rgb, row.data());
  }
  return sink.take();
}

// Where the directory after the one at `offset` lies: 0 = that was the last; nullopt = the link cannot be read. libtiff
// does not tell the end of a file from damage.
std::optional<std::uint64_t> next_directory(Bytes file, std::uint64_t offset) {
  constexpr std::uint64_t entries_max = 4096;  // libtiff reads no longer directory
  const bool big_endian = file.size() >= 4 && file[0] == 'M';
  const auto number = [&](std::uint64_t at, std::uint64_t size) -> std::optional<std::uint64_t> {
    if (at > file.size() || size > file.size() - at) return std::nullopt;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < size; ++i) value = value << 8 | file[at + (big_endian ? i : size - 1 - i)];
    return value;
  };
  const bool big_tiff = number(2, 2) == 43U;
  const std::uint64_t count_size = big_tiff ? 8 : 2;
  const auto count = number(offset, count_size);
  if (!count || *count == 0 || *count > entries_max) return std::nullopt;
  return number(offset + count_size + *count * (big_tiff ? 20 : 12), big_tiff ? 8 : 4);
}

}  // namespace

Result<std::vector<FrameInfo>> probe_tiff(Bytes file) {
  Source source{.file = file};
  const Tiff tiff = open(source);
  if (!tiff) return damaged(source);
  std::vector<FrameInfo> frames;
  std::optional<Error> trouble;  // the first
  const auto add_damaged = [&](Error error) {
    frames.push_back({.damage = fmt::format("picture {}: {}", frames.size() + 1, error.for_caller)});
    if (!trouble) trouble = std::move(error);
  };
  std::set<std::uint64_t> seen;
  std::uint64_t directory = TIFFCurrentDirOffset(tiff.get());
  for (bool read = true;;) {
    seen.insert(directory);
    constexpr std::uint32_t reduced = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
    if (!read) {
      add_damaged(damaged(source).error());
    } else if ((field<std::uint32_t>(tiff.get(), TIFFTAG_SUBFILETYPE, 0) & reduced) == 0) {
      const Form form = form_of(tiff.get());
      if (Status sound = check_sides("TIFF", form.width, form.height); !sound) {
        add_damaged(sound.error());
      } else {
        frames.push_back(frame_of(tiff.get(), form));
      }
    }
    if (frames.size() > frames_max || seen.size() > 2 * frames_max) {
      return fail(ErrorKind::invalid_input, "the TIFF has more than {} pictures; split it", frames_max);
    }
    const auto next = next_directory(file, directory);
    if (next == 0U || (!next && !read)) break;
    if (!next || seen.contains(*next)) {
      add_damaged(fail(ErrorKind::corrupt, "what follows in the TIFF cannot be found: a link is damaged").error());
      break;
    }
    directory = *next;
    source.complaint.clear();
    read = TIFFReadDirectory(tiff.get()) == 1 && TIFFCurrentDirOffset(tiff.get()) == directory;
  }
  if (std::ranges::all_of(frames, [](const FrameInfo& frame) { return !frame.damage.empty(); })) {
    if (trouble) return std::unexpected(*trouble);
    return fail(ErrorKind::corrupt, "the TIFF holds no picture");
  }
  return frames;
}

Result<Image> decode_tiff(Bytes file, const FrameInfo& frame, const DecodeOptions& options) {
  Source source{.file = file};
  const Tiff tiff = open(source);
  if (!tiff || TIFFSetSubDirectory(tiff.get(), frame.offset) != 1) return damaged(source);
  const Form form = form_of(tiff.get());
  if (static_cast<int>(form.width) != frame.width_px || static_cast<int>(form.height) != frame.height_px) {
    return fail(ErrorKind::internal, "the TIFF changed since it was probed");
  }
  Result<Image> image = has_plain_rows(form) ? decode_rows(tiff.get(), source, form, options)
                                             : decode_by_libtiff(tiff.get(), source, frame, options);
  if (image) image->dpi = frame.dpi_x * static_cast<float>(image->width_px) / static_cast<float>(frame.width_px);
  return image;
}

}  // namespace lectern::image
