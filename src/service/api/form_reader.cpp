#include "service/api/form_reader.h"

#include <fmt/format.h>

namespace lectern::service {
namespace {

namespace asio = boost::asio;

constexpr std::size_t buffer_bytes = 256 * 1024;
constexpr std::size_t hash_here_bytes = 16 * 1024;  // less than going to another thread costs
constexpr std::int64_t fields_bytes_max = 256 * 1024;

Problem bad_body(std::string detail) {
  return {.code = ProblemCode::invalid_body, .detail = std::move(detail)};
}

}  // namespace

asio::awaitable<std::expected<ReceivedForm, Problem>> FormReader::read() {
  if (auto trouble = co_await read_parts()) co_return std::unexpected(std::move(*trouble));
  if (auto trouble = co_await finish()) co_return std::unexpected(std::move(*trouble));
  co_return std::move(form_);
}

asio::awaitable<FormReader::Trouble> FormReader::read_parts() {
  for (;;) {
    MultipartParser::Event event = parser_.next();
    Trouble trouble;
    if (std::holds_alternative<MultipartParser::NeedMore>(event)) {
      const auto piece = co_await exchange_->read_body();
      if (!piece) co_return piece.error();
      if (piece->empty()) co_return bad_body("the body ends before its last boundary");
      parser_.feed(*piece);
    } else if (auto* part = std::get_if<MultipartParser::PartBegins>(&event)) {
      trouble = co_await begin_part(std::move(*part));
    } else if (const auto* data = std::get_if<MultipartParser::Data>(&event)) {
      trouble = co_await take(data->bytes);
    } else if (std::holds_alternative<MultipartParser::PartEnds>(event)) {
      trouble = co_await end_part();
    } else if (const auto* fault = std::get_if<MultipartParser::Fault>(&event)) {
      co_return bad_body(fault->what);
    } else {
      break;
    }
    if (trouble) co_return trouble;
  }
  // What follows the last boundary means nothing, but it belongs to this request.
  for (;;) {
    const auto piece = co_await exchange_->read_body();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return std::nullopt;
  }
}

asio::awaitable<FormReader::Trouble> FormReader::begin_part(MultipartParser::PartBegins part) {
  field_ = std::move(part.name);
  value_.clear();
  in_file_ = field_ == "file";
  if (!in_file_) {
    if (part.filename) co_return bad_body("only the part named 'file' may be a file");
    co_return std::nullopt;
  }
  if (writer_) co_return bad_body("there is more than one part named 'file'; send each document as a job of its own");
  form_.filename = document_name(part.filename.value_or(""));
  auto writer = co_await api_.parts.blobs.writer(key_, job::PutMode::create_only);
  if (!writer) co_return problem_of(writer.error());
  writer_ = std::move(*writer);
  co_return std::nullopt;
}

asio::awaitable<FormReader::Trouble> FormReader::take(std::string_view bytes) {
  if (!in_file_) {
    fields_bytes_ += static_cast<std::int64_t>(bytes.size());
    if (fields_bytes_ > fields_bytes_max) co_return bad_body("the fields beside the document are too long");
    value_ += bytes;
    co_return std::nullopt;
  }
  form_.bytes += static_cast<std::int64_t>(bytes.size());
  if (form_.bytes > api_.options.upload_bytes_max) {
    co_return Problem{.code = ProblemCode::payload_too_large,
                      .detail = fmt::format("a document may have at most {} bytes", api_.options.upload_bytes_max)};
  }
  buffer_ += bytes;
  if (buffer_.size() >= buffer_bytes) co_return co_await flush();
  co_return std::nullopt;
}

asio::awaitable<FormReader::Trouble> FormReader::flush() {
  if (buffer_.empty()) co_return std::nullopt;
  if (buffer_.size() <= hash_here_bytes) {
    sha256_.update(buffer_);
  } else {
    co_await api_.parts.cpu.run([this] {
      sha256_.update(buffer_);
      return true;
    });
  }
  const Status written = co_await writer_->write(std::exchange(buffer_, {}));
  if (!written) co_return problem_of(written.error());
  co_return std::nullopt;
}

asio::awaitable<FormReader::Trouble> FormReader::end_part() {
  if (in_file_) co_return co_await flush();
  if (auto set = set_field(form_.submission, field_, value_); !set) co_return set.error();
  co_return std::nullopt;
}

asio::awaitable<FormReader::Trouble> FormReader::finish() {
  if (!writer_) co_return bad_body("the form has no part named 'file'");
  if (form_.bytes == 0) co_return bad_body("the file is empty");
  form_.sha256 = to_hex(sha256_.finish());
  auto committed = co_await writer_->commit();
  if (!committed) co_return problem_of(committed.error());
  api_.metrics.count("lectern_uploads_total", "Documents that were uploaded", {});
  api_.metrics.count("lectern_upload_bytes_total", "Bytes of documents that were uploaded", {},
                     static_cast<double>(form_.bytes));
  co_return std::nullopt;
}

}  // namespace lectern::service
