"""Writes sizing_table.h: what the published sizing rules give, computed here in Python, whose `round` they are written in.

    python3 tests/reading/model/make_sizing_table.py > tests/reading/model/sizing_table.h
"""

import math
import random


def smart_resize(width, height, factor, least, most):
    if max(width, height) / min(width, height) > 200:
        return None
    w = max(factor, round(width / factor) * factor)
    h = max(factor, round(height / factor) * factor)
    if w * h > most:
        beta = math.sqrt(width * height / most)
        w = max(factor, math.floor(width / beta / factor) * factor)
        h = max(factor, math.floor(height / beta / factor) * factor)
    elif w * h < least:
        beta = math.sqrt(least / (width * height))
        w = math.ceil(width * beta / factor) * factor
        h = math.ceil(height * beta / factor) * factor
    return w, h


def generic(width, height, factor=32, side=1024):
    z = min(1, side / max(width, height))
    return tuple(max(factor, round(s * z / factor) * factor) for s in (width, height))


def pixtral_grid(width, height):
    ratio = max(width / 1024, height / 1024)
    if ratio > 1:
        width, height = round(width / ratio), round(height / ratio)
    return (width - 1) // 16 + 1, (height - 1) // 16 + 1


def deepseek_tokens(width, height):
    side = math.ceil((1024 / 16) / 4)
    tokens = side * (side + 1) + 1
    if width <= 640 and height <= 640:
        return tokens
    grids = sorted({(w, h) for w in range(1, 7) for h in range(1, 7) if 2 <= w * h <= 6}, key=lambda g: g[0] * g[1])
    best, best_off = (1, 1), math.inf
    for grid in grids:
        off = abs(width / height - grid[0] / grid[1])
        if off < best_off:
            best, best_off = grid, off
        elif off == best_off and width * height > 0.5 * 640 * 640 * grid[0] * grid[1]:
            best = grid
    tile = math.ceil((640 / 16) / 4)
    return tokens + tile * best[1] * (tile * best[0] + 1)


def main():
    rng = random.Random(3)
    budgets = {28: [(3136, 12845056), (3136, 1003520), (262144, 1048576)], 32: [(65536, 16777216), (589824, 2359296)]}
    sizes = [(595, 842), (794, 1122), (1191, 1683), (1654, 2338), (2481, 3507), (1, 1), (28, 28), (42, 70), (14, 14),
             (98, 182), (16, 48), (80, 112), (640, 640), (641, 640), (4000, 20), (5000, 30), (10000, 51), (7000, 9000)]
    sizes += [(rng.randrange(10, 4000), rng.randrange(10, 4000)) for _ in range(24)]
    print("// Made by make_sizing_table.py: the published rules, computed in Python.\n#pragma once\n")
    print("#include <cstdint>\n\nnamespace lectern::reading {\n")
    print("// width, height, factor, least and most pixels → width, height (0: refused)")
    print("struct SmartResizeRow {\n  int width, height, factor;\n  std::int64_t least, most;\n  int to_width, to_height;\n};")
    print("inline constexpr SmartResizeRow smart_resize_rows[] = {")
    for width, height in sizes + [(4001, 20)]:
        for factor, list_ in budgets.items():
            for least, most in list_:
                to = smart_resize(width, height, factor, least, most) or (0, 0)
                print(f"    {{{width}, {height}, {factor}, {least}, {most}, {to[0]}, {to[1]}}},")
    print("};\n\n// picture → generic size, Pixtral patches, DeepSeek-OCR tokens")
    print("struct PictureRow {\n  int width, height, generic_width, generic_height, pixtral_columns, pixtral_rows, deepseek_tokens;\n};")
    print("inline constexpr PictureRow picture_rows[] = {")
    for width, height in sizes:
        if max(width, height) / min(width, height) > 90:
            continue
        row = (width, height, *generic(width, height), *pixtral_grid(width, height), deepseek_tokens(width, height))
        print("    {" + ", ".join(map(str, row)) + "},")
    print("};\n\n}  // namespace lectern::reading")


main()
