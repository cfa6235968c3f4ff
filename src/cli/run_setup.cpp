#include "cli/run_setup.h"

#include <chrono>
#include <cmath>

#include "base/async.h"

namespace lectern::cli {

int parallel_pages(const Config& config) {
  return config.text("read.parallel") == "auto" ? hardware_threads()
                                                : static_cast<int>(config.integer("read.parallel"));
}

int cpu_threads(const Config& config, bool models) {
  const bool by_flag = config.value("read.parallel").origin == Origin::flag;
  return models && by_flag ? hardware_threads() : parallel_pages(config);
}

document::RendererPoolOptions renderer_options(const Config& config, int processes) {
  document::RendererPoolOptions options;
  options.renderer = config.text("render.program");
  options.pdfium = config.text("render.pdfium");
  options.processes = processes;
  options.limits.memory_bytes = config.integer("render.memory_mib") << 20U;
  const std::chrono::duration<double> timeout(config.number("render.page_timeout_s"));
  options.limits.page_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  options.limits.open_timeout = options.limits.page_timeout;
  options.limits.pixels_max = config.integer("render.megapixels_max") * 1'000'000;
  return options;
}

reading::BuiltinReaderOptions reader_options(const Config& config, bool force_ocr) {
  return {.languages = config.text("read.lang"),
          .tessdata_folder = config.text("read.tessdata"),
          .force_ocr = force_ocr,
          .auto_rotate = config.boolean("read.auto_rotate"),
          .ocr_time_limit = std::chrono::milliseconds(std::llround(config.number("read.ocr_timeout_s") * 1000))};
}

telemetry::LogLevel log_level(const Config& config, bool quiet) {
  using telemetry::LogLevel;
  if (quiet && config.value("log.level").origin == Origin::default_value) return LogLevel::error;
  const std::string name = config.text("log.level");
  return name == "debug"     ? LogLevel::debug
         : name == "info"    ? LogLevel::info
         : name == "warning" ? LogLevel::warning
         : name == "error"   ? LogLevel::error
                             : LogLevel::off;
}

}  // namespace lectern::cli
