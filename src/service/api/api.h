// The routes of the API: api/openapi.yaml describes them, and a test compares the two.
#pragma once

#include "service/api/context.h"
#include "service/http/router.h"

namespace lectern::service {

// The context is borrowed.
void add_routes(http::Router& router, ApiContext& api);

}  // namespace lectern::service
