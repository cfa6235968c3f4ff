// Finds charts and diagrams: places where many vector shapes stand close together. Pure.
#pragma once

#include <span>
#include <vector>

#include "base/geometry.h"
#include "document/page_content.h"

namespace lectern::document {

// `shapes` are the boxes of curves, slanted lines and polygons: everything that is neither rule nor plain fill.
// Rules and fills that touch a cluster (axes, bars, boxes of a diagram) widen it and count as its paths.
std::vector<DrawingArea> find_drawing_areas(std::span<const RectPt> shapes, std::span<const Rule> rules,
                                            std::span<const Fill> fills, SizePt page);

}  // namespace lectern::document
