#!/usr/bin/env python3
"""bench/engine: how well pages reach model servers. The servers are lectern-sim-engine (docs/sim-engine.md), on the same cores.

  ./dev bench engine [cpu | slots | memory | auto | dead | four | tiny]… [--pages N] [--lectern PROGRAM] [--no-peers] [--without-pages]

  cpu     CPU of the whole process tree for a page, from the PDF to the answer, beside the Python client (PyMuPDF at zoom 3, Pillow,
          httpx) over the same pages: digital, colour scans (300 dpi JPEG), bilevel scans (CCITT G4), the same as JBIG2. Bars: 1/8, 1/6,
          1/4, 1/4.
  slots   how busy the server's slots are: 64 slots of 0.5 s from the first request to the last answer (bar 85%); 8 slots of 1 s from
          the second second until the last page was asked for (bar 98%).
  memory  peak PSS of the process tree at parallel 64 on 200 and on 2,000 pages (bar 150 MB).
  auto    engines with 4, 16 and 64 slots: pages per second from the 30th second on against the best fixed setting of the same run
          (bar 95%), and the mean wait in the server's queue against the service time (bar 25%).
  dead    an engine that closes every connection, and one that answers only 503: requests for a page (bar 1.2). An engine that dies
          for five seconds in the middle: seconds from its return until pages per second are 95% of what they were (bar 10).
  four    four engines, one ten times slower: pages per second after ten seconds against what the four can give (bar 95%).
  tiny    requests per second with tiny images and an engine that does nothing (bars 3,000, and 8 times the Python client).
Nothing named means all. --without-pages sends small requests through the fleet instead, with no PDF, to tell the two apart. The Python client is the one in the folder LECTERN_BENCH_PEERS (else ../shared/bench) when there is one, else ours
(peers/python_client.py). Exit code: 0 every bar is met, 1 one is missed, 2 the run could not start.
"""
import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/corpus"), str(ROOT / "bench/speed"), str(ROOT / "bench/quality"), str(Path(__file__).parent)]
import engine_pages  # noqa: E402
import measure  # noqa: E402
from sim import MODEL, SimEngine, Watch  # noqa: E402
from verdicts import Table  # noqa: E402

CORPUS = ROOT / "build/bench-corpus"
PYTHON = "/usr/bin/python3"
REQUESTS = str(ROOT / "build/release/bin/bench-requests")
PEERS = Path(__file__).parent / "peers"
# Document, what it is called, and the bar: at most one such part of the Python client's CPU.
CPU_ROWS = [("digital", "digital", 8), ("scan", "colour scans, 300 dpi JPEG", 6), ("bilevel", "bilevel scans, CCITT G4", 4),
            ("jbig2", "bilevel scans, JBIG2", 4)]
WORKLOADS = ["cpu", "slots", "memory", "auto", "dead", "four", "tiny"]


def pdf(name: str) -> Path:
    return CORPUS / f"engine-{name}.pdf"


def python_client() -> Path:
    folder = Path(os.environ.get("LECTERN_BENCH_PEERS") or ROOT.parent / "shared/bench")
    theirs = folder / "client_py.py"
    return theirs if theirs.exists() else PEERS / "python_client.py"


def checked(run: measure.Run, what: str, codes=(0,)) -> measure.Run:
    if run.exit_code not in codes:
        print(f"bench/engine: {what} ended with {run.exit_code}:\n{run.stderr_tail}", file=sys.stderr)
        raise SystemExit(2)
    return run


def ours(options, engines: list[SimEngine], document: Path, parallel: int | str, pages: int | None = None, codes=(0,), **more) -> measure.Run:
    beside = frozenset(engine.process.pid for engine in engines)
    if options.without_pages:
        count = pages or (1200 if document == pdf("digital-1200") else 2000 if document == pdf("large") else 200)
        command = [REQUESTS, str(count), str(parallel), *(engine.url for engine in engines)]
        return checked(measure.run(command, beside=beside, **more), "bench-requests", codes)
    with tempfile.TemporaryDirectory() as folder:
        command = [options.lectern, "read", str(document), "-o", folder, "--json", "--no-cache", "--model", MODEL,
                   "--parallel", str(parallel), *(word for engine in engines for word in ("--engine", engine.url))]
        command += ["--pages", f"1-{pages}"] if pages else []
        return checked(measure.run(command, beside=beside, **more), "lectern read", codes)


def peer(engine: SimEngine, document: Path, parallel: int, pages: int, **more) -> measure.Run:
    command = [PYTHON, str(python_client()), str(document), str(parallel), "--pages", str(pages), "--url", f"{engine.url}/v1"]
    engine.control(model="*")  # it has a name of its own for the model
    run = checked(measure.run(command, beside=frozenset([engine.process.pid]), **more), "the Python client")
    engine.control(model=MODEL)
    return run


def bench_cpu(options, table: Table) -> None:
    for name, what, share in CPU_ROWS:
        pages = options.pages
        with SimEngine(latency="fixed:20ms") as engine:
            own = ours(options, [engine], pdf(name), 16, pages).cpu_s / pages * 1000
            label = f"CPU for a page: {what} ({pages} pages)"
            if options.no_peers:
                table.add(label, f"{own:.1f} ms", "–", f"≤ 1/{share}", None)
                continue
            theirs = peer(engine, pdf(name), 16, pages).cpu_s / pages * 1000
        table.add(label, f"{own:.1f} ms", f"Python {theirs:.1f} ms: 1/{theirs / own:.1f}", f"≤ 1/{share}", own * share <= theirs)


def utilisation(stats: dict, slots: int) -> float:
    return stats["slot_busy_s"] / (slots * max(stats["span_s"], 1e-9))


def bench_slots(options, table: Table) -> None:
    theirs = "–"
    with SimEngine(slots=64, latency="fixed:0.5s") as engine:
        if not options.no_peers:
            peer(engine, pdf("digital"), 64, min(options.pages, 200))
            theirs = f"Python {utilisation(engine.stats(), 64):.0%} ({min(options.pages, 200)} pages)"
            engine.reset()
        ours(options, [engine], pdf("digital-1200"), 64)
        share = utilisation(engine.stats(), 64)
    table.add("slots busy: 64 × 0.5 s, 1,200 digital pages", f"{share:.1%}", theirs, "≥ 85%", share >= 0.85)
    with SimEngine(slots=8, latency="fixed:1s") as engine:
        ours(options, [engine], pdf("digital"), 8, 120)
        stats = engine.stats()
    # The last page is asked for one service time before the last answer; whole seconds in between.
    seconds = stats["each_second"]["busy_s"][1:int(stats["span_s"] - 1)]
    share = sum(seconds) / (8 * len(seconds))
    table.add("slots busy: 8 × 1 s, after the first second, 120 digital pages", f"{share:.1%}", "–", "≥ 98%", share >= 0.98)


def bench_memory(options, table: Table) -> None:
    for name, pages in (("digital", 200), ("scan", 200), ("large", 2000)):
        with SimEngine(slots=64, latency="fixed:0.5s") as engine:
            run = ours(options, [engine], pdf(name), 64, sample_every_s=0.05)
            peak = max(sample.bytes for sample in run.samples) / 1e6
            theirs = "–"
            if not options.no_peers and pages == 200:
                other = peer(engine, pdf(name), 64, min(options.pages, 200), sample_every_s=0.1)
                theirs = f"Python {max(sample.bytes for sample in other.samples) / 1e6:.0f} MB"
        table.add(f"peak {run.memory_kind}: {name}, {pages:,} pages, parallel 64", f"{peak:.0f} MB", theirs, "≤ 150 MB", peak <= 150)


def steady_rate(watch: Watch, after_s: float, latencies_s: list[float]) -> float:
    """Pages per second from so long after the first request until the last page was asked for."""
    first, last = watch.started_s() + after_s, watch.ended_s()
    return watch.work_per_s(first, last, latencies_s) if last > first + 1 else 0.0


def bench_auto(options, table: Table) -> None:
    # Latencies that make 45 s of work out of the 1,200 pages at most, and that two cores can serve.
    for slots, latency_s in ((4, 0.5), (16, 1), (64, 2.5)):
        capacity = slots / latency_s
        best, chosen = 0.0, ""
        for fixed in (slots, slots * 3 // 2, slots * 2):
            with SimEngine(slots=slots, latency=f"fixed:{latency_s}s") as engine, Watch(engine) as watch:
                ours(options, [engine], pdf("digital-1200"), fixed, int(capacity * 15))
            if (rate := steady_rate(watch, 2 * latency_s, [latency_s])) > best:
                best, chosen = rate, f"--parallel {fixed}"
        with SimEngine(slots=slots, latency=f"fixed:{latency_s}s") as engine, Watch(engine) as watch:
            ours(options, [engine], pdf("digital-1200"), "auto", int(capacity * 45))
        stats = watch.notes[-1][1][0]
        rate = steady_rate(watch, 30, [latency_s])
        queueing = stats["queue_wait_s"] / max(stats["slot_busy_s"], 1e-9)
        table.add(f"auto, {slots} slots × {latency_s:g} s: pages/s after 30 s", f"{rate:.2f}", f"{chosen} {best:.2f}: {rate / best:.0%}",
                  "≥ 95%", rate >= 0.95 * best)
        table.add(f"auto, {slots} slots × {latency_s:g} s: mean wait in the queue / service time", f"{queueing:.0%}",
                  f"most in flight {stats['running_max'] + stats['waiting_max']}", "≤ 25%", queueing <= 0.25)


def bench_dead(options, table: Table) -> None:
    for fault, what in (("drop", "closes every connection"), ("503", "answers 503")):
        with SimEngine(fault=fault) as engine:
            ours(options, [engine], pdf("digital"), 16, options.pages, codes=(0, 1, 3, 4))
            calls = engine.stats()["requests"] / options.pages
        table.add(f"dead server ({what}): requests for a page, {options.pages} pages", f"{calls:.2f}", "–", "≤ 1.2", calls <= 1.2)
    with SimEngine(slots=8, latency="fixed:0.25s", back_after="5s") as engine, Watch(engine) as watch:
        died = []

        def kill_later():
            while watch.started_s() == 0 or watch.last_s() < watch.started_s() + 6:
                time.sleep(0.05)
            died.append(watch.last_s())
            engine.control(dead=True)
        killer = threading.Thread(target=kill_later)
        killer.start()
        ours(options, [engine], pdf("digital-1200"), 8, 1000, codes=(0, 3))
        killer.join()
    back, before = died[0] + 5, watch.answers_per_s(died[0] - 4, died[0])
    steps = (back + 0.1 * step for step in range(1000))
    recovered = next((at - back for at in steps if at + 1 < watch.last_s() and watch.answers_per_s(at, at + 1) >= 0.95 * before), None)
    table.add(f"recovery after 5 s of death: seconds until {before:.1f} pages/s again (95%)", "never" if recovered is None else f"{recovered:.1f} s",
              "–", "≤ 10 s", recovered is not None and recovered <= 10)


def bench_four(options, table: Table) -> None:
    slots, latencies = 4, [0.25, 0.25, 0.25, 2.5]
    capacity = sum(slots / latency for latency in latencies)
    with contextlib.ExitStack() as stack:
        engines = [stack.enter_context(SimEngine(slots=slots, latency=f"fixed:{latency}s")) for latency in latencies]
        watch = stack.enter_context(Watch(*engines))
        ours(options, engines, pdf("digital-1200"), "auto")
    rate = steady_rate(watch, 10, latencies)
    table.add("four engines, one ten times slower: pages/s after 10 s", f"{rate:.1f}", f"all they can give {capacity:.1f}: {rate / capacity:.0%}",
              "≥ 95%", rate >= 0.95 * capacity)


def bench_tiny(options, table: Table) -> None:
    def best(command: list[str], count: int) -> float:
        rates = []
        for _ in range(3):
            with SimEngine(words=5, keep_alive="60s") as engine:
                out = subprocess.run([*command, str(count), "64", engine.url], capture_output=True, text=True)
            if out.returncode != 0:
                print(f"bench/engine: {command[0]} ended with {out.returncode}:\n{out.stderr[-2000:]}", file=sys.stderr)
                raise SystemExit(2)
            told = json.loads(out.stdout)
            rates.append(told["requests"] / told["wall_s"])
        return max(rates)
    own = best([REQUESTS], 20_000)
    if options.no_peers:
        table.add("tiny requests", f"{own:,.0f}/s", "–", "≥ 3,000/s", own >= 3000)
        return
    theirs = best([PYTHON, str(PEERS / "python_requests.py")], 1_500)
    table.add("tiny requests, 64 at a time", f"{own:,.0f}/s", f"Python {theirs:,.0f}/s: {own / theirs:.1f}×", "≥ 3,000/s and ≥ 8×",
              own >= 3000 and own >= 8 * theirs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", choices=[*WORKLOADS, []])
    parser.add_argument("--pages", type=int, default=200, help="pages of the workloads whose length is free (default 200)")
    parser.add_argument("--lectern", default=str(ROOT / "build/release/bin/lectern"))
    parser.add_argument("--without-pages", action="store_true", help="small requests instead of pages: the fleet alone")
    parser.add_argument("--no-peers", action="store_true", help="only ours")
    options = parser.parse_args()
    chosen = options.workloads or WORKLOADS
    help_text = subprocess.run([options.lectern, "read", "--help"], capture_output=True, text=True).stdout if Path(options.lectern).exists() else ""
    if "--engine" not in help_text and chosen != ["tiny"] and not options.without_pages:
        print(f"bench/engine: {options.lectern} is not there, or has no --engine; run ./dev build, or name it with --lectern", file=sys.stderr)
        return 2
    if chosen != ["tiny"] and not options.without_pages:
        with_scans = bool({"cpu", "memory"} & set(chosen))
        engine_pages.make(CORPUS, engine_pages.NAMES if with_scans else ("digital", "digital-1200"))
    measure.adopt_orphans()
    table = Table("engine", "lectern", "compared with", theirs_is_figure=True)
    for workload in chosen:
        globals()[f"bench_{workload}"](options, table)
    table.print()
    return 0 if table.met else 1


if __name__ == "__main__":
    sys.exit(main())
