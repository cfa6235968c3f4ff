// What a renderer may use and what holds it in. Shared by host and renderer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace lectern::document {

struct RendererLimits {
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  std::chrono::milliseconds page_timeout{20'000};
  std::chrono::milliseconds open_timeout{20'000};
  std::int64_t pixels_max = 40'000'000;
};

// Which layers of the sandbox are in force, and which PDF library is loaded, as the first renderer reported them.
struct SandboxReport {
  bool seccomp = false;
  int landlock_abi = 0;  // 0 = the kernel has none
  bool rlimits = false;
  bool network_namespace = false;
  std::vector<std::string> missing;  // one sentence each, for people
  std::string pdfium_build_id;       // of the library in use; empty when it has none
  bool operator==(const SandboxReport&) const = default;
};

}  // namespace lectern::document
