#!/usr/bin/env python3
"""bench/quality compares plain text and tables: the rules that turn markdown into them, case by case."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/quality"))
import plain  # noqa: E402
import tables  # noqa: E402

PLAIN = {
    "headings and emphasis": ("## The **bold** _title_", "The bold title"),
    "nested lists and check boxes": ("- one\n  * [x] two\n3. three", "one two 3. three"),
    "pictures and comments go": ("a ![alt](b.png) b <!-- image --> c", "a b c"),
    "links keep their text": ("see [the page](https://example.org/a_(b)) now", "see the page now"),
    "tables lose rules and pipes": ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a b 1 2"),
    "HTML tables read the same": ("<table><tr><td>a</td><td colspan=\"2\">b</td></tr></table>", "a b"),
    "angle brackets of the text stay": ("if x < y and <name> > z", "if x < y and <name> > z"),
    "escapes and entities": (r"QIBM\_DB &amp; more\*", "QIBMDB & more"),
    "hyphens at line ends are mended": ("inter-\nnational", "international"),
    "a hyphen before a capital stays": ("Anglo-\nSaxon", "Anglo- Saxon"),
    "typography is folded": ("“ﬁne” – it’s", '"fine" it\'s'),
    "presentation forms are letters": ("\ufe95\u202bx\u202c", "\u062ax"),
    "fences go, code stays": ("```cpp\nint x;\n```", "int x;"),
    "footnote marks": ("word[^2]\n\n[^2]: note", "word2 2 note"),
}

TABLES = {
    "GitHub": ("x\n\n| a | b |\n|---|---|\n| 1 \\| 2 | **3** |\n", [[["a", "b"], ["1 2", "3"]]]),
    "spans are expanded": ("<table><tr><th rowspan=2>a</th><th colspan=2>b</th></tr><tr><td>c</td><td>d</td></tr></table>",
                           [[["a", "b", "b"], ["a", "c", "d"]]]),
    "pipes without a rule are text": ("a | b\nc | d\n", []),
    "an empty table is none": ("| | |\n|---|---|\n| | |\n", []),
}


class BenchTextTest(unittest.TestCase):
    def test_plain(self):
        for name, (markdown, expected) in PLAIN.items():
            with self.subTest(name):
                self.assertEqual(plain.plain(markdown), expected)

    def test_words_lose_the_punctuation_around_them(self):
        self.assertEqual(plain.words('"Well," he said (twice) - e.g. now.'), ["Well", "he", "said", "twice", "e.g", "now"])

    def test_headings(self):
        self.assertEqual(plain.headings("# One\ntext\n### *Two* ##\n#hash"), ["One", "Two"])

    def test_tables(self):
        for name, (markdown, expected) in TABLES.items():
            with self.subTest(name):
                self.assertEqual(tables.tables(markdown), expected)

    def test_a_spanning_cell_counts_once(self):
        self.assertEqual(tables.told_once([["a", "b", "b"], ["a", "c", "d"]]), [["a", "b", ""], ["", "c", "d"]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
