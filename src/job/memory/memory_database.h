// A Database in memory, on one thread: for tests of what stands above the store.
#pragma once

#include <memory>

#include "base/clock.h"
#include "job/database.h"

namespace lectern::job {

// The clock is borrowed: its wall time is the database's.
std::unique_ptr<Database> make_memory_database(const Clock& clock);

}  // namespace lectern::job
