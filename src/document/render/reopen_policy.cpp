#include "document/render/reopen_policy.h"

namespace lectern::document {
namespace {
// Opening may take one part in so many of the time.
constexpr int share_usually = 50;
constexpr int share_when_grown = 5;
}  // namespace

bool should_reopen(const OpenSpell& spell) {
  if (spell.grown_bytes > growth_bytes_max) return spell.opening <= spell.lasted;
  if (spell.grown_bytes > growth_bytes_noticed) return spell.opening * share_when_grown <= spell.lasted;
  return spell.pages >= pages_between_openings && spell.opening * share_usually <= spell.lasted;
}

}  // namespace lectern::document
