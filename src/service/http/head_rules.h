// What the head of a request must look like before anything is made of it. Stricter than a parser has to be: whatever
// two programs could read differently (a proxy in front, and this one) is refused, because a request that is smuggled
// past a proxy begins there. RFC 9112, sections 2.2, 3.2, 5.1, 5.2, 6.1-6.3, 7.1.
#pragma once

#include <optional>
#include <string_view>

#include "service/problem.h"

namespace lectern::service::http {

constexpr std::size_t target_bytes_max = 8 * 1024;
constexpr std::size_t fields_max = 100;

// `head`: from the request line through the empty line that ends it. Nothing: it keeps all the rules.
std::optional<Problem> broken_rule(std::string_view head);

// Whether bytes that do not hold a whole head yet can still become one. Other protocols and bare line feeds are told
// apart at once, instead of when the time is up.
bool could_be_head(std::string_view bytes);

}  // namespace lectern::service::http
