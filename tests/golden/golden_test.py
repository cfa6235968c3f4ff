#!/usr/bin/env python3
"""What `lectern read` and `lectern ocr` make of our samples, through the real command.

  golden_test.py LECTERN                             compares with the files beside the samples
  LECTERN_RENEW_GOLDENS=1 golden_test.py LECTERN     writes SAMPLE.md anew; look at the difference before committing it

Two kinds of expectation lie in samples/:
  SAMPLE.md      what the command printed when somebody last looked and agreed; must match exactly. For text layers.
  SAMPLE.truth   what the document says, written by hand; compared by a tolerance, never renewed. For scans.
"""
import difflib
import os
import subprocess
import sys
import unittest
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
sys.path.insert(0, str(ROOT / "bench/quality"))
import plain  # noqa: E402

LECTERN = ""
RENEW = "LECTERN_RENEW_GOLDENS"


@dataclass(frozen=True)
class Exact:
    """The text layer is data: the same document gives the same markdown on every machine."""


@dataclass(frozen=True)
class WordF1:
    """OCR rounds differently from one processor or library version to the next, so a word or two may change; what may not
    happen is that a line goes missing or turns to nonsense. `least` leaves room for that and no more."""
    least: float


@dataclass(frozen=True)
class Golden:
    sample: str
    arguments: list[str]
    tolerance: Exact | WordF1


CLEAN_SCAN = WordF1(0.97)  # a page has some 100 words: three may differ
PHOTO = WordF1(0.90)       # perspective and small print cost a few more

GOLDENS = [
    Golden("report.pdf", ["read"], Exact()),
    Golden("hebrew-arabic.pdf", ["read"], Exact()),
    Golden("form.pdf", ["read"], Exact()),
    Golden("protected.pdf", ["read", "--password", "heron-42"], Exact()),
    Golden("archive.pdf", ["read"], CLEAN_SCAN),
    Golden("garbled.pdf", ["read"], CLEAN_SCAN),
    Golden("letter-scan.pdf", ["read"], CLEAN_SCAN),
    Golden("fax.pdf", ["ocr"], CLEAN_SCAN),
    Golden("minutes.tif", ["ocr"], CLEAN_SCAN),
    Golden("receipt.jpg", ["ocr"], PHOTO),
]


class RenewalForbidden(Exception):
    pass


def renewing(environment: dict[str, str]) -> bool:
    """A build server that renewed goldens would agree with whatever it was given."""
    wanted = environment.get(RENEW, "") not in ("", "0")
    if wanted and environment.get("CI"):
        raise RenewalForbidden(f"{RENEW} is set while CI is: goldens are renewed by a person who looks at them")
    return wanted


def output_of(golden: Golden) -> str:
    command = [LECTERN, *golden.arguments, "--format", "md", str(SAMPLES / golden.sample)]
    done = subprocess.run(command, capture_output=True, timeout=240, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def word_f1(truth: str, text: str) -> float:
    wanted, got = Counter(plain.words(plain.plain(truth))), Counter(plain.words(plain.plain(text)))
    return 2 * sum((wanted & got).values()) / max(1, sum(wanted.values()) + sum(got.values()))


def difference(expected: str, got: str) -> str:
    return "".join(difflib.unified_diff(expected.splitlines(True), got.splitlines(True), "expected", "got"))


class GoldenTest(unittest.TestCase):
    maxDiff = None

    def check_exact(self, golden: Golden, got: str):
        path = SAMPLES / f"{golden.sample}.md"
        if renewing(dict(os.environ)):
            path.write_text(got, "utf-8")
            return
        self.assertTrue(path.exists(), f"{path} is missing; {RENEW}=1 makes it")
        expected = path.read_text("utf-8")
        self.assertEqual(expected, got, f"{golden.sample} reads differently than {path.name}:\n{difference(expected, got)}")

    def check_words(self, golden: Golden, tolerance: WordF1, got: str):
        truth = (SAMPLES / f"{golden.sample}.truth").read_text("utf-8")
        score = word_f1(truth, got)
        self.assertGreaterEqual(score, tolerance.least, f"{golden.sample}: word F1 {score:.3f}, at least {tolerance.least} is "
                                f"wanted\n{difference(truth, got)}")

    def test_samples(self):
        for golden in GOLDENS:
            with self.subTest(golden.sample):
                got = output_of(golden)
                match golden.tolerance:
                    case Exact():
                        self.check_exact(golden, got)
                    case WordF1() as tolerance:
                        self.check_words(golden, tolerance, got)

    def test_every_sample_has_a_golden(self):
        documents = {path.name for path in SAMPLES.iterdir() if path.suffix in (".pdf", ".jpg", ".tif", ".png", ".webp")}
        self.assertEqual(documents, {golden.sample for golden in GOLDENS})

    def test_a_build_server_may_not_renew(self):
        self.assertFalse(renewing({"CI": "true"}))
        self.assertTrue(renewing({RENEW: "1"}))
        with self.assertRaises(RenewalForbidden):
            renewing({RENEW: "1", "CI": "true"})

    def test_goldens_are_not_being_renewed_on_a_build_server(self):
        renewing(dict(os.environ))

    def test_the_tolerance_notices_a_lost_line(self):
        truth = (SAMPLES / "letter-scan.pdf.truth").read_text("utf-8")
        lost = "\n".join(line for line in truth.splitlines() if "cracked handle" not in line)
        self.assertLess(word_f1(truth, lost), CLEAN_SCAN.least)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} LECTERN")
    LECTERN = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
