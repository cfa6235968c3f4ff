#include "service/multipart.h"

#include <algorithm>

#include "service/http/fields.h"
#include "service/http/parameters.h"
#include "service/http/target.h"

namespace lectern::service {
namespace {

constexpr std::size_t boundary_bytes_max = 70;  // RFC 2046
constexpr std::size_t headers_bytes_max = 8 * 1024;
constexpr std::size_t preamble_bytes_max = 4 * 1024;
constexpr std::size_t padding_bytes_max = 64;
constexpr std::size_t file_name_bytes_max = 255;
constexpr int parts_max = 64;

// Browsers write quotes and line ends in names as %22, %0D and %0A; nothing else is escaped.
std::string unescaped_name(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view three = text.substr(i, 3);
    if (three == "%22") {
      out += '"';
      i += 2;
    } else if (three == "%0D" || three == "%0A") {
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// "UTF-8''na%C3%AFve.pdf" (RFC 8187); nothing for other character sets.
std::optional<std::string> extended_value(std::string_view text) {
  const std::size_t first = text.find('\'');
  const std::size_t second = first == std::string_view::npos ? first : text.find('\'', first + 1);
  if (second == std::string_view::npos || !http::same_name(text.substr(0, first), "utf-8")) return std::nullopt;
  return http::percent_decoded(text.substr(second + 1), false);
}

std::expected<MultipartParser::PartBegins, std::string> part_of(std::string_view headers) {
  MultipartParser::PartBegins part;
  bool named = false;
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find("\r\n"));
    headers.remove_prefix(std::min(headers.size(), line.size() + 2));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !http::is_token(line.substr(0, colon)))
      return std::unexpected("a part has a header that is not 'name: value'");
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = http::trimmed(line.substr(colon + 1));
    if (http::same_name(name, "content-type")) part.content_type = value;
    if (http::same_name(name, "content-transfer-encoding") && !http::same_name(value, "binary") &&
        !http::same_name(value, "8bit") && !http::same_name(value, "7bit"))
      return std::unexpected("parts must be sent as they are, without a Content-Transfer-Encoding");
    if (!http::same_name(name, "content-disposition")) continue;
    const auto disposition = http::parse_parameters(value);
    if (!disposition || !http::same_name(disposition->value, "form-data"))
      return std::unexpected("a part's Content-Disposition is not form-data");
    for (const auto& [key, text] : disposition->parameters) {
      if (key == "name") {
        part.name = unescaped_name(text);
        named = true;
      } else if (key == "filename" && !part.filename) {
        part.filename = unescaped_name(text);
      } else if (key == "filename*") {
        if (auto better = extended_value(text)) part.filename = std::move(*better);
      }
    }
  }
  if (!named) return std::unexpected("a part has no name");
  return part;
}

}  // namespace

std::expected<std::string, std::string> multipart_boundary(std::string_view content_type) {
  const auto parsed = http::parse_parameters(content_type);
  if (!parsed || !http::same_name(parsed->value, "multipart/form-data"))
    return std::unexpected("Content-Type is not multipart/form-data");
  for (const auto& [name, value] : parsed->parameters) {
    if (name != "boundary") continue;
    const auto fits = [](char c) {
      return static_cast<unsigned char>(c) > 0x1f && static_cast<unsigned char>(c) < 0x7f;
    };
    if (value.empty() || value.size() > boundary_bytes_max || value.ends_with(' ') || !std::ranges::all_of(value, fits))
      return std::unexpected("the boundary in Content-Type must be 1 to 70 printable characters");
    return value;
  }
  return std::unexpected("Content-Type has no boundary");
}

MultipartParser::MultipartParser(std::string_view boundary)
    : delimiter_("\r\n--" + std::string(boundary)),
      buffer_("\r\n") {}  // as if a line had ended before the first boundary

void MultipartParser::feed(std::string_view bytes) {
  buffer_.erase(0, start_);
  start_ = 0;
  buffer_ += bytes;
}

void MultipartParser::drop(std::size_t bytes) {
  start_ += bytes;
}

MultipartParser::Event MultipartParser::fault(std::string what) {
  state_ = State::fault;
  fault_ = std::move(what);
  return Fault{fault_};
}

MultipartParser::Event MultipartParser::next() {
  switch (state_) {
    case State::preamble:
      return in_preamble();
    case State::boundary_line:
      return in_boundary_line();
    case State::headers:
      return in_headers();
    case State::body:
      return in_body();
    case State::end:
      drop(buffer_.size() - start_);  // what follows the last boundary means nothing
      return End{};
    case State::fault:
      return Fault{fault_};
  }
  return Fault{"unknown state"};
}

MultipartParser::Event MultipartParser::in_preamble() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  const std::size_t found = rest.find(delimiter_);
  if (found > preamble_bytes_max && rest.size() > preamble_bytes_max + delimiter_.size())
    return fault("the first boundary of the multipart body does not come");
  if (found == std::string_view::npos) return NeedMore{};
  drop(found + delimiter_.size());
  state_ = State::boundary_line;
  return in_boundary_line();
}

MultipartParser::Event MultipartParser::in_boundary_line() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < 2) return NeedMore{};
  if (rest.starts_with("--")) {
    state_ = State::end;
    return End{};
  }
  const std::size_t padding = std::min(rest.find_first_not_of(" \t"), rest.size());
  if (padding > padding_bytes_max) return fault("a boundary line of the multipart body is too long");
  if (rest.size() < padding + 2) return NeedMore{};
  if (rest.substr(padding, 2) != "\r\n") return fault("a boundary of the multipart body does not end its line");
  if (++parts_ > parts_max) return fault("the multipart body has too many parts");
  drop(padding);  // the line end stays: without any header, it is half of the empty line that ends them
  state_ = State::headers;
  return in_headers();
}

MultipartParser::Event MultipartParser::in_headers() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  const std::size_t end = rest.find("\r\n\r\n");
  if (end == std::string_view::npos || end > headers_bytes_max) {
    if (rest.size() > headers_bytes_max) return fault("the headers of a part are too long");
    return NeedMore{};
  }
  auto part = part_of(end == 0 ? std::string_view() : rest.substr(2, end - 2));
  if (!part) return fault(std::move(part.error()));
  drop(end + 2);  // as above: a body may be empty, and the line end then belongs to its boundary
  state_ = State::body;
  body_begun_ = false;
  return std::move(*part);
}

MultipartParser::Event MultipartParser::in_body() {
  std::string_view rest = std::string_view(buffer_).substr(start_);
  if (!body_begun_) {
    if (rest.size() < delimiter_.size() && delimiter_.starts_with(rest)) return NeedMore{};
    if (!rest.starts_with(delimiter_)) {
      drop(2);
      rest.remove_prefix(2);
    }
    body_begun_ = true;
  }
  const std::size_t found = rest.find(delimiter_);
  if (found == 0) {
    drop(delimiter_.size());
    state_ = State::boundary_line;
    return PartEnds{};
  }
  std::size_t bytes = found;
  if (found == std::string_view::npos) {
    // The end of what is there may be the beginning of a boundary.
    bytes = rest.size() - std::min(rest.size(), delimiter_.size() - 1);
    while (bytes < rest.size() && !delimiter_.starts_with(rest.substr(bytes))) ++bytes;
  }
  if (bytes == 0) return NeedMore{};
  drop(bytes);
  return Data{rest.substr(0, bytes)};
}

std::string document_name(std::string_view filename) {
  std::string name;
  const std::size_t slash = filename.find_last_of("/\\");
  if (slash != std::string_view::npos) filename.remove_prefix(slash + 1);
  for (const char c : filename) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) name += c;
  }
  if (!http::is_utf8(name)) {
    std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '_');
  }
  if (name.size() > file_name_bytes_max) {
    std::size_t end = file_name_bytes_max;
    while ((static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80) --end;
    name.resize(end);
  }
  if (name.empty() || name == "." || name == "..") name = "document";
  return name;
}

}  // namespace lectern::service
