#!/usr/bin/env python3
"""bench/quality: how well documents are read, side by side with other readers, in one run and one table.

  ./dev bench quality [--data DIR] [--only SET[/FILE]] [--show-diff] [--lectern CMD] [--lectern-ocr CMD] [--per-file]

The data folder (LECTERN_DATA, else ../shared/data beside the repository) is not part of the project; see docs/benchmarks.md.
CMD is a command template that prints markdown, such as "mytool {file}"; with --lectern alone only digital sets run, with
--lectern-ocr ("mytool -l {lang} {file}") alone only scans. Measures are explained in scores.py, the text rules in plain.py.
Exit code: 0 every bar is met, 1 one is missed, 2 the run could not start.
"""
import argparse
import os
import sys
from pathlib import Path

import virtualenv

ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LECTERN_DATA") or ROOT.parent / "shared/data"))
    parser.add_argument("--lectern", metavar="CMD", help="command template for digital PDFs")
    parser.add_argument("--lectern-ocr", metavar="CMD", help="command template for scans")
    parser.add_argument("--only", metavar="SET[/FILE]", help="only sets and files whose names contain these")
    parser.add_argument("--per-file", action="store_true", help="also print every file's scores")
    parser.add_argument("--show-diff", action="store_true", help="show where Lectern's plain text departs from the reference")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if not options.data.is_dir():
        print(f"bench/quality: no data folder at {options.data}. Name it with --data DIR or LECTERN_DATA; "
              "docs/benchmarks.md says what belongs into it.", file=sys.stderr)
        return 2
    virtualenv.enter()
    import compare
    return compare.compare(options)


if __name__ == "__main__":
    sys.exit(main())
