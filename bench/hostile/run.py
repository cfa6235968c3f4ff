#!/usr/bin/env python3
"""bench/hostile: documents that are broken or mean must cost nothing but themselves.

  ./dev bench hostile [--data DIR] [--lectern PROGRAM] [--only TEXT] [--jobs N]

Reads every file that make_hostile.py makes and, where there is a data folder, every file of its sets qpdf-qtest, verapdf,
unstructured and pngsuite, one command each. A file passes when the command ends by itself within 30 seconds with exit code 0, 3
or 4, says why on standard error unless it is 0, and neither it nor a renderer has held more memory than the renderer's limit.
Exit code: 0 all pass, 1 some do not (they are listed), 2 the run could not start.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))
import make_hostile  # noqa: E402

SETS = ("qpdf-qtest", "verapdf", "unstructured", "pngsuite")
SUFFIXES = {".pdf", ".png", ".bmp", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".heic", ""}
LIMIT_S = 30
LIMIT_BYTES = 1 << 30  # of a renderer, by default
OUTCOMES = {0: "read", 3: "some pages failed", 4: "refused with a reason"}


@dataclass
class Result:
    path: Path
    outcome: str
    fault: str
    seconds: float
    peak_bytes: int


def read(lectern: str, path: Path) -> Result:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/stderr", "w+", errors="replace") as errors:
        process = subprocess.Popen([lectern, "read", str(path), "-o", f"{folder}/out"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        stop = threading.Timer(LIMIT_S, lambda: os.killpg(process.pid, signal.SIGKILL))
        stop.start()
        # wait4 tells the largest resident set of the process and of all descendants that it waited for.
        _, status, usage = os.wait4(process.pid, 0)
        stop.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().strip()
    seconds, code = time.monotonic() - started, process.returncode
    fault = ""
    if code == -signal.SIGKILL and seconds >= LIMIT_S:
        fault = f"still running after {LIMIT_S} s"
    elif code not in OUTCOMES:
        fault = f"ended with {code}: {said[-200:]}"
    elif code != 0 and not said:
        fault = f"ended with {code} and gave no reason"
    elif usage.ru_maxrss * 1024 > LIMIT_BYTES:
        fault = f"held {usage.ru_maxrss / 1024:.0f} MiB"
    return Result(path, OUTCOMES.get(code, "fault"), fault, seconds, usage.ru_maxrss * 1024)


def hostile_files(data: Path) -> dict[str, list[Path]]:
    sets = {"made by us": make_hostile.make(ROOT / "build/bench-hostile")}
    for name in SETS:
        found = sorted(path for path in (data / name).rglob("*") if path.is_file() and path.suffix.lower() in SUFFIXES
                       and path.name not in ("LICENSE", "README"))
        if found:
            sets[name] = found
    return sets


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LECTERN_DATA") or ROOT.parent / "shared/data"))
    parser.add_argument("--lectern", default=str(ROOT / "build/release/bin/lectern"))
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if not shutil.which(options.lectern):
        print(f"bench/hostile: no program {options.lectern}; run ./dev build first, or name it with --lectern", file=sys.stderr)
        return 2
    if not options.data.is_dir():
        print(f"bench/hostile: no data folder at {options.data}; only our own files are read", file=sys.stderr)
    rows, faults = [], []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, paths in hostile_files(options.data).items():
            results = list(pool.map(lambda path: read(options.lectern, path), [p for p in paths if options.only in str(p)]))
            if not results:
                continue
            counts = Counter(result.outcome for result in results)
            bad = [result for result in results if result.fault]
            faults += bad
            slowest = max(results, key=lambda result: result.seconds)
            largest = max(results, key=lambda result: result.peak_bytes)
            rows.append(f"| {name} | {len(results)} | {' | '.join(str(counts[o]) for o in OUTCOMES.values())} | {slowest.seconds:.1f} s "
                        f"({slowest.path.name}) | {largest.peak_bytes / 2**20:.0f} MiB ({largest.path.name}) | "
                        f"{'all pass' if not bad else f'**{len(bad)} faults**'} |")
    print(f"\n| set | files | {' | '.join(OUTCOMES.values())} | slowest | largest process | verdict |\n|---|--:|--:|--:|--:|---|---|---|")
    print("\n".join(rows))
    for result in faults:
        print(f"- {result.path}: {result.fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
