// Any bytes are answers of an S3 server or an error, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "job/blobs/s3_answers.h"
#include "job/blobs/xml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lectern::job;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::ignore = s3_complaint(bytes);
  std::ignore = s3_upload_id(bytes);
  std::ignore = millis_from_iso8601(bytes);
  std::ignore = millis_from_http_date(bytes);
  if (const auto page = s3_list_page(bytes, "p/")) {
    for (const BlobInfo& info : page->blobs) {
      if (!is_blob_key(info.key) || info.bytes < 0) std::abort();
    }
  }
  // What is escaped comes back.
  if (bytes.contains('\0')) return 0;
  const auto back = parse_xml("<a>" + xml_escape(bytes) + "</a>");
  if (!back || back->text != bytes) std::abort();
  return 0;
}
