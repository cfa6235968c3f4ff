// When is saying the same thing again a loop? Pure: what is repeated and how much of it in, yes or no out.
#pragma once

#include <span>

#include "reading/model/symbols.h"

namespace lectern::reading {

// One turn of what may be a loop.
struct LoopUnit {
  int symbols = 0;
  int chars = 0;
  int letters = 0;  // an ideograph counts for three
  int digits = 0;
  int rows = 0;         // line breaks, rows of HTML tables
  bool table = false;   // has cells
  bool markup = false;  // and these are tags
  int filler = 0;       // characters that are neither letters nor digits
  double tokens = 0;    // about as many as a model needs for it
};
LoopUnit loop_unit(std::span<const Symbol> symbols);

// `turns`: how often the unit came again after its first time; not whole while a turn is on its way.
bool is_loop(const LoopUnit& unit, double turns);
// The same when only numbers differ between the turns and these count up evenly.
bool is_counting_loop(const LoopUnit& unit, double turns);

}  // namespace lectern::reading
