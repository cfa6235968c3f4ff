// Picture files → pixels. For lectern-render alone: these parsers read what strangers send, so they run in the sandbox.
// Every function takes the whole file in memory, checks sizes before it allocates, and returns damage as an Error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/image.h"
#include "image/transform.h"

namespace lectern::image {

enum class FileFormat : std::uint8_t { jpeg, png, tiff, webp, bmp };

// One picture of a file; only TIFF has more than one.
struct FrameInfo {
  int width_px = 0;  // as stored, before `turn`
  int height_px = 0;
  float dpi_x = 0;  // 0 when the file does not say, or says something absurd
  float dpi_y = 0;
  Turn turn;          // what the file's EXIF (or TIFF) orientation asks for
  bool gray = false;  // stored without colour
  bool cmyk = false;
  bool gray_and_chroma = false;  // stored as a JPEG that decode_planes() reads
  std::uint64_t offset = 0;      // TIFF: where the frame's directory lies
  std::string damage;            // TIFF: why this frame, of several, cannot be read; empty = it can
  bool operator==(const FrameInfo&) const = default;
};

// What the file holds, read from its headers: at least one frame, at most 10,000 (more are an error). Thumbnails of a
// TIFF do not count; a damaged frame does, and so does one for all that lies behind a broken link, so that nothing is
// missing unnoticed. At least one frame is sound.
Result<std::vector<FrameInfo>> probe(FileFormat format, std::span<const std::uint8_t> file);

struct DecodeOptions {
  PixelFormat format = PixelFormat::rgb24;
  std::int64_t pixels_max = 40'000'000;  // of the result
  // The caller will shrink to this size anyway: a decoder that can decode smaller and faster gives any size from here
  // up to the full one. 0 = as stored. A picture over `pixels_max` is shrunk on the way in where its coding allows
  // that.
  int width_px_wanted = 0;
  int height_px_wanted = 0;
  bool exactly =
      false;  // the result has the wanted size, resized with Lanczos' filter; some decoders do it on the way in
};

// The pixels of a frame that probe() found, as stored (not turned), on white where they are transparent.
// Errors: corrupt (damaged file), invalid_input (a variant that we do not read, or too many pixels).
Result<Image> decode(FileFormat format, std::span<const std::uint8_t> file, const FrameInfo& frame,
                     const DecodeOptions& options);

// A JPEG's gray and its colours, each resized by itself: half the work of going through RGB and back, for those who
// want a JPEG in the end.
struct Planes {
  Image gray;
  Chroma chroma;
};
// At just the wanted size. REQUIRES: `frame.gray_and_chroma`; both sides wanted, even, and no larger than the frame's.
// `options.format` does not matter. Errors as above.
Result<Planes> decode_planes(std::span<const std::uint8_t> jpeg, const FrameInfo& frame, const DecodeOptions& options);

}  // namespace lectern::image
