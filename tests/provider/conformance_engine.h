// The engine side of provider_conformance.h for TestServer: a chat completions server that understands its questions.
// Streams when asked to.
#pragma once

#include <memory>

#include "provider/test_server.h"

namespace lectern::provider {

boost::asio::awaitable<void> conformance_script(std::shared_ptr<TestServer::Exchange> exchange);

}  // namespace lectern::provider
