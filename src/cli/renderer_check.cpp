#include "cli/renderer_check.h"

#include <boost/asio/io_context.hpp>

#include "cli/event_loop.h"
#include "cli/run_setup.h"

namespace lectern::cli {

Result<document::SandboxReport> start_renderer(const Config& config) {
  boost::asio::io_context loop(1);
  document::RendererPool pool(loop.get_executor(), renderer_options(config, 1));
  return run_on(loop, pool.check());
}

Status check_renderer(const Config& config) {
  const auto report = start_renderer(config);
  if (!report) return std::unexpected(broken_installation(report.error()));
  return {};
}

Error broken_installation(const Error& error) {
  return {ErrorKind::unavailable, error.for_log,
          fmt::format("{}\nto mend: {}; lectern doctor checks it", error.for_caller, renderer_mend)};
}

}  // namespace lectern::cli
