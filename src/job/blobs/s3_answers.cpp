#include "job/blobs/s3_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "job/blobs/xml.h"

namespace lectern::job {
namespace {

// Fixed digits of a text, from left to right; `ok` stays false once something did not fit.
class Digits {
 public:
  explicit Digits(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + std::min(digits, rest_.size()), value);
    ok = ok && error == std::errc{} && stop == rest_.data() + digits && rest_.front() != '-';
    rest_.remove_prefix(std::min(digits, rest_.size()));
    return value;
  }
  void skip(std::string_view text) {
    ok = ok && rest_.starts_with(text);
    rest_.remove_prefix(std::min(text.size(), rest_.size()));
  }
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }

  bool ok = true;

 private:
  std::string_view rest_;
};

struct Moment {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
};

std::optional<Millis> millis_of(const Moment& moment) {
  const std::chrono::year_month_day date{std::chrono::year(moment.year),
                                         std::chrono::month(static_cast<unsigned>(moment.month)),
                                         std::chrono::day(static_cast<unsigned>(moment.day))};
  if (!date.ok() || moment.hour > 23 || moment.minute > 59 || moment.second > 60) return std::nullopt;
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(moment.hour) +
                    std::chrono::minutes(moment.minute) + std::chrono::seconds(moment.second) +
                    std::chrono::milliseconds(moment.millis);
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::unexpected<Error> odd(std::string_view what) {
  return fail(ErrorKind::corrupt, "the S3 server's answer makes no sense: {}", what);
}

std::string strong(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  return etag.starts_with('"') ? std::string(etag) : fmt::format("\"{}\"", etag);
}

}  // namespace

std::optional<Millis> millis_from_iso8601(std::string_view text) {
  Digits digits(text);
  Moment moment;
  moment.year = digits.number(4);
  digits.skip("-");
  moment.month = digits.number(2);
  digits.skip("-");
  moment.day = digits.number(2);
  digits.skip("T");
  moment.hour = digits.number(2);
  digits.skip(":");
  moment.minute = digits.number(2);
  digits.skip(":");
  moment.second = digits.number(2);
  if (digits.rest().starts_with('.')) {
    digits.skip(".");
    const std::size_t count = digits.rest().find_first_not_of("0123456789");
    if (count == 0 || count == std::string_view::npos || count > 9) return std::nullopt;
    std::string fraction(digits.take(count));
    fraction.resize(3, '0');
    moment.millis = Digits(fraction).number(3);
  }
  digits.skip("Z");
  if (!digits.ok || !digits.rest().empty()) return std::nullopt;
  return millis_of(moment);
}

std::optional<Millis> millis_from_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  Digits digits(text);
  Moment moment;
  digits.take(3);
  digits.skip(", ");
  moment.day = digits.number(2);
  digits.skip(" ");
  const std::string_view month = digits.take(3);
  for (std::size_t i = 0; i < months.size(); ++i) {
    if (months[i] == month) moment.month = static_cast<int>(i) + 1;
  }
  digits.skip(" ");
  moment.year = digits.number(4);
  digits.skip(" ");
  moment.hour = digits.number(2);
  digits.skip(":");
  moment.minute = digits.number(2);
  digits.skip(":");
  moment.second = digits.number(2);
  digits.skip(" GMT");
  if (!digits.ok || !digits.rest().empty()) return std::nullopt;
  return millis_of(moment);
}

S3Complaint s3_complaint(std::string_view body) {
  if (!body.contains("<Error")) return {};
  // A server that takes long to put parts together sends blanks meanwhile.
  body.remove_prefix(std::min(body.size(), body.find_first_not_of(" \t\r\n")));
  const auto root = parse_xml(body);
  if (!root || root->name != "Error") return {};
  return {.code = std::string(root->text_of("Code")), .message = std::string(root->text_of("Message"))};
}

Result<Blobs::Page> s3_list_page(std::string_view body, std::string_view prefix) {
  const auto root = parse_xml(body);
  if (!root) return std::unexpected(root.error());
  if (root->name != "ListBucketResult") return odd(fmt::format("a list that begins with <{}>", root->name));
  Blobs::Page page;
  for (const XmlElement& entry : root->children) {
    if (entry.name != "Contents") continue;
    BlobInfo info;
    std::string_view key = entry.text_of("Key");
    if (!key.starts_with(prefix)) return odd("a list of other keys than it was asked for");
    key.remove_prefix(prefix.size());
    if (!is_blob_key(key)) continue;
    info.key = key;
    const std::string_view size = entry.text_of("Size");
    const auto [stop, error] = std::from_chars(size.data(), size.data() + size.size(), info.bytes);
    const auto modified = millis_from_iso8601(entry.text_of("LastModified"));
    if (error != std::errc{} || stop != size.data() + size.size() || info.bytes < 0 || !modified) {
      return odd(fmt::format("size or date of {} in a list", key));
    }
    info.modified = *modified;
    info.etag = strong(entry.text_of("ETag"));
    page.blobs.push_back(std::move(info));
  }
  if (root->text_of("IsTruncated") == "true") {
    page.next = root->text_of("NextContinuationToken");
    if (page.next.empty()) return odd("a list that goes on but does not say where");
  }
  return page;
}

Result<std::string> s3_upload_id(std::string_view body) {
  const auto root = parse_xml(body);
  if (!root) return std::unexpected(root.error());
  std::string id(root->text_of("UploadId"));
  if (root->name != "InitiateMultipartUploadResult" || id.empty()) return odd("an upload without an id");
  return id;
}

std::string s3_complete_body(const std::vector<S3Part>& parts) {
  std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const S3Part& part : parts) {
    body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", part.number, xml_escape(part.etag));
  }
  return body + "</CompleteMultipartUpload>";
}

}  // namespace lectern::job
