// The names of a run's documents in a folder where earlier runs have left theirs. Pure: what files are like is asked
// of the caller.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "reading/owners.h"

namespace lectern::reading {

// A document that wants a name.
struct Claimant {
  std::string name;    // unique in its run
  std::string stem;    // likewise
  std::string source;  // absolute path; its tail makes longer names. "-" = standard input
};

struct Settled {
  std::string name;  // empty = there is none left for it
  std::string stem;
  bool known = false;  // it owned this name before
  bool operator==(const Settled&) const = default;
};

// Whether the document is the one that an owner of another path was: the same bytes, or moved together with the folder.
using SameDocument = std::function<bool(const Owner&, std::size_t claimant)>;

// A document that owns a name keeps it, whoever joins it. A name that another document owns is not given away: the
// newcomer's grows by a parent folder until it is free, and its stem keeps the extension where another's stem is the
// same ("a.jpg" beside "a.pdf"). Does not depend on the order of the claimants.
std::vector<Settled> settle_names(const Owners& owners, std::span<const Claimant> claimants, const SameDocument& same);

}  // namespace lectern::reading
