#!/usr/bin/env python3
"""bench/hostile makes bombs: they must be what they claim, or the bench proves nothing."""
import sys
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/hostile"))
import make_hostile  # noqa: E402


class BenchHostileTest(unittest.TestCase):
    def test_deflated_zeros_inflate_to_zeros(self):
        for size in (0, 5, 1 << 24, (1 << 25) + 7):
            with self.subTest(size):
                self.assertEqual(zlib.decompress(make_hostile.zeros_deflated(size)), bytes(size))

    def test_offsets_of_a_made_pdf_point_at_its_objects(self):
        made = make_hostile.one_page(make_hostile.TEXT)
        start = int(made.rsplit(b"startxref\n", 1)[1].split()[0])
        self.assertEqual(made[start:start + 4], b"xref")
        rows = made[start:].split(b"\n")[3:]
        for number in range(1, 5):
            offset = int(rows[number - 1].split()[0])
            self.assertTrue(made[offset:].startswith(b"%d 0 obj" % number))

    def test_a_stream_says_how_long_it_is(self):
        self.assertIn(b"/Length 36", make_hostile.TEXT)  # length_lie replaces exactly this
        self.assertNotIn(b"/Length 36", make_hostile.length_lie())

    def test_every_maker_says_what_it_tries(self):
        for name, maker in make_hostile.MAKERS.items():
            self.assertTrue((maker.__doc__ or "").strip(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
