#!/usr/bin/env python3
"""bench/speed: how fast, and in how much memory, documents are read.

  ./dev bench speed [read | digital | scans | memory]… [--data DIR] [--lectern PROGRAM] [--repeat N]

  digital   pages per CPU second (user + system of the whole process tree) of `lectern read` and of pymupdf4llm over the same
            PDFs: 200 pages that we make, and the real digital PDFs of the data folder where there is one. Bar: 5 times.
  scans     pages per second on the clock, `lectern ocr` over 24 scans and `tesseract` on all cores (one process per core, its
            threads off, as `xargs -P`). Bar: 1.0 times.
  memory    2,000 pages: peak memory of the whole process tree (PSS, shared pages counted once) at most 300 MB, and no growth from
            page 200 on. Bar: the median over pages 1,600 to 2,000 is at most 2 MB above the median over pages 200 to 600. That is
            noise: runs differ by 0.4 MB, and a renderer gains 1.4 MB (128 pages of 10.7 kB) between two openings of its
            document. The bar is missed, and by more than noise: to find a page, PDFium reads and keeps every entry of the page
            tree before it (2.6 kB a page and renderer), which no opening anew takes away.
`read`, or nothing, means all of them. On the clock, runs alternate and the best of --repeat counts, so that a busy machine
disturbs both alike; CPU seconds need no repeating.
Exit code: 0 every bar is met, 1 one is missed, 2 the run could not start.
"""
import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/corpus"), str(ROOT / "bench/quality")]
import make_corpus  # noqa: E402
import measure  # noqa: E402
import virtualenv  # noqa: E402

CORPUS = ROOT / "build/bench-corpus"
PEER = ROOT / "bench/quality/peers/pymupdf4llm_cli.py"
DIGITAL_BAR, SCANS_BAR, MEMORY_BAR_MB, GROWTH_BAR_MB = 5.0, 1.0, 300, 2
REAL_PAGES = 150  # enough of the data folder; the peer needs about half a second a page


class Table:
    def __init__(self):
        self.rows, self.met = [], True

    def add(self, what: str, ours: str, theirs: str, ratio: str, bar: str, met: bool) -> None:
        self.met &= met
        self.rows.append(f"| {what} | {ours} | {theirs} | {ratio} | {bar} | {'met' if met else '**missed**'} |")

    def print(self) -> None:
        print("\n| workload | lectern | compared with | ratio | bar | verdict |\n|---|--:|--:|--:|--:|---|")
        print("\n".join(self.rows))


def page_count(path: Path) -> int:
    out = subprocess.run(["pdfinfo", str(path)], capture_output=True, text=True, errors="replace").stdout
    found = re.search(r"^Pages:\s+(\d+)", out, re.M)
    return int(found.group(1)) if found else 0


def real_digital_pdfs(data: Path) -> list[Path]:
    """Sound, unencrypted PDFs with text on their first pages, per the table that comes with the data."""
    oracle = data / "ORACLE.tsv"
    if not oracle.exists():
        return []
    rows = csv.DictReader((line for line in oracle.open(encoding="utf-8") if not line.startswith("#")), delimiter="\t")
    chosen, pages = [], 0
    for row in rows:
        sound = row["pdfinfo_rc"] == "0" and row["mutool_draw_rc"] == "0" and row["encrypted"] == "no"
        if not sound or not row["file"].startswith(("docling/", "camelot/", "pdfplumber/", "nv-ingest/")):
            continue
        count = int(row["pages"])
        if int(row["alnum_chars_p1-3"]) < 300 * min(count, 3) or not 1 <= count <= 40 or pages + count > REAL_PAGES:
            continue
        chosen.append(data / row["file"])
        pages += count
    return chosen


def checked(run: measure.Run, what: str) -> measure.Run:
    if run.exit_code not in (0, 3):  # 3: some pages failed, which is told but still counts as having read
        print(f"bench/speed: {what} ended with {run.exit_code}:\n{run.stderr_tail}", file=sys.stderr)
        raise SystemExit(2)
    if run.exit_code == 3:
        print(f"bench/speed: {what}: some pages failed:\n{run.stderr_tail}", file=sys.stderr)
    return run


def ours(options, operation: str, files: list[Path], **more) -> measure.Run:
    with tempfile.TemporaryDirectory() as folder:
        command = [options.lectern, operation, *map(str, files), "-o", folder, "--json", "--no-cache"]
        return checked(measure.run(command, **more), f"lectern {operation}")


def bench_digital(options, table: Table) -> None:
    python = str(virtualenv.VENV / "bin/python")
    sets = {"200 pages we made": [CORPUS / "digital-200.pdf"]}
    real = real_digital_pdfs(options.data) if options.data.is_dir() else []
    if real:
        sets["real PDFs"] = real
    else:
        print(f"bench/speed: no data folder at {options.data}; real PDFs are left out", file=sys.stderr)
    for name, files in sets.items():
        pages = sum(map(page_count, files))
        own = pages / ours(options, "read", files).cpu_s
        peer = pages / checked(measure.run([python, str(PEER), *map(str, files)]), "pymupdf4llm").cpu_s
        table.add(f"digital PDFs: {name} ({pages} pages, {len(files)} files)", f"{own:.1f} pages/CPU s",
                  f"pymupdf4llm {peer:.2f} pages/CPU s", f"{own / peer:.1f}×", f"≥ {DIGITAL_BAR:.0f}×", own / peer >= DIGITAL_BAR)


def bench_scans(options, table: Table) -> None:
    images, best = sorted(CORPUS.glob("scan-*.jpg")), {}
    cores = len(os.sched_getaffinity(0))
    for _ in range(options.repeat):
        with tempfile.TemporaryDirectory() as folder:
            script = f'printf "%s\\n" "$@" | xargs -P {cores} -I @ sh -c \'exec tesseract "$1" "{folder}/${{1##*/}}" 2>/dev/null\' sh @'
            runs = {"lectern": ours(options, "ocr", images),
                    "tesseract": checked(measure.run(["sh", "-c", script, "sh", *map(str, images)],
                                                     environment={"OMP_THREAD_LIMIT": "1"}), "tesseract")}
            assert len(list(Path(folder).glob("*.txt"))) == len(images), "tesseract left pages out"
        for tool, run in runs.items():
            best[tool] = max(best.get(tool, 0), len(images) / run.wall_s)
    ratio = best["lectern"] / best["tesseract"]
    table.add(f"scans ({len(images)} pages, 200 dpi, {cores} cores)", f"{best['lectern']:.2f} pages/s",
              f"tesseract {best['tesseract']:.2f} pages/s", f"{ratio:.2f}×", f"≥ {SCANS_BAR:.1f}×", ratio >= SCANS_BAR)


def finished_pages():
    """Counts the page events of --json as they come by."""
    seen = set()

    def count(line: str) -> int | None:
        try:
            event = json.loads(line)
        except ValueError:
            return None
        if isinstance(event, dict) and event.get("event") == "page_done":
            seen.add(event.get("page"))
            return len(seen)
        return None
    return count


def bench_memory(options, table: Table) -> None:
    run = ours(options, "read", [CORPUS / "digital-2000.pdf"], pages_done=finished_pages(), sample_every_s=0.05)
    megabytes = lambda size: size / 1e6
    peak = megabytes(max(sample.bytes for sample in run.samples))
    table.add(f"2,000 pages in {run.wall_s:.1f} s: peak {run.memory_kind}", f"{peak:.0f} MB", "–", "–", f"≤ {MEMORY_BAR_MB} MB",
              peak <= MEMORY_BAR_MB)
    window = lambda low, high: [megabytes(sample.bytes) for sample in run.samples if low <= sample.pages < high]
    early, late = window(200, 600), window(1600, 2000)
    if not early or not late:
        print("bench/speed: too few memory samples between page 200 and page 2,000; did --json name the pages?", file=sys.stderr)
        table.add("2,000 pages: growth", "unknown", "–", "–", f"≤ {GROWTH_BAR_MB} MB", False)
        return
    before, after = statistics.median(early), statistics.median(late)
    table.add(f"2,000 pages: median {run.memory_kind} of pages 200–600 and of pages 1,600–2,000",
              f"{before:.0f} → {after:.0f} MB", "–", f"{after - before:+.1f} MB", f"≤ {GROWTH_BAR_MB} MB", after - before <= GROWTH_BAR_MB)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", choices=["read", "digital", "scans", "memory", []])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LECTERN_DATA") or ROOT.parent / "shared/data"))
    parser.add_argument("--lectern", default=str(ROOT / "build/release/bin/lectern"))
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    if not shutil.which(options.lectern):
        print(f"bench/speed: no program {options.lectern}; run ./dev build first, or name it with --lectern", file=sys.stderr)
        return 2
    everything = not options.workloads or "read" in options.workloads
    make_corpus.make(CORPUS)
    measure.adopt_orphans()
    table = Table()
    if everything or "digital" in options.workloads:
        virtualenv.make()
        bench_digital(options, table)
    if everything or "scans" in options.workloads:
        bench_scans(options, table)
    if everything or "memory" in options.workloads:
        bench_memory(options, table)
    table.print()
    return 0 if table.met else 1


if __name__ == "__main__":
    sys.exit(main())
