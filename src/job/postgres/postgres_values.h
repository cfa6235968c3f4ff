// Values on their way to PostgreSQL and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct pg_result;

namespace lectern::job {

// PostgreSQL keeps no zero byte and nothing that is not UTF-8 in a text; what documents and programs say may hold
// either. Each such byte becomes U+FFFD.
std::string storable_text(std::string_view text);

// The parameters of a statement, in order. Arrays go in binary form: nothing has to be quoted.
class PostgresParameters {
 public:
  template <class... Values>
  explicit PostgresParameters(const Values&... values) {
    (add(values), ...);
  }
  void add(std::int64_t value);
  void add(int value) { add(static_cast<std::int64_t>(value)); }
  void add(bool value) { add(static_cast<std::int64_t>(value)); }
  void add(const std::optional<std::int64_t>& value);
  void add(std::string_view value);
  void add(const std::string& value) { add(std::string_view(value)); }
  void add(const std::vector<std::int64_t>& values);                 // bigint[]
  void add(const std::vector<std::optional<std::int64_t>>& values);  // bigint[] with nulls
  void add(const std::vector<std::string>& values);                  // text[]

  struct One {
    std::string bytes;
    bool null = false;
    bool binary = false;
  };
  const std::vector<One>& all() const { return values_; }

 private:
  std::vector<One> values_;
};

// The answer to one statement: rows whose columns are read in order.
class PostgresRows {
 public:
  explicit PostgresRows(pg_result* result);
  int count() const { return count_; }
  std::int64_t affected() const;  // rows that were changed
  std::string_view command() const;

  bool next();  // to the first, the second… row; false behind the last
  std::int64_t number();
  std::optional<std::int64_t> maybe_number();
  std::string text();

 private:
  struct Free {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Free> result_;
  int count_;
  int row_ = -1;
  int column_ = 0;
};

}  // namespace lectern::job
