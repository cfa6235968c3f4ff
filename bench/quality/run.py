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
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".cache/bench-venv"
PINS = ROOT / "packages/bench-pypi.txt"


def enter_virtualenv() -> None:
    """The peers come from PyPI, pinned, in an environment of their own; made once, renewed when the pins change."""
    stamp = VENV / "pins.txt"
    if not stamp.exists() or stamp.read_text() != PINS.read_text():
        print(f"bench/quality: installing the peers into {VENV}", file=sys.stderr)
        try:
            subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True, stdout=sys.stderr)
            subprocess.run([str(VENV / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "-r", str(PINS)],
                           check=True, stdout=sys.stderr)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"bench/quality: cannot make the virtual environment ({error}). Needs python3-venv and the package index.",
                  file=sys.stderr)
            raise SystemExit(2) from error
        stamp.write_text(PINS.read_text())
    if Path(sys.prefix).resolve() != VENV.resolve():
        python = str(VENV / "bin/python")
        os.execv(python, [python, *sys.argv])


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
    enter_virtualenv()
    import compare
    return compare.compare(options)


if __name__ == "__main__":
    sys.exit(main())
