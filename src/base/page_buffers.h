// How a process that pages pass through keeps its memory.
#pragma once

namespace lectern {

// Every page needs the same few buffers of some megabytes. Given back to the kernel after each page they would have to
// be cleared and mapped again for the next, which costs a tenth of a scan's time. Call it first thing in main().
void keep_page_buffers();

}  // namespace lectern
