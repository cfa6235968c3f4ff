// From settings to the parts that reading is made of.
#pragma once

#include "base/config.h"
#include "document/renderer_pool.h"
#include "reading/page_reader.h"

namespace lectern::cli {

int parallel_pages(const Config& config);  // "auto" resolved
// Threads for CPU work, and renderers. While models read, --parallel speaks of requests, and these stay at one a core.
int cpu_threads(const Config& config, bool models);
document::RendererPoolOptions renderer_options(const Config& config, int processes);
reading::BuiltinReaderOptions reader_options(const Config& config, bool force_ocr);
void set_up_logs(const Config& config, bool json);

}  // namespace lectern::cli
