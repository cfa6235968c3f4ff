#!/usr/bin/env python3
"""bench/queue: how many tasks the job store takes, durably, and whether a long backlog slows it down.

  ./dev bench queue [drain | claims]… [--tasks N] [--backlog N] [--peer-tasks N] [--no-peers]

  drain   100,000 read tasks that do nothing (100 jobs of 4 tenants), claimed 64 at a time by 4 workers and committed together with
          their events, through Store: SQLite in the temporary folder, and a private PostgreSQL with fsync on. Bars: 5,000 a second
          each. Beside it Celery on Redis in the same run (peers/celery_queue.py), with results and without; neither is durable.
  claims  the median claim of 64 tasks from 10 tenants while nothing else waits, and while 1,000,000 other tasks are ready, one after
          the other in one process. Bar: less than twice as long.
Nothing named means both. Exit code: 0 every bar is met, 1 one is missed, 2 the run could not start.
"""
import argparse
import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/quality")]
import virtualenv  # noqa: E402
from verdicts import Table  # noqa: E402

PROGRAM = str(ROOT / "build/release/bin/bench-queue")
VENV = ROOT / ".cache/bench-queue-venv"
PINS = ROOT / "packages/bench-queue-pypi.txt"
STORES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
PER_SECOND_BAR = 5000
SLOWER_BAR = 2.0


def run(command: list[str], **more) -> dict:
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        print(f"bench/queue: {command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}", file=sys.stderr)
        raise SystemExit(2)
    return json.loads(done.stdout.splitlines()[-1])


@contextlib.contextmanager
def redis_server():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                   "--dir", folder], stdout=subprocess.DEVNULL)
        try:
            for _ in range(500):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.01)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()
            server.wait()


def drain(options, table: Table) -> None:
    for store, name in STORES.items():
        got = run([PROGRAM, "drain", store, f"tasks={options.tasks}"])
        table.add(f"drain of {got['tasks']:,} tasks, {name}", f"{got['per_second']:,}/s",
                  f"claim {got['claim_ms']:.1f} ms, commit {got['commit_ms']:.1f} ms a batch of 64", f"≥ {PER_SECOND_BAR:,}/s",
                  got["per_second"] >= PER_SECOND_BAR)
    if options.no_peers:
        return
    virtualenv.make(VENV, PINS)
    version = subprocess.run([str(VENV / "bin/python"), "-c", "import celery; print(celery.__version__)"], capture_output=True,
                             text=True, check=True).stdout.strip()
    for results in ([], ["--results"]):
        with redis_server() as url:
            got = run([str(VENV / "bin/python"), "-W", "ignore", str(Path(__file__).parent / "peers/celery_queue.py"), url,
                       str(options.peer_tasks), *results])
        table.add(f"drain of {got['tasks']:,} tasks, Celery {version} on Redis, {'with' if results else 'without'} results",
                  f"{got['per_second']:,.0f}/s", "not durable", "–", None)


def claims(options, table: Table) -> None:
    for store, name in STORES.items():
        got = run([PROGRAM, "claims", store, f"backlog={options.backlog}"])
        ratio = got["full_ms"] / got["empty_ms"]
        table.add(f"claim of 64 with {got['backlog']:,} ready tasks, {name}", f"{got['full_ms']:.2f} ms",
                  f"with none besides: {got['empty_ms']:.2f} ms; {ratio:.2f}×", f"< {SLOWER_BAR:g}×", ratio < SLOWER_BAR)


WORKLOADS = {"drain": drain, "claims": claims}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="drain | claims")
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--backlog", type=int, default=1_000_000)
    parser.add_argument("--peer-tasks", type=int, default=10_000)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(WORKLOADS):
        parser.error(f"unknown: {' '.join(unknown)}; there are {' '.join(WORKLOADS)}")
    table = Table("queue", "figure", "more", theirs_is_figure=False)
    for name in options.workloads or WORKLOADS:
        WORKLOADS[name](options, table)
    table.print()
    raise SystemExit(0 if table.met else 1)


if __name__ == "__main__":
    main()
