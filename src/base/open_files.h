// How many files, pipes and sockets this process may have open.
#pragma once

namespace lectern {

// As many as the system lets us: many documents, engines and clients at a time are our daily work. Call it first thing
// in main().
void allow_many_open_files();

int open_files_max();

}  // namespace lectern
