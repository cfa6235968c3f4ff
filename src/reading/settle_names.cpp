#include "reading/settle_names.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace lectern::reading {
namespace {

namespace fs = std::filesystem;

// The last `parts` components of an absolute path; empty when it has fewer.
std::string tail_of(const std::string& source, std::ptrdiff_t parts) {
  const fs::path path = fs::path(source).relative_path();
  const auto all = std::distance(path.begin(), path.end());
  if (!fs::path(source).is_absolute() || parts > all) return {};
  fs::path tail;
  for (auto it = std::next(path.begin(), all - parts); it != path.end(); ++it) tail /= *it;
  return tail.string();
}

class Settling {
 public:
  Settling(const Owners& owners, std::span<const Claimant> claimants, const SameDocument& same)
      : owners_(owners), claimants_(claimants), same_(same), settled_(claimants.size()) {}

  std::vector<Settled> settle() {
    // By source, so that the order of the arguments does not matter.
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < claimants_.size(); ++i) {
      if (!keep(i, owners_.from(claimants_[i].source))) rest.push_back(i);
    }
    std::ranges::sort(rest, {}, [this](std::size_t i) { return claimants_[i].source; });
    // First those who come back, then those who get what they want, then those who have to give way.
    std::erase_if(rest, [this](std::size_t i) { return come_back(i, claimants_[i].name); });
    std::erase_if(rest, [this](std::size_t i) { return take(i, claimants_[i].name, claimants_[i].stem); });
    for (const std::size_t i : rest) give_way(i);
    return std::move(settled_);
  }

 private:
  bool keep(std::size_t i, const Owner* owner) {
    if (owner == nullptr || !names_.insert(owner->document).second) return false;
    settled_[i] = {owner->document, owner->stem, true};
    stems_.insert(owner->stem);
    return true;
  }
  bool come_back(std::size_t i, const std::string& name) {
    const Owner* owner = owners_.named(name);
    return owner != nullptr && !names_.contains(name) && same_(*owner, i) && keep(i, owner);
  }
  bool take(std::size_t i, const std::string& name, const std::string& stem) {
    if (owners_.named(name) != nullptr || names_.contains(name)) return false;
    for (const std::string& candidate : {stem, name}) {
      if (owners_.has_stem(candidate) || stems_.contains(candidate)) continue;
      settled_[i] = {name, candidate, false};
      names_.insert(name);
      stems_.insert(candidate);
      return true;
    }
    return false;
  }
  void give_way(std::size_t i) {
    const fs::path name = claimants_[i].name;
    for (auto parts = std::distance(name.begin(), name.end()) + 1;; ++parts) {
      const std::string longer = tail_of(claimants_[i].source, parts);
      if (longer.empty() || come_back(i, longer) || take(i, longer, fs::path(longer).replace_extension().string())) {
        return;
      }
    }
  }

  const Owners& owners_;
  const std::span<const Claimant> claimants_;
  const SameDocument& same_;
  std::vector<Settled> settled_;
  std::set<std::string> names_;  // given in this run
  std::set<std::string> stems_;  // likewise
};

}  // namespace

std::vector<Settled> settle_names(const Owners& owners, std::span<const Claimant> claimants, const SameDocument& same) {
  return Settling(owners, claimants, same).settle();
}

}  // namespace lectern::reading
