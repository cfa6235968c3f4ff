// The header fields of a message, in their order. Names are compared without regard to case.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::service::http {

struct Field {
  std::string name;
  std::string value;
  bool operator==(const Field&) const = default;
};

class Fields {
 public:
  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  // The first such field.
  std::optional<std::string_view> find(std::string_view name) const;
  int count(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool operator==(const Fields&) const = default;

 private:
  std::vector<Field> fields_;
};

bool same_name(std::string_view a, std::string_view b);  // ASCII, without regard to case
bool is_token(std::string_view text);                    // of RFC 9110, not empty
std::string_view trimmed(std::string_view text);         // without blanks and tabs around it
std::string lower_case(std::string_view text);           // ASCII
// The members of "a, b;c, d": split at commas (quoted ones do not split), trimmed, empty ones left out.
std::vector<std::string_view> list_members(std::string_view value);

}  // namespace lectern::service::http
