// A form with a document in it, read as it comes: the document goes straight to the blobs, hashed on the way; the other
// fields are checked. In memory at most one buffer of the document and the small fields.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "job/blobs.h"
#include "service/api/context.h"
#include "service/http/message.h"
#include "service/multipart.h"
#include "service/submission.h"

namespace lectern::service {

struct ReceivedForm {
  Submission submission;
  std::string filename;
  std::int64_t bytes = 0;
  std::string sha256;
};

class FormReader {
 public:
  // `key`: of the blob that the document becomes.
  FormReader(ApiContext& api, http::ExchangePtr exchange, std::string_view boundary, std::string key)
      : api_(api), exchange_(std::move(exchange)), key_(std::move(key)), parser_(boundary) {}

  // Once. With success the blob is there; after a problem nothing is left of it.
  boost::asio::awaitable<std::expected<ReceivedForm, Problem>> read();

 private:
  using Trouble = std::optional<Problem>;

  boost::asio::awaitable<Trouble> read_parts();
  boost::asio::awaitable<Trouble> begin_part(MultipartParser::PartBegins part);
  boost::asio::awaitable<Trouble> take(std::string_view bytes);
  boost::asio::awaitable<Trouble> flush();
  boost::asio::awaitable<Trouble> end_part();
  boost::asio::awaitable<Trouble> finish();

  ApiContext& api_;
  const http::ExchangePtr exchange_;
  const std::string key_;
  MultipartParser parser_;
  ReceivedForm form_;
  std::string field_;  // the name of the part that is being read; empty = the document
  std::string value_;
  std::int64_t fields_bytes_ = 0;
  bool in_file_ = false;
  std::unique_ptr<job::BlobWriter> writer_;
  std::string buffer_;  // of the document: hashed and written when it is full
  Sha256 sha256_;
};

}  // namespace lectern::service
