// A form cut into parts: the same parts whatever the sizes in which the bytes arrive.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "service/multipart.h"

namespace {

using lectern::service::MultipartParser;

std::string story_of(std::string_view bytes, std::size_t step) {
  MultipartParser parser("B");
  std::string story;
  for (;;) {
    MultipartParser::Event event = parser.next();
    if (std::holds_alternative<MultipartParser::NeedMore>(event)) {
      if (bytes.empty()) return story + "|more";
      parser.feed(bytes.substr(0, step));
      bytes.remove_prefix(std::min(step, bytes.size()));
    } else if (const auto* part = std::get_if<MultipartParser::PartBegins>(&event)) {
      story += "|part " + part->name + " " + part->filename.value_or("-") + " " + part->content_type + "|";
      if (part->filename) lectern::service::document_name(*part->filename);
    } else if (const auto* data = std::get_if<MultipartParser::Data>(&event)) {
      story += data->bytes;
    } else if (std::holds_alternative<MultipartParser::PartEnds>(event)) {
      story += "|ends";
    } else if (const auto* fault = std::get_if<MultipartParser::Fault>(&event)) {
      return story + "|fault " + fault->what;
    } else {
      return story + "|end";
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = story_of(bytes, size + 1);
  // A fault may be seen before the bytes of the last part are told; what is told in between must not differ.
  if (whole != story_of(bytes, 1) || whole != story_of(bytes, 7)) std::abort();
  (void)lectern::service::multipart_boundary(bytes);
  return 0;
}
