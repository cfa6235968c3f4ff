// The walls around a renderer. enter_sandbox() puts them up one after another, before the first byte of a document is
// read; none can be taken down again. Each layer alone would stop most of what a taken-over renderer could try:
//
//   namespaces    no network but an empty one, no shared memory of others, an empty root folder, no capabilities
//   limits        memory, descriptors, file sizes, no core dumps, dies with its host
//   Landlock      no file can be opened, no TCP port used, nobody signalled
//   seccomp       a short list of system calls on descriptors that are already open; see seccomp_filter.cpp
//
// A layer that the kernel does not offer is not fatal: it is missing from the report, with a sentence for people.
#pragma once

#include <cstdint>

#include "document/sandbox_report.h"

namespace lectern::document {

struct SandboxOptions {
  std::int64_t memory_bytes = 0;   // what the process may allocate; the mapped document itself does not count
  std::uint64_t window_bytes = 0;  // the largest file it may write, which is the window
};

// REQUIRES: single-threaded.
SandboxReport enter_sandbox(const SandboxOptions& options);

// The layers, in the order in which they must go up. Each notes in the report what is in force and what is missing.
void enter_namespaces(SandboxReport& report);
void limit_resources(const SandboxOptions& options, SandboxReport& report);
void restrict_with_landlock(SandboxReport& report);
void filter_system_calls(SandboxReport& report);

}  // namespace lectern::document
