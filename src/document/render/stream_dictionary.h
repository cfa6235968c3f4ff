// PDFium does not tell how a picture's samples are to be taken (/Decode, masks, colour space). Those stand in clear
// text before the stream in the file, so they are looked up there. Pure and bounded; a doubt is answered with nothing,
// and the page is then drawn in the ordinary way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace lectern::document {

// The text between << and >> that belongs to the stream whose data begins at `stream_at`.
std::optional<std::string_view> dictionary_before(std::string_view file, std::size_t stream_at);

// The value of a key of the dictionary itself (not of one nested in it), as written: "/DeviceRGB", "[1 0]", "12 0 R".
std::optional<std::string_view> dictionary_value(std::string_view dictionary, std::string_view key);

struct PictureDictionary {
  enum class Color { gray, rgb, icc, other };
  Color color = Color::other;
  bool inverted = false;        // /Decode turns every sample over
  bool odd_decode = false;      // a /Decode that is neither plain nor a full inversion
  bool masked = false;          // /SMask or /Mask: not opaque
  bool stencil = false;         // /ImageMask: paints the current colour
  bool has_parameters = false;  // /DecodeParms
  // Group 4 fax coding without extras, which any TIFF reader understands; the width of its rows, 0 when it is not that.
  int group4_columns = 0;
  bool black_is_one = false;
  bool operator==(const PictureDictionary&) const = default;
};
PictureDictionary read_picture_dictionary(std::string_view dictionary);

// Where `stream` lies in `file`; looks near `hint` first and then farther and farther away on both sides, because
// neighbouring pages are mostly neighbours in the file: a file of gigabytes is not read through for each of them.
// `between` is called now and then, so that a mapped file need not stay in memory.
std::optional<std::size_t> find_stream(std::span<const std::uint8_t> file, std::span<const std::uint8_t> stream,
                                       std::size_t hint, const std::function<void()>& between = {});

}  // namespace lectern::document
