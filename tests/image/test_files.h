// Picture files made by hand or by the libraries' encoders, for what our own encoder does not write.
#pragma once

// clang-format off: jpeglib.h uses FILE and does not declare it
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <spng.h>
#include <webp/encode.h>

#include <array>
#include <cstdlib>

#include "image/test_pictures.h"

namespace lectern::image {

// One row of pixels with alpha.
inline FileBytes rgba_png(const std::vector<std::array<std::uint8_t, 4>>& pixels) {
  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{.width = static_cast<std::uint32_t>(pixels.size()),
                   .height = 1,
                   .bit_depth = 8,
                   .color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
  spng_set_ihdr(context, &header);
  spng_encode_image(context, pixels.data(), pixels.size() * 4, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  std::size_t size = 0;
  int error = 0;
  auto* buffer = static_cast<std::uint8_t*>(spng_get_png_buffer(context, &size, &error));
  FileBytes file(buffer, buffer + size);
  std::free(buffer);
  spng_ctx_free(context);
  return file;
}

// 16x8 pixels, the left half white, the right half black, in Adobe's inverted CMYK.
inline FileBytes cmyk_jpeg() {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = 16;
  info.image_height = 8;
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  info.write_Adobe_marker = TRUE;
  jpeg_start_compress(&info, TRUE);
  std::array<std::uint8_t, 64> row{};
  for (std::size_t x = 0; x < 16; ++x) {
    for (std::size_t c = 0; c < 4; ++c) row[x * 4 + c] = x >= 8 && c == 3 ? 0 : 255;
  }
  for (int y = 0; y < 8; ++y) {
    std::uint8_t* pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  FileBytes file(buffer, buffer + size);
  std::free(buffer);
  return file;
}

// Puts an EXIF block behind a JPEG's first marker.
inline FileBytes with_exif(const FileBytes& jpeg, int orientation) {
  const FileBytes block = exif_block(orientation, false);
  FileBytes file(jpeg.begin(), jpeg.begin() + 2);
  put(file, 0xFFE1, 2, false);
  put(file, block.size() + 8, 2, false);
  put(file, std::string("Exif\0\0", 6));
  file.insert(file.end(), block.begin(), block.end());
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

inline FileBytes lossless_webp(const Image& rgb) {
  std::uint8_t* buffer = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(rgb.pixels.data(), rgb.width_px, rgb.height_px, static_cast<int>(rgb.stride()), &buffer);
  FileBytes file(buffer, buffer + size);
  WebPFree(buffer);
  return file;
}

// 3x2 pixels: black white red / blue black white (with one bit a pixel, the colours are white).
inline FileBytes small_bmp(int bits, bool top_down) {
  constexpr int width = 3;
  const std::uint8_t indices[2][width] = {{0, 1, 2}, {3, 0, 1}};
  const std::uint8_t one_bit[2][width] = {{0, 1, 1}, {1, 0, 1}};
  const std::uint32_t palette[] = {0x000000, 0xFFFFFF, 0xFF0000, 0x0000FF};
  const int colors = bits <= 8 ? (bits == 1 ? 2 : 4) : 0;
  FileBytes file;
  put(file, "BM");
  put(file, 0, 8);
  put(file, 54 + static_cast<std::uint64_t>(colors) * 4, 4);
  put(file, 40, 4);
  put(file, width, 4);
  put(file, static_cast<std::uint32_t>(top_down ? -2 : 2), 4);
  put(file, 1, 2);
  put(file, static_cast<std::uint64_t>(bits), 2);
  put(file, 0, 16);
  put(file, static_cast<std::uint64_t>(colors), 4);
  put(file, 0, 4);
  for (int i = 0; i < colors; ++i) put(file, palette[i], 4);
  for (int r = 0; r < 2; ++r) {
    const std::uint8_t* row = (bits == 1 ? one_bit : indices)[top_down ? r : 1 - r];
    std::uint64_t packed = 0;
    int used = 0;
    FileBytes bytes;
    for (int x = 0; x < width; ++x) {
      const std::uint32_t color = palette[row[x]];
      if (bits <= 8) {
        packed = (packed << bits) | row[x];
        used += bits;
        if (used % 8 == 0) put(bytes, packed & 0xFF, 1);
      } else if (bits == 16) {
        put(bytes, ((color >> 19 & 31) << 10) | ((color >> 11 & 31) << 5) | (color >> 3 & 31), 2);
      } else {
        put(bytes, color, bits / 8);
      }
    }
    if (bits < 8) put(bytes, (packed << (8 - used % 8)) & 0xFF, 1);
    bytes.resize((bytes.size() + 3) / 4 * 4);
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  return file;
}

// 3x2 pixels of 8 bits, run-length coded.
inline FileBytes run_length_bmp() {
  FileBytes file;
  put(file, "BM");
  put(file, 0, 8);
  put(file, 54 + 8, 4);
  put(file, 40, 4);
  put(file, 3, 4);
  put(file, 2, 4);
  put(file, 1, 2);
  put(file, 8, 2);
  put(file, 1, 4);  // run-length coding
  put(file, 0, 12);
  put(file, 2, 4);
  put(file, 0, 4);
  put(file, 0x000000, 4);
  put(file, 0xFFFFFF, 4);
  for (const int byte : {3, 1, 0, 0, 0, 2, 1, 0, 1, 1, 1, 0, 0, 1}) put(file, static_cast<std::uint64_t>(byte), 1);
  return file;
}

struct TiffFrame {
  int width = 0;
  int height = 0;
  int bits = 8;
  int samples = 1;
  int photometric = 1;
  bool thumbnail = false;
  FileBytes data = {};  // empty = filled with 0x40
};

// Uncompressed, little-endian, 300 dpi.
inline FileBytes tiff_of(const std::vector<TiffFrame>& frames) {
  FileBytes file;
  put(file, "II");
  put(file, 42, 2);
  put(file, 0, 4);
  std::size_t link = 4;  // where the offset of the next directory is to be written
  for (const TiffFrame& frame : frames) {
    FileBytes data = frame.data;
    if (data.empty()) {
      data.assign((static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.bits * frame.samples) + 7) /
                      8 * static_cast<std::size_t>(frame.height),
                  0x40);
    }
    const std::size_t strip = file.size();
    file.insert(file.end(), data.begin(), data.end());
    const std::size_t bits_at = file.size();  // three numbers of two bytes, used with three samples
    for (int i = 0; i < 3; ++i) put(file, static_cast<std::uint64_t>(frame.bits), 2);
    const std::size_t resolution = file.size();
    put(file, 300, 4);
    put(file, 1, 4);
    if (file.size() % 2 != 0) file.push_back(0);
    const std::size_t directory = file.size();
    for (int i = 0; i < 4; ++i)
      file[link + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(directory >> (8 * i));
    struct Entry {
      int tag;
      int type;
      int count;
      std::uint64_t value;
    };
    const Entry entries[] = {
        {254, 4, 1, frame.thumbnail ? 1U : 0U},
        {256, 4, 1, static_cast<std::uint64_t>(frame.width)},
        {257, 4, 1, static_cast<std::uint64_t>(frame.height)},
        {258, 3, frame.samples, frame.samples == 3 ? bits_at : static_cast<std::uint64_t>(frame.bits)},
        {259, 3, 1, 1},
        {262, 3, 1, static_cast<std::uint64_t>(frame.photometric)},
        {273, 4, 1, strip},
        {277, 3, 1, static_cast<std::uint64_t>(frame.samples)},
        {278, 4, 1, static_cast<std::uint64_t>(frame.height)},
        {279, 4, 1, data.size()},
        {282, 5, 1, resolution},
        {283, 5, 1, resolution},
        {296, 3, 1, 2}};
    put(file, std::size(entries), 2);
    for (const Entry& e : entries) {
      put(file, static_cast<std::uint64_t>(e.tag), 2);
      put(file, static_cast<std::uint64_t>(e.type), 2);
      put(file, static_cast<std::uint64_t>(e.count), 4);
      put(file, e.value, 4);
    }
    link = file.size();
    put(file, 0, 4);
  }
  return file;
}

}  // namespace lectern::image
