#include "document/render/reopen_policy.h"

namespace lectern::document {
namespace {
constexpr int opening_share = 50;  // one part in so many: 2%
}  // namespace

bool should_reopen(const OpenSpell& spell) {
  if (spell.grown_bytes > growth_bytes_max) return spell.opening <= spell.lasted;
  return spell.pages >= pages_between_openings && spell.opening * opening_share <= spell.lasted;
}

}  // namespace lectern::document
