"""Tables out of markdown: GitHub pipes and HTML alike become grids of plain text."""
import re
from html.parser import HTMLParser

import plain

Grid = list[list[str]]
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_HTML_TABLE = re.compile(r"<table\b.*?</table\s*>", re.I | re.S)


class _HtmlTable(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.cells: dict[tuple[int, int], str] = {}
        self.row, self.spot, self.text = -1, None, []

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self._close()
            self.row += 1
        elif tag in ("td", "th"):
            self._close()
            values = dict(attributes)
            span = lambda name: max(1, min(200, int(values.get(name) or 1))) if (values.get(name) or "1").isdigit() else 1
            column = 0
            while (max(self.row, 0), column) in self.cells:
                column += 1
            self.spot = (max(self.row, 0), column, span("rowspan"), span("colspan"))
            for r in range(self.spot[2]):
                for c in range(self.spot[3]):
                    self.cells[self.spot[0] + r, column + c] = ""
        elif tag == "br":
            self.text.append(" ")

    def handle_endtag(self, tag):
        if tag in ("td", "th", "tr", "table"):
            self._close()

    def handle_data(self, data):
        if self.spot:
            self.text.append(data)

    def _close(self):
        if self.spot:
            row, column, rows, columns = self.spot
            text = plain.plain("".join(self.text))
            for r in range(rows):
                for c in range(columns):
                    self.cells[row + r, column + c] = text
        self.spot, self.text = None, []

    def grid(self) -> Grid:
        if not self.cells:
            return []
        width = 1 + max(column for _, column in self.cells)
        height = 1 + max(row for row, _ in self.cells)
        return [[self.cells.get((row, column), "") for column in range(width)] for row in range(height)]


def _pipe_row(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", line.strip())
    if parts and not parts[0].strip():
        parts = parts[1:]
    if parts and not parts[-1].strip():
        parts = parts[:-1]
    return [plain.plain(part) for part in parts]


def tables(markdown: str) -> list[Grid]:
    """Every table that holds some text, in order of appearance by kind (HTML first)."""
    found = []
    for match in _HTML_TABLE.finditer(markdown):
        parser = _HtmlTable()
        parser.feed(match.group(0))
        found.append(parser.grid())
    lines = _HTML_TABLE.sub("\n", markdown).split("\n")
    at = 0
    while at < len(lines):
        if "|" in lines[at] and at + 1 < len(lines) and "|" in lines[at + 1] and _RULE.match(lines[at + 1]):
            rows = [_pipe_row(lines[at])]
            at += 2
            while at < len(lines) and "|" in lines[at]:
                rows.append(_pipe_row(lines[at]))
                at += 1
            found.append(rows)
        else:
            at += 1
    return [grid for grid in found if any(any(row) for row in grid)]


def told_once(grid: Grid) -> Grid:
    """A cell that repeats its left or upper neighbour is blanked: some tools repeat the text of a spanning cell, others
    leave the covered cells empty, and neither is wrong."""
    return [[("" if (c and grid[r][c - 1] == cell) or (r and c < len(grid[r - 1]) and grid[r - 1][c] == cell) else cell)
             for c, cell in enumerate(row)] for r, row in enumerate(grid)]
