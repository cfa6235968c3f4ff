// multipart/form-data (RFC 7578) as a machine that is fed bytes as they come and says what they mean: a part begins,
// here are some of its bytes, it ends. No I/O, and never more in memory than one piece and a boundary. What it says
// does not depend on how the bytes were cut into pieces.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace lectern::service {

// Of "multipart/form-data; boundary=…". Errors say what is missing.
std::expected<std::string, std::string> multipart_boundary(std::string_view content_type);

class MultipartParser {
 public:
  explicit MultipartParser(std::string_view boundary);

  struct NeedMore {};
  struct PartBegins {
    std::string name;
    std::optional<std::string> filename;  // as it was sent: nothing to open a file by
    std::string content_type;
  };
  struct Data {
    std::string_view bytes;  // until the next call
  };
  struct PartEnds {};
  struct End {};
  struct Fault {
    std::string what;
  };
  using Event = std::variant<NeedMore, PartBegins, Data, PartEnds, End, Fault>;

  void feed(std::string_view bytes);
  // What comes next. After NeedMore: feed() it. After End and Fault: the same again.
  Event next();

 private:
  enum class State : std::uint8_t { preamble, boundary_line, headers, body, end, fault };

  Event fault(std::string what);
  Event in_preamble();
  Event in_boundary_line();
  Event in_headers();
  Event in_body();
  void drop(std::size_t bytes);

  const std::string delimiter_;  // CR LF "--" boundary
  std::string buffer_;
  std::size_t start_ = 0;  // what lies before it in the buffer is over
  State state_ = State::preamble;
  bool body_begun_ = false;
  int parts_ = 0;
  std::string fault_;
};

// What to call a document: the last piece of what the client called it, without control characters, at most 255 bytes.
std::string document_name(std::string_view filename);

}  // namespace lectern::service
