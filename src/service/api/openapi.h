// api/openapi.yaml as JSON, made at build time.
#pragma once

#include <string_view>

namespace lectern::service {

std::string_view openapi_json();

}  // namespace lectern::service
