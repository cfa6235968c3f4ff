#include "document/protocol.h"

#include <cstring>

#include "document/protocol_parts.h"

namespace lectern::document::protocol {
namespace {

using wire::Reader;
using wire::Writer;

constexpr std::uint32_t magic = 0x4E52544C;  // "LTRN"

constexpr std::size_t outline_bytes = 4 + 4 + 4;  // the least an entry takes

image::PixelFormat take_format(Reader& in) {
  const std::uint8_t value = in.u8();
  const bool known = value == static_cast<std::uint8_t>(image::PixelFormat::gray8) ||
                     value == static_cast<std::uint8_t>(image::PixelFormat::rgb24);
  in.require(known, "an unknown pixel format");
  return known ? static_cast<image::PixelFormat>(value) : image::PixelFormat::gray8;
}

}  // namespace

std::string_view to_string(MessageType type) {
  switch (type) {
    case MessageType::hello:
      return "hello";
    case MessageType::open:
      return "open";
    case MessageType::opened:
      return "opened";
    case MessageType::inspect:
      return "inspect";
    case MessageType::content:
      return "content";
    case MessageType::render:
      return "render";
    case MessageType::rendered:
      return "rendered";
    case MessageType::close:
      return "close";
    case MessageType::error:
      return "error";
  }
  return "unknown";
}

std::size_t payload_bytes_max(MessageType type) {
  switch (type) {
    case MessageType::hello:
      return 64 + caps.missing_layers * (4 + caps.text_bytes);
    case MessageType::open:
      return 64 + caps.password_bytes;
    case MessageType::opened:
      return 64 + caps.text_bytes + caps.outline * (outline_bytes + caps.text_bytes);
    case MessageType::content:
      return caps.content_bytes;
    case MessageType::error:
      return 64 + 2 * caps.text_bytes;
    case MessageType::inspect:
    case MessageType::render:
    case MessageType::rendered:
    case MessageType::close:
      return 128;
  }
  return 0;
}

std::array<std::uint8_t, header_bytes> encode_header(const Header& header) {
  Writer out;
  out.u32(magic);
  out.u16(version);
  out.u16(static_cast<std::uint16_t>(header.type));
  out.u32(header.call);
  out.u32(header.payload_bytes);
  const auto bytes = out.take();
  std::array<std::uint8_t, header_bytes> fixed{};
  std::memcpy(fixed.data(), bytes.data(), fixed.size());
  return fixed;
}

Result<Header> decode_header(std::span<const std::uint8_t, header_bytes> bytes) {
  Reader in(bytes);
  in.require(in.u32() == magic, "it does not begin as one");
  in.require(in.u16() == version,
             "another version of the protocol (lectern and lectern-render are of different builds)");
  const std::uint16_t type = in.u16();
  in.require(
      type >= static_cast<std::uint16_t>(MessageType::hello) && type <= static_cast<std::uint16_t>(MessageType::error),
      "an unknown type");
  Header header;
  header.call = in.u32();
  header.payload_bytes = in.u32();
  if (in.ok()) {
    header.type = static_cast<MessageType>(type);
    in.require(header.payload_bytes <= payload_bytes_max(header.type), "a length above its limit");
  }
  if (auto status = in.finish("header"); !status) return std::unexpected(std::move(status.error()));
  return header;
}

Payload encode(const SandboxReport& report) {
  Writer out;
  out.boolean(report.seccomp);
  out.i32(std::clamp(report.landlock_abi, 0, 1000));
  out.boolean(report.rlimits);
  out.boolean(report.network_namespace);
  put_list(out, report.missing, caps.missing_layers,
           [](Writer& to, const std::string& sentence) { to.text(sentence, caps.text_bytes); });
  out.text(report.pdfium_build_id, caps.text_bytes);
  return out.take();
}

Result<SandboxReport> decode_hello(Bytes bytes) {
  Reader in(bytes);
  SandboxReport report;
  report.seccomp = in.boolean();
  report.landlock_abi = in.i32_between(0, 1000, "an impossible Landlock version");
  report.rlimits = in.boolean();
  report.network_namespace = in.boolean();
  report.missing = take_list(in, caps.missing_layers, 4, [](Reader& from) { return from.text(caps.text_bytes); });
  report.pdfium_build_id = in.text(caps.text_bytes);
  return finished(in, std::move(report), MessageType::hello);
}

Payload encode(const OpenCall& call) {
  Writer out;
  out.bytes(call.password);
  out.i64(call.pixels_max);
  return out.take();
}

Result<OpenCall> decode_open(Bytes bytes) {
  Reader in(bytes);
  OpenCall call;
  call.password = in.bytes(caps.password_bytes);
  call.pixels_max = in.i64();
  in.require(call.pixels_max > 0, "a pixel limit that is not positive");
  return finished(in, std::move(call), MessageType::open);
}

Payload encode(const DocumentInfo& info) {
  Writer out;
  out.enumerator(info.kind);
  out.i32(std::max(info.pages, 0));
  out.text(info.title, caps.text_bytes);
  put_list(out, info.outline, caps.outline, [](Writer& to, const OutlineEntry& entry) {
    to.i32(std::clamp(entry.level, 1, 1000));
    to.text(entry.title, caps.text_bytes);
    to.i32(std::max(entry.page_number, 0));
  });
  return out.take();
}

Result<DocumentInfo> decode_opened(Bytes bytes) {
  Reader in(bytes);
  DocumentInfo info;
  info.kind = in.enumerator(DocumentKind::pdf, DocumentKind::bmp);
  info.pages = in.i32_between(0, caps.pages, "a page count out of range");
  info.title = in.text(caps.text_bytes);
  info.outline = take_list(in, caps.outline, outline_bytes, [](Reader& from) {
    OutlineEntry entry;
    entry.level = from.i32_between(1, 1000, "an outline level out of range");
    entry.title = from.text(caps.text_bytes);
    entry.page_number = from.i32_between(0, int_max, "a negative page number");
    return entry;
  });
  return finished(in, std::move(info), MessageType::opened);
}

Payload encode_page_number(int page_number) {
  Writer out;
  out.i32(page_number);
  return out.take();
}

Result<int> decode_inspect(Bytes bytes) {
  Reader in(bytes);
  const int page_number = in.i32_between(1, int_max, "a page number below 1");
  return finished(in, page_number, MessageType::inspect);
}

Payload encode(const RenderRequest& request) {
  Writer out;
  out.i32(request.page_number);
  out.f32(request.dpi);
  out.i32(request.width_px_max);
  out.i32(request.height_px_max);
  out.enumerator(request.format);
  out.boolean(request.clip.has_value());
  if (request.clip) put_rect(out, *request.clip);
  out.boolean(request.exact);
  out.boolean(request.allow_passthrough);
  out.boolean(request.allow_chroma);
  out.f32(request.native_dpi_max);
  return out.take();
}

Result<RenderRequest> decode_render(Bytes bytes) {
  Reader in(bytes);
  RenderRequest request;
  request.page_number = in.i32_between(1, int_max, "a page number below 1");
  request.dpi = in.f32();
  request.width_px_max = in.i32_between(0, int_max, "a negative width");
  request.height_px_max = in.i32_between(0, int_max, "a negative height");
  request.format = take_format(in);
  if (in.boolean()) request.clip = take_rect(in);
  request.exact = in.boolean();
  request.allow_passthrough = in.boolean();
  request.allow_chroma = in.boolean();
  request.native_dpi_max = in.f32();
  return finished(in, request, MessageType::render);
}

Payload encode(const RenderedInWindow& rendered) {
  Writer out;
  out.boolean(rendered.jpeg);
  out.u64(rendered.bytes);
  out.i32(rendered.width_px);
  out.i32(rendered.height_px);
  out.enumerator(rendered.format);
  out.boolean(rendered.chroma);
  out.f32(rendered.dpi);
  out.enumerator(rendered.path);
  out.f32(rendered.px_per_pt);
  return out.take();
}

Result<RenderedInWindow> decode_rendered(Bytes bytes, std::uint64_t window_bytes, std::int64_t pixels_max) {
  Reader in(bytes);
  RenderedInWindow rendered;
  rendered.jpeg = in.boolean();
  rendered.bytes = in.u64();
  in.require(rendered.bytes > 0 && rendered.bytes <= window_bytes, "a picture larger than the window");
  rendered.width_px = in.i32_between(1, side_px_max, "a picture width out of range");
  rendered.height_px = in.i32_between(1, side_px_max, "a picture height out of range");
  const std::int64_t pixels = std::int64_t{rendered.width_px} * rendered.height_px;
  in.require(pixels <= pixels_max, "a picture above the pixel limit");
  rendered.format = take_format(in);
  rendered.chroma = in.boolean();
  if (rendered.chroma) {
    in.require(!rendered.jpeg && rendered.format == image::PixelFormat::gray8, "colours of a picture that has its own");
    in.require(rendered.width_px % 2 == 0 && rendered.height_px % 2 == 0, "colours of half a pixel");
  }
  if (!rendered.jpeg) {
    const auto gray_and_colors = static_cast<std::uint64_t>(pixels) / 2 * 3;
    const auto expected =
        rendered.chroma ? gray_and_colors
                        : static_cast<std::uint64_t>(pixels) * static_cast<std::uint64_t>(channels(rendered.format));
    in.require(rendered.bytes == expected, "a picture whose bytes do not match its size");
  }
  rendered.dpi = in.f32();
  in.require(rendered.dpi >= 0, "a negative resolution");
  rendered.path = in.enumerator(RenderPath::page, RenderPath::picture);
  in.require(rendered.jpeg == (rendered.path == RenderPath::passthrough), "stored bytes without passthrough");
  rendered.px_per_pt = in.f32();
  in.require(rendered.px_per_pt > 0, "a scale that is not positive");
  return finished(in, rendered, MessageType::rendered);
}

Payload encode(const Error& error) {
  Writer out;
  out.enumerator(error.kind);
  out.text(error.for_log, caps.text_bytes);
  out.text(error.for_caller, caps.text_bytes);
  return out.take();
}

Result<Error> decode_error(Bytes bytes) {
  Reader in(bytes);
  Error error;
  error.kind = in.enumerator(ErrorKind::invalid_input, ErrorKind::internal);
  error.for_log = in.text(caps.text_bytes);
  error.for_caller = in.text(caps.text_bytes);
  return finished(in, std::move(error), MessageType::error);
}

}  // namespace lectern::document::protocol
