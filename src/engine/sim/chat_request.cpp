#include "engine/sim/chat_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "engine/sim/base64.h"
#include "engine/sim/json_scan.h"

namespace lectern::sim {
namespace {

int big_endian16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return bytes[at] << 8 | bytes[at + 1];
}

bool begins(std::span<const std::uint8_t> bytes, std::string_view with) {
  return bytes.size() >= with.size() && std::equal(with.begin(), with.end(), bytes.begin(), [](char a, std::uint8_t b) {
           return static_cast<std::uint8_t>(a) == b;
         });
}

int tokens_of(int width_px, int height_px) {
  return std::max(1, (width_px + 27) / 28 * ((height_px + 27) / 28));
}

// Of the size in a PNG's or JPEG's header; 0 when the first bytes do not tell.
int tokens_of_header(std::span<const std::uint8_t> bytes) {
  if (begins(bytes, "\x89PNG") && bytes.size() >= 24)
    return tokens_of(big_endian16(bytes, 18), big_endian16(bytes, 22));
  if (!begins(bytes, "\xFF\xD8")) return 0;
  std::size_t at = 2;
  while (at + 9 <= bytes.size() && bytes[at] == 0xFF) {
    const int marker = bytes[at + 1];
    const bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) return tokens_of(big_endian16(bytes, at + 7), big_endian16(bytes, at + 5));
    at += 2 + static_cast<std::size_t>(big_endian16(bytes, at + 2));
  }
  return 0;
}

Status read_image(std::string_view url, ChatRequest& request) {
  const std::size_t comma = url.find(',');
  if (!url.starts_with("data:") || comma == std::string_view::npos || !url.substr(0, comma).ends_with(";base64"))
    return fail(ErrorKind::invalid_input, "only data: URLs with base64 are understood");
  std::string_view payload = url.substr(comma + 1);
  std::string without_escapes;
  if (payload.find('\\') != std::string_view::npos) {  // some encoders write "\/"
    without_escapes = unescaped(payload).value_or("\\");
    payload = without_escapes;
  }
  Sha256 hash;
  constexpr std::size_t piece = 64 * 1024;
  std::array<std::uint8_t, piece / 4 * 3> bytes;
  for (std::size_t at = 0; at < payload.size(); at += piece) {
    const std::string_view text = payload.substr(at, piece);
    const auto count = decode_base64(text, bytes);
    if (!count || (at + piece < payload.size() && *count != bytes.size()))
      return fail(ErrorKind::invalid_input, "the image is not valid base64");
    const std::span<const std::uint8_t> decoded(bytes.data(), *count);
    if (at == 0) {
      request.image_tokens = tokens_of_header(decoded);
      request.image_recognised = begins(decoded, "\xFF\xD8") || begins(decoded, "\x89PNG") || begins(decoded, "GIF8") ||
                                 begins(decoded, "RIFF") || begins(decoded, "BM");
    }
    hash.update(decoded);
    request.image_bytes += *count;
  }
  if (request.image_tokens == 0)
    request.image_tokens = static_cast<int>(std::max<std::size_t>(1, request.image_bytes / 200));
  request.digest = hash.finish();
  return {};
}

class Scanner {
 public:
  explicit Scanner(std::string_view body) : json_(body) {}

  Result<ChatRequest> run() {
    const bool sound = json_.for_each_member([&](std::string_view key) { return member(key); }) && json_.at_end();
    if (!image_) return std::unexpected(image_.error());
    if (!sound) return fail(ErrorKind::corrupt, "the body is not valid JSON, or a field has the wrong type");
    if (completion_tokens_max_) request_.tokens_max = completion_tokens_max_;
    if (request_.images == 0) {
      Sha256 hash;
      hash.update(std::string_view(request_.text));
      request_.digest = hash.finish();
    }
    return std::move(request_);
  }

 private:
  bool member(std::string_view key) {
    if (key == "stream") return flag(request_.stream);
    if (key == "model") return text(request_.model);
    if (key == "max_tokens") return number(request_.tokens_max);
    if (key == "max_completion_tokens") return number(completion_tokens_max_);
    if (key == "logprobs") return flag(request_.logprobs);
    if (key == "top_logprobs")
      return number(top_logprobs_) && (request_.top_logprobs = top_logprobs_.value_or(0), true);
    if (key == "stream_options") return stream_options();
    if (key == "messages") return json_.for_each_element([&] { return message(); });
    return json_.skip();
  }

  bool stream_options() {
    if (json_.peek() != '{') return json_.scalar() == "null";
    request_.has_stream_options = true;
    return json_.for_each_member(
        [&](std::string_view key) { return key == "include_usage" ? flag(request_.include_usage) : json_.skip(); });
  }

  bool message() {
    return json_.for_each_member([&](std::string_view key) {
      if (key != "content") return json_.skip();
      if (json_.peek() == '"') return text(request_.text);
      if (json_.peek() == '[') return json_.for_each_element([&] { return part(); });
      return json_.skip();
    });
  }

  bool part() {
    return json_.for_each_member([&](std::string_view key) {
      if (key == "text") return text(request_.text);
      if (key != "image_url") return json_.skip();
      if (json_.peek() == '"') return image();
      return json_.for_each_member([&](std::string_view inner) { return inner == "url" ? image() : json_.skip(); });
    });
  }

  bool image() {
    const auto url = json_.string();
    if (!url) return false;
    if (++request_.images == 1) image_ = read_image(*url, request_);
    return image_.has_value();
  }

  bool flag(bool& to) {
    const auto value = json_.scalar();
    to = value == "true";
    return to || value == "false" || value == "null";
  }

  bool number(std::optional<int>& to) {
    const auto value = json_.scalar();
    if (!value) return false;
    if (*value == "null") return true;
    double exact = 0;
    std::from_chars(value->data(), value->data() + value->size(), exact);
    if (exact < -1 || exact > 1e9) return false;
    to = static_cast<int>(exact);
    return true;
  }

  bool text(std::string& to) {
    if (json_.peek() != '"') return json_.scalar() == "null";
    const auto raw = json_.string();
    const auto plain = raw ? unescaped(*raw) : std::nullopt;
    if (plain) to += *plain;
    return plain.has_value();
  }

  JsonScan json_;
  ChatRequest request_;
  std::optional<int> completion_tokens_max_;
  std::optional<int> top_logprobs_;
  Status image_;
};

}  // namespace

Result<ChatRequest> scan_chat_request(std::string_view body) {
  return Scanner(body).run();
}

}  // namespace lectern::sim
