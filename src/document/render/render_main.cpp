// lectern-render: reads one document at a time on behalf of lectern, inside a sandbox. Not meant to be run by hand: it
// is born with a socket and a window of shared memory as its only descriptors (process_contract.h).
#include <unistd.h>

#include <cstdio>

#include "base/page_buffers.h"
#include "document/render/arguments.h"
#include "document/render/backend.h"
#include "document/render/runtime/memory_guard.h"
#include "document/render/sandbox.h"
#include "document/render/serve.h"

int main(int argc, char** argv) {
  using namespace lectern::document;
  lectern::keep_page_buffers();
  const auto arguments = parse_arguments({argv, static_cast<std::size_t>(argc)});
  if (!arguments) {
    std::fprintf(stderr, "%s\n", arguments.error().for_log.c_str());
    return 2;
  }
  ServeOptions options;
  options.window_bytes = arguments->window_bytes;
  options.open = open_backend;
  // Everything that needs files happens here, before the first byte of a document is seen.
  if (auto loaded = pdfium_load(arguments->pdfium); !loaded) {
    send_start_error(options, loaded.error());
    return 1;
  }
  install_memory_guard();
  options.before_call = reset_memory_guard;
  SandboxReport report = enter_sandbox({arguments->memory_bytes, arguments->window_bytes});
  report.pdfium_build_id = pdfium_info().build_id;
  // Not exit(): what libraries would tidy up at the end is the kernel's to reclaim, and their code has seen the
  // document.
  _exit(serve(options, report));
}
