#!/usr/bin/env python3
"""Makes every document in this folder. The files are committed; run this after changing what they should hold.

Needs Debian's python3-reportlab, python3-pil, img2pdf (with pikepdf) and fonts-dejavu-core. The same versions give the same bytes.
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from making import digital, report, scans  # noqa: E402

SAMPLES = {
    "report.pdf": report.make, "hebrew-arabic.pdf": digital.right_to_left, "protected.pdf": digital.password,
    "form.pdf": digital.form, "garbled.pdf": digital.garbled,
    "letter-scan.pdf": scans.letter, "fax.pdf": scans.fax, "receipt.jpg": scans.receipt, "minutes.tif": scans.minutes,
    "archive.pdf": scans.archive,
}
LIMIT_BYTES = 150_000

if __name__ == "__main__":
    wanted = sys.argv[1:] or SAMPLES
    for name in wanted:
        SAMPLES[name](HERE / name)
        size = (HERE / name).stat().st_size
        print(f"{size:7} {name}")
        if size > LIMIT_BYTES:
            sys.exit(f"{name} is larger than {LIMIT_BYTES} bytes")
