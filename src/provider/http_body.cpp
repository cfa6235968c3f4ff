#include "provider/http_body.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/base64.h"

namespace lectern::provider {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

std::size_t size_of(const BodyPiece& piece) {
  return std::visit(Overloaded{[](const std::string& text) { return text.size(); },
                               [](const RawPiece& raw) { return raw.bytes->size(); },
                               [](const SharedTextPiece& shared) { return shared.text->size(); },
                               [](const Base64Piece& encoded) { return base64_size(encoded.bytes->size()); }},
                    piece);
}

std::size_t copy_plain(const void* from, std::size_t size, std::size_t offset, std::span<char> out) {
  const std::size_t count = std::min(out.size(), size - offset);
  if (count > 0) std::memcpy(out.data(), static_cast<const char*>(from) + offset, count);
  return count;
}

// The bytes of whole groups go straight to `out`; a group that is only partly wanted passes through four characters.
std::size_t copy_base64(std::span<const std::uint8_t> bytes, std::size_t offset, std::span<char> out) {
  std::size_t written = 0;
  const std::size_t size = base64_size(bytes.size());
  while (written < out.size() && offset < size) {
    const std::size_t group = offset / 4;
    const std::span<const std::uint8_t> rest = bytes.subspan(group * 3);
    const std::size_t room = out.size() - written;
    if (offset % 4 == 0 && room >= 4) {
      const std::size_t count = base64_encode(rest.first(std::min(rest.size(), room / 4 * 3)), out.data() + written);
      written += count;
      offset += count;
    } else {
      std::array<char, 4> characters{};
      base64_encode(rest.first(std::min<std::size_t>(rest.size(), 3)), characters.data());
      const std::size_t count = std::min(room, 4 - offset % 4);
      std::memcpy(out.data() + written, characters.data() + offset % 4, count);
      written += count;
      offset += count;
    }
  }
  return written;
}

}  // namespace

HttpBody::HttpBody(std::vector<BodyPiece> pieces) : pieces_(std::move(pieces)) {
  for (const BodyPiece& piece : pieces_) size_ += size_of(piece);
}

const std::string* HttpBody::only_text() const {
  return pieces_.size() == 1 ? std::get_if<std::string>(&pieces_.front()) : nullptr;
}

std::string HttpBody::to_string() const {
  std::string text(size_, '\0');
  HttpBodyReader(*this).read(text);
  return text;
}

std::size_t HttpBodyReader::read(std::span<char> out) {
  std::size_t written = 0;
  while (written < out.size() && piece_ < body_->pieces_.size()) {
    const BodyPiece& piece = body_->pieces_[piece_];
    const std::span<char> room = out.subspan(written);
    const std::size_t count = std::visit(
        Overloaded{[&](const std::string& text) { return copy_plain(text.data(), text.size(), offset_, room); },
                   [&](const RawPiece& raw) { return copy_plain(raw.bytes->data(), raw.bytes->size(), offset_, room); },
                   [&](const SharedTextPiece& shared) {
                     return copy_plain(shared.text->data(), shared.text->size(), offset_, room);
                   },
                   [&](const Base64Piece& encoded) { return copy_base64(*encoded.bytes, offset_, room); }},
        piece);
    written += count;
    offset_ += count;
    if (offset_ == size_of(piece)) {
      ++piece_;
      offset_ = 0;
    }
  }
  return written;
}

}  // namespace lectern::provider
