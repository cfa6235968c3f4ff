#include "reading/model/reply_cache.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <atomic>

#include "base/hash.h"

namespace lectern::reading {
namespace {

using Json = nlohmann::json;
constexpr int format_version = 1;  // of the files; others are ignored
constexpr std::size_t file_bytes_max = std::size_t{16} << 20;

// Lengths before contents: no two questions give the same bytes.
class QuestionHash {
 public:
  QuestionHash& add(std::string_view text) {
    hash_.update(fmt::format("{}:", text.size()));
    hash_.update(text);
    return *this;
  }
  QuestionHash& add(std::span<const std::uint8_t> bytes) {
    hash_.update(fmt::format("{}:", bytes.size()));
    hash_.update(bytes);
    return *this;
  }
  template <class T>
  QuestionHash& add_optional(const std::optional<T>& value) {
    return add(value ? fmt::format("{}", *value) : "-");
  }
  std::string finish() { return to_hex(hash_.finish()); }

 private:
  Sha256 hash_;
};

std::optional<provider::FinishReason> finish_from(std::string_view name) {
  using enum provider::FinishReason;
  for (const auto reason : {stop, length, content_filter, abort, repetition, cut, unknown}) {
    if (to_string(reason) == name) return reason;
  }
  return std::nullopt;
}

}  // namespace

std::string question_hash(const provider::Prompt& prompt, std::string_view engine_extras) {
  const provider::Parameters& p = prompt.parameters;
  QuestionHash hash;
  hash.add("lectern question 1").add(prompt.model).add(prompt.system).add(prompt.user);
  hash.add(fmt::format("{} {}", p.tokens_max, p.temperature));
  hash.add_optional(p.top_p).add_optional(p.repetition_penalty).add_optional(p.frequency_penalty).add_optional(p.seed);
  hash.add(fmt::format("{} {}", p.stop.size(), p.logprobs));
  for (const std::string& stop : p.stop) hash.add(stop);
  hash.add(p.json_schema).add(p.extra_body);
  for (const provider::PromptImage& image : prompt.images) hash.add(image.media_type).add(std::span(*image.bytes));
  if (!engine_extras.empty()) hash.add("engines").add(engine_extras);
  return hash.finish();
}

std::filesystem::path ReplyCache::file_of(const std::string& question) const {
  return folder_ / question.substr(0, 2) / (question.substr(2) + ".json");
}

std::optional<provider::Reply> ReplyCache::find(const std::string& question) const {
  const auto bytes = read_file(file_of(question), file_bytes_max);
  if (!bytes) return std::nullopt;
  const Json json = Json::parse(*bytes, nullptr, false);
  if (!json.is_object() || json.value("lectern_reply", 0) != format_version) return std::nullopt;
  // Torn by a crash, or edited: the sum over the text tells.
  const auto text = json.find("text");
  const auto sum = json.find("crc32c");
  const auto finish = json.find("finish");
  if (text == json.end() || !text->is_string() || sum == json.end() || !sum->is_number_unsigned() ||
      finish == json.end() || !finish->is_string()) {
    return std::nullopt;
  }
  provider::Reply reply;
  reply.text = text->get<std::string>();
  if (crc32c(reply.text) != sum->get<std::uint32_t>()) return std::nullopt;
  const auto reason = finish_from(finish->get<std::string>());
  if (!reason) return std::nullopt;
  reply.finish = *reason;
  if (const auto model = json.find("model"); model != json.end() && model->is_string()) reply.model = *model;
  if (const auto mean = json.find("mean_logprob"); mean != json.end() && mean->is_number()) reply.mean_logprob = *mean;
  reply.attempts = 0;
  return reply;
}

Status ReplyCache::keep(const std::string& question, const provider::Reply& reply) const {
  Json json{{"lectern_reply", format_version},
            {"text", reply.text},
            {"crc32c", crc32c(reply.text)},
            {"finish", to_string(reply.finish)},
            {"model", reply.model}};
  if (reply.mean_logprob) json["mean_logprob"] = *reply.mean_logprob;
  const std::filesystem::path file = file_of(question);
  if (auto made = disk_.make_folders(file.parent_path()); !made) return made;
  // Renamed into place, but not made durable page by page: after a power cut the sum tells what is whole.
  static std::atomic<std::uint64_t> counter{0};
  std::filesystem::path temporary = file;
  temporary += fmt::format(".{}-{}.tmp", ::getpid(), ++counter);
  auto fd = disk_.create(temporary);
  if (!fd) return std::unexpected(fd.error());
  const std::string bytes = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  Status written = disk_.write_all(fd->get(), bytes, temporary);
  if (written) written = disk_.rename(temporary, file);
  if (!written) {
    // What failed matters more than the leftover, which nobody reads.
    static_cast<void>(disk_.remove(temporary));
  }
  return written;
}

}  // namespace lectern::reading
