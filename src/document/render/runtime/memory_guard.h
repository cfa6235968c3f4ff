// Tells a crash for want of memory from any other. PDFium ends the process when an allocation fails, by a trap that
// looks like a bug; the host should say "needs more memory" instead.
#pragma once

namespace lectern::document {

// From here on, a process that is about to die of a signal after an allocation was refused exits with
// exit_out_of_memory. Does nothing in sanitizer builds, whose runtimes have their own ways.
void install_memory_guard();
// Forgets refused allocations: what comes next starts with a clean record.
void reset_memory_guard();

}  // namespace lectern::document
