// Before a run in a folder reads anything: every document gets its name there, and what it may write is settled and
// made durable. Private to reading/.
#pragma once

#include "reading/run_context.h"

namespace lectern::reading {

// Renames the run's documents as settle_names() says, and fills context.owners, context.new_owners and
// context.refusals. Looks at files: for the CPU pool. REQUIRES: context.kept() and a manifest. Errors end the run: the
// folder cannot be read or written.
Status claim_outputs(RunContext& context);

}  // namespace lectern::reading
