// From settings to the parts that reading is made of.
#pragma once

#include "base/config.h"
#include "document/renderer_pool.h"
#include "reading/page_reader.h"
#include "telemetry/log.h"

namespace lectern::cli {

int parallel_pages(const Config& config);  // "auto" resolved
// Threads for CPU work, and renderers. While models read, --parallel speaks of requests, and these stay at one a core.
int cpu_threads(const Config& config, bool models);
document::RendererPoolOptions renderer_options(const Config& config, int processes);
reading::BuiltinReaderOptions reader_options(const Config& config, bool force_ocr);
// What the settings say; where they say nothing, warnings, or errors alone when the command is to be quiet.
telemetry::LogLevel log_level(const Config& config, bool quiet);

}  // namespace lectern::cli
