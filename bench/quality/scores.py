"""The measures. Each is 0..1, 1 is best, and takes the reference first.

  word F1   harmonic mean of precision and recall over the multiset of words
  text      1 - edit distance / length of the longer text (characters of the plain text; sensitive to order)
  order     share of the pairs of words that stand in the right order, over words that occur once in either text; scaled down
            where fewer than half of the reference's such words were found, as an order of a few words proves little
  table     cells of the best-matching tables, aligned row by row and column by column by text similarity, as F1 over all
            non-empty cells (so invented and missing tables cost); only where the reference has tables
  headings  F1 of heading texts, levels ignored (for information)
"""
from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

import plain
import tables


def word_f1(reference: str, text: str) -> float:
    wanted, got = Counter(plain.words(reference)), Counter(plain.words(text))
    if not wanted or not got:
        return float(not wanted and not got)
    common = sum((wanted & got).values())
    return 2 * common / (sum(wanted.values()) + sum(got.values()))


def edit_similarity(reference: str, text: str) -> float:
    return Levenshtein.normalized_similarity(reference, text)


def _inversions(values: list[int]) -> int:
    if len(values) < 2:
        return 0
    middle = len(values) // 2
    left, right = values[:middle], values[middle:]
    count = _inversions(left) + _inversions(right)
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
            count += len(left) - i
    values[:] = merged + left[i:] + right[j:]
    return count


def order(reference: str, text: str) -> float:
    def once(tokens):
        counts = Counter(tokens)
        return {token: at for at, token in enumerate(tokens) if counts[token] == 1}
    wanted, got = once(plain.words(reference)), once(plain.words(text))
    matched = [got[token] for token in wanted if token in got]  # dicts keep the reference's order
    if not wanted:
        return 1.0
    if len(matched) < 2:
        return float(len(wanted) == len(matched))
    pairs = len(matched) * (len(matched) - 1) / 2
    found = len(matched)
    concordant = 1 - _inversions(matched) / pairs
    return concordant * min(1.0, 2 * found / len(wanted))


@lru_cache(maxsize=1 << 16)
def _cell(a: str, b: str) -> float:
    return Levenshtein.normalized_similarity(a, b) if a and b else 0.0


def _align(rows: int, columns: int, similarity) -> float:
    """The greatest sum of similarities over an order-keeping matching."""
    previous = [0.0] * (columns + 1)
    for i in range(rows):
        current = [0.0]
        for j in range(columns):
            current.append(max(previous[j + 1], current[j], previous[j] + similarity(i, j)))
        previous = current
    return previous[columns]


def _shared_cells(a: tables.Grid, b: tables.Grid) -> float:
    return _align(len(a), len(b), lambda i, j: _align(len(a[i]), len(b[j]), lambda p, q: _cell(a[i][p], b[j][q])))


def table_f1(reference_markdown: str, markdown: str) -> float | None:
    wanted = [tables.told_once(grid) for grid in tables.tables(reference_markdown)]
    if not wanted:
        return None
    got = [tables.told_once(grid) for grid in tables.tables(markdown)]
    size = lambda grids: sum(bool(cell) for grid in grids for row in grid for cell in row)
    candidates = sorted(((_shared_cells(a, b), i, j) for i, a in enumerate(wanted) for j, b in enumerate(got)), reverse=True)
    shared, used_i, used_j = 0.0, set(), set()
    for value, i, j in candidates:
        if i not in used_i and j not in used_j:
            used_i.add(i)
            used_j.add(j)
            shared += value
    return 2 * shared / (size(wanted) + size(got))


def heading_f1(reference_markdown: str, markdown: str) -> float | None:
    wanted, got = Counter(plain.headings(reference_markdown)), Counter(plain.headings(markdown))
    if not wanted:
        return None
    return 2 * sum((wanted & got).values()) / (sum(wanted.values()) + sum(got.values()))


def score(reference_markdown: str, markdown: str) -> dict[str, float | None]:
    reference, text = plain.plain(reference_markdown), plain.plain(markdown)
    return {"word F1": word_f1(reference, text), "text": edit_similarity(reference, text), "order": order(reference, text),
            "table": table_f1(reference_markdown, markdown), "headings": heading_f1(reference_markdown, markdown)}
