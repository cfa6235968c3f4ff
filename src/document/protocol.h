// What host and renderer say to each other over their socket pair: a fixed header, then a payload.
//
//   renderer → host   hello     once, when its sandbox is closed
//   host → renderer   open      with the document's descriptor attached; replaces the document open before
//                     inspect   one page's contents
//                     render    one page's pixels, which come back through the window (shared memory)
//                     close     forget the document; no answer
//   renderer → host   opened, content, rendered, or error: one answer to each of the first three
//
// The renderer has read hostile bytes and may have been taken over, so every decode_… used by the host trusts nothing:
// sizes, counts, enumerators, indices, numbers and texts are checked, and any violation is ErrorKind::corrupt.
// The encoders bring odd values (not finite, not UTF-8, too many) into range, so an honest renderer is never refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "document/page_content.h"
#include "document/render_request.h"
#include "document/sandbox_report.h"

namespace lectern::document::protocol {

inline constexpr std::uint16_t version = 1;  // host and renderer are of one build; a mix is refused

enum class MessageType : std::uint8_t { hello = 1, open, opened, inspect, content, render, rendered, close, error };
std::string_view to_string(MessageType type);

// Hard limits on what one message may hold.
struct Caps {
  int pages = 10'000'000;
  std::size_t fonts = 10'000;
  std::size_t chars = 400'000;
  std::size_t rules = 100'000;
  std::size_t fills = 100'000;
  std::size_t pictures = 20'000;
  std::size_t drawings = 20'000;
  std::size_t links = 10'000;
  std::size_t outline = 1'000;
  std::size_t missing_layers = 32;
  std::size_t text_bytes = 4'096;  // a title, a sentence, an error
  std::size_t name_bytes = 256;    // of a font
  std::size_t uri_bytes = 2'048;
  std::size_t content_bytes = std::size_t{64} << 20;  // one page's contents, all together
  std::size_t password_bytes = 1'024;
};
inline constexpr Caps caps;

struct Header {
  MessageType type = MessageType::error;
  std::uint32_t call = 0;  // the answer carries the number of its call
  std::uint32_t payload_bytes = 0;
  bool operator==(const Header&) const = default;
};
inline constexpr std::size_t header_bytes = 16;

// The largest payload a message of this type may announce.
std::size_t payload_bytes_max(MessageType type);

std::array<std::uint8_t, header_bytes> encode_header(const Header& header);
Result<Header> decode_header(std::span<const std::uint8_t, header_bytes> bytes);

struct OpenCall {
  std::string password;
  std::int64_t pixels_max = 0;
  bool operator==(const OpenCall&) const = default;
};

// A Rendered whose bytes lie at the beginning of the window.
struct RenderedInWindow {
  bool jpeg = false;  // the bytes are a JPEG file, not pixels
  std::uint64_t bytes = 0;
  int width_px = 0;
  int height_px = 0;
  image::PixelFormat format = image::PixelFormat::gray8;
  bool chroma = false;  // after the gray pixels come the two of image::Chroma
  float dpi = 0;
  RenderPath path = RenderPath::page;
  float px_per_pt = 1;
  bool operator==(const RenderedInWindow&) const = default;
};

using Payload = std::vector<std::uint8_t>;
using Bytes = std::span<const std::uint8_t>;

Payload encode(const SandboxReport& report);
Payload encode(const OpenCall& call);
Payload encode(const DocumentInfo& info);
Payload encode_page_number(int page_number);
Payload encode(const PageContent& content);
Payload encode(const RenderRequest& request);
Payload encode(const RenderedInWindow& rendered);
Payload encode(const Error& error);

Result<SandboxReport> decode_hello(Bytes bytes);
Result<OpenCall> decode_open(Bytes bytes);
Result<DocumentInfo> decode_opened(Bytes bytes);
Result<int> decode_inspect(Bytes bytes);
Result<PageContent> decode_content(Bytes bytes);
Result<RenderRequest> decode_render(Bytes bytes);
Result<Error> decode_error(Bytes bytes);
// Also checks the announced picture against the window and the pixel limit, so that its bytes can be copied blindly.
Result<RenderedInWindow> decode_rendered(Bytes bytes, std::uint64_t window_bytes, std::int64_t pixels_max);

}  // namespace lectern::document::protocol
