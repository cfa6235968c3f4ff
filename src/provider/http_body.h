// What a request sends, as pieces that are turned into bytes only while they go out: a picture of a megabyte is never
// held encoded, and the whole is never put together in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lectern::provider {

using SharedBytes = std::shared_ptr<const std::vector<std::uint8_t>>;
struct RawPiece {
  SharedBytes bytes;  // as they are
};
struct SharedTextPiece {
  std::shared_ptr<const std::string> text;  // as it is; shared, so that a request that is repeated copies nothing
};
struct Base64Piece {
  SharedBytes bytes;  // sent as base64 of them
};
using BodyPiece = std::variant<std::string, RawPiece, SharedTextPiece, Base64Piece>;

class HttpBody {
 public:
  HttpBody() = default;
  // REQUIRES: no null bytes.
  explicit HttpBody(std::vector<BodyPiece> pieces);

  std::size_t size() const { return size_; }
  // The whole, when it is one piece of text; else nothing.
  const std::string* only_text() const;
  std::string to_string() const;  // for tests and small bodies

 private:
  friend class HttpBodyReader;
  std::vector<BodyPiece> pieces_;
  std::size_t size_ = 0;
};

// Reads a body from its start, as often as asked. REQUIRES: the body outlives it.
class HttpBodyReader {
 public:
  explicit HttpBodyReader(const HttpBody& body) : body_(&body) {}

  // Fills `out` and returns how much was written; 0 only at the end (or for an empty `out`).
  std::size_t read(std::span<char> out);
  void rewind() { piece_ = offset_ = 0; }

 private:
  const HttpBody* body_;
  std::size_t piece_ = 0;
  std::size_t offset_ = 0;  // in the piece, in what it sends
};

}  // namespace lectern::provider
