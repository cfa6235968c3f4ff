// The owners of an output folder as its files tell. Folders of earlier versions, and those whose .lectern was deleted,
// have no list of them: then journals and the manifest tell what Lectern wrote. Private to reading/.
#pragma once

#include "base/clock.h"
#include "reading/manifest.h"
#include "reading/output_folder.h"
#include "reading/owners.h"

namespace lectern::reading {

Result<Owners> known_owners(const OutputFolder& folder, Disk& disk, const Clock& clock, const Manifest& manifest);

}  // namespace lectern::reading
