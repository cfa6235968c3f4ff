#include "job/postgres/postgres_values.h"

#include <libpq-fe.h>

#include <charconv>

namespace lectern::job {
namespace {

constexpr std::int32_t oid_of_bigint = 20;
constexpr std::int32_t oid_of_text = 25;
constexpr std::string_view replacement = "\xEF\xBF\xBD";

void append_big_endian(std::string& to, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(value >> (8U * static_cast<unsigned>(i)) & 0xffU);
}

void append_int32(std::string& to, std::int64_t value) {
  append_big_endian(to, static_cast<std::uint64_t>(value), 4);
}

// One dimension, counted from 1.
std::string array_header(std::size_t count, bool nulls, std::int32_t element) {
  std::string bytes;
  append_int32(bytes, count == 0 ? 0 : 1);
  append_int32(bytes, nulls ? 1 : 0);
  append_int32(bytes, element);
  if (count == 0) return bytes;
  append_int32(bytes, static_cast<std::int64_t>(count));
  append_int32(bytes, 1);
  return bytes;
}

void append_element(std::string& to, std::int64_t value) {
  append_int32(to, 8);
  append_big_endian(to, static_cast<std::uint64_t>(value), 8);
}

// The length of the sound UTF-8 character that `text` begins with; 0 = there is none, or it is the zero byte.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool beyond = first == 0xf4 && second >= 0x90;
  return too_long || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string storable_text(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    kept.append(length == 0 ? replacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return kept;
}

void PostgresParameters::add(std::int64_t value) {
  values_.push_back({.bytes = std::to_string(value)});
}

void PostgresParameters::add(const std::optional<std::int64_t>& value) {
  if (value) return add(*value);
  values_.push_back({.null = true});
}

void PostgresParameters::add(std::string_view value) {
  values_.push_back({.bytes = storable_text(value)});
}

void PostgresParameters::add(const std::vector<std::int64_t>& values) {
  std::string bytes = array_header(values.size(), false, oid_of_bigint);
  for (const std::int64_t value : values) append_element(bytes, value);
  values_.push_back({.bytes = std::move(bytes), .binary = true});
}

void PostgresParameters::add(const std::vector<std::optional<std::int64_t>>& values) {
  std::string bytes = array_header(values.size(), true, oid_of_bigint);
  for (const auto& value : values) {
    if (value) {
      append_element(bytes, *value);
    } else {
      append_int32(bytes, -1);
    }
  }
  values_.push_back({.bytes = std::move(bytes), .binary = true});
}

void PostgresParameters::add(const std::vector<std::string>& values) {
  std::string bytes = array_header(values.size(), false, oid_of_text);
  for (const std::string& value : values) {
    const std::string kept = storable_text(value);
    append_int32(bytes, static_cast<std::int64_t>(kept.size()));
    bytes += kept;
  }
  values_.push_back({.bytes = std::move(bytes), .binary = true});
}

void PostgresRows::Free::operator()(pg_result* result) const {
  PQclear(result);
}

PostgresRows::PostgresRows(pg_result* result) : result_(result), count_(PQntuples(result)) {}

std::int64_t PostgresRows::affected() const {
  const std::string_view text = PQcmdTuples(result_.get());
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view PostgresRows::command() const {
  return PQcmdStatus(result_.get());
}

bool PostgresRows::next() {
  column_ = 0;
  return ++row_ < count_;
}

std::int64_t PostgresRows::number() {
  const char* text = PQgetvalue(result_.get(), row_, column_);
  std::int64_t value = 0;
  std::from_chars(text, text + PQgetlength(result_.get(), row_, column_), value);
  ++column_;
  return value;
}

std::optional<std::int64_t> PostgresRows::maybe_number() {
  if (PQgetisnull(result_.get(), row_, column_) == 0) return number();
  ++column_;
  return std::nullopt;
}

std::string PostgresRows::text() {
  const char* text = PQgetvalue(result_.get(), row_, column_);
  const auto bytes = static_cast<std::size_t>(PQgetlength(result_.get(), row_, column_));
  ++column_;
  return {text, bytes};
}

}  // namespace lectern::job
