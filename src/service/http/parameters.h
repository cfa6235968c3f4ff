// Values with parameters, and choosing among them: Content-Type, Content-Disposition, Accept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lectern::service::http {

struct Parameterized {
  std::string value;                                            // what stands before the first semicolon
  std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case, values without quotes
};
// "form-data; name=\"a\"". Nothing: it is not of this form.
std::optional<Parameterized> parse_parameters(std::string_view text);

// Which of the types Accept likes best, as an index; among equals the first. Nothing: none of them. An empty Accept
// likes everything.
std::optional<std::size_t> preferred_type(std::string_view accept, std::span<const std::string_view> types);

// "attachment; filename=\"a_.md\"; filename*=UTF-8''a%C3%A4.md" (RFC 6266).
std::string content_disposition(std::string_view kind, std::string_view filename);

}  // namespace lectern::service::http
