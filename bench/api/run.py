#!/usr/bin/env python3
"""./dev bench api [reads] [uploads] [slow] [--seconds N] [--bytes N]: the service under wrk and slowhttptest.

The service runs as a process of its own with SQLite and a folder of blobs on this machine's disk; nobody works on the jobs, so
what is measured is taking them in. wrk and slowhttptest run on the same cores."""
import argparse
import contextlib
import json
import os
import re
import resource
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "build/release/bin/service_under_test"
UPLOADS_MAX = 64  # the service's own default
SLOW_CONNECTIONS = 5000


@contextlib.contextmanager
def service(folder: str):
    command = [PROGRAM, "--folder", folder, "--no-work", "--uploads-max", str(UPLOADS_MAX), "--jobs-open-max", "100000000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield json.loads(process.stdout.readline())
        process.stdin.close()
        process.wait(60)


def wrk(address: str, script: str, connections: int, seconds: int, target: str = "", **environment: str) -> dict:
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", HERE / script, address + target],
                          env=os.environ | environment, capture_output=True, text=True, check=True).stdout
    return json.loads(re.search(r"^RESULT (.*)$", said, re.MULTILINE).group(1))


class Beside(threading.Thread):
    """Looks at something again and again while the block goes on."""

    def __init__(self, interval_s: float):
        super().__init__(daemon=True)
        self.interval_s, self.over = interval_s, threading.Event()

    def run(self) -> None:
        while not self.over.wait(self.interval_s):
            self.look()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


class Memory(Beside):
    """The resident memory of a process, four times a second."""

    def __init__(self, pid: int):
        super().__init__(0.25)
        self.path, self.samples = Path(f"/proc/{pid}/status"), []

    def look(self) -> None:
        self.samples.append(int(re.search(r"VmRSS:\s+(\d+)", self.path.read_text("utf-8")).group(1)) / 1024)

    def middle_and_end(self) -> tuple[float, float]:
        """What was most in the middle third, and in the last: equal when it does not grow."""
        third = max(1, len(self.samples) // 3)
        return max(self.samples[third:2 * third]), max(self.samples[-third:])


class Probe(Beside):
    """A well-behaved client that asks ten times a second, on a new connection each time: how long which answer takes."""

    def __init__(self, ask):
        super().__init__(0.1)
        self.ask, self.times = ask, {}

    def look(self) -> None:
        start = time.monotonic()
        try:
            with urllib.request.urlopen(self.ask(), timeout=10) as answer:
                answer.read()
                status = answer.status
        except urllib.error.HTTPError as refused:
            status = refused.code
        except OSError:
            status = 0
        self.times.setdefault(status, []).append((time.monotonic() - start) * 1000)

    def row(self, status: int) -> str:
        times = sorted(self.times.get(status, []))
        return f"{times[len(times) // 2]:.1f} / {times[-1]:.0f} of {len(times)}" if times else "–"


def upload(address: str, size: int) -> urllib.request.Request:
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n' + bytes(size) + b"\r\n--b--\r\n"
    return urllib.request.Request(address + "/v1/jobs", body, {"Content-Type": "multipart/form-data; boundary=b"})


class Load:
    """One kind of load, measured in several windows: other kinds are measured in between, so that a disk that gets slower
    with time is slower for all."""

    def __init__(self, name: str, connections: int, patient: bool = False):
        self.name, self.connections, self.patient = name, connections, patient
        self.windows, self.memory, self.refusals = [], [], []

    def measure(self, said: dict, seconds: int, size: int) -> None:
        with Memory(said["pid"]) as memory, Probe(lambda: upload(said["address"], 1_000)) as probe:
            got = wrk(said["address"], "uploads.lua", self.connections, seconds, DOCUMENT_BYTES=str(size), PATIENT="1" if self.patient else "0")
        self.windows.append(got)
        self.memory.append(memory.middle_and_end()[1])
        self.refusals += probe.times.get(429, [])

    def goodput(self) -> float:
        return sum(w["stored"] for w in self.windows) / sum(w["seconds"] for w in self.windows)

    def row(self) -> str:
        refused = sum(w["refused"] for w in self.windows) / sum(w["seconds"] for w in self.windows)
        rates = " ".join(f"{w['stored'] / w['seconds']:.0f}" for w in self.windows)
        quick = sorted(self.refusals)
        told = f"{quick[len(quick) // 2]:.1f} / {quick[int(len(quick) * 0.99)]:.0f}" if quick else "–"
        failed = sum(w["other"] + w["broken"] for w in self.windows)
        return f"| {self.name} | {self.connections} | {self.goodput():.0f} ({rates}) | {refused:.0f} | {told} | {' '.join(f'{m:.0f}' for m in self.memory)} | {failed} |"


def slow(said: dict, job: str, name: str, arguments: list[str]) -> None:
    with Probe(lambda: f"{said['address']}/v1/jobs/{job}") as probe, Memory(said["pid"]) as memory:
        out = subprocess.run(["slowhttptest", "-c", str(SLOW_CONNECTIONS), "-r", "1000", "-i", "5", "-l", "25", "-p", "3", *arguments],
                             capture_output=True, text=True, errors="replace", check=False).stdout
    out = re.sub(r"\x1b\[[0-9;]*m", "", out)
    available = re.findall(r"service available:\s+(\w+)", out)
    most = max((int(n) for n in re.findall(r"connected:\s+(\d+)", out)), default=0)
    failed = sum(len(times) for status, times in probe.times.items() if status != 200)
    print(f"| {name} | {most} | {'always' if available and 'NO' not in available else 'NOT always'} | {probe.row(200)} | {failed} | {max(memory.samples):.0f} |", flush=True)


def measure_reads(said: dict, job: str, options: argparse.Namespace) -> None:
    print("| reads, 64 connections | a second | p50 / p99, ms |\n|---|---|---|")
    for name, target in (("a job", f"/v1/jobs/{job}"), ("health/live", "/health/live")):
        got = wrk(said["address"], "reads.lua", 64, options.seconds, target)
        print(f"| {name} | {got['requests'] / got['seconds']:.0f} | {got['p50_ms']:.1f} / {got['p99_ms']:.1f} |", flush=True)


def measure_uploads(said: dict, _job: str, options: argparse.Namespace) -> None:
    loads = [Load("a few", 8), Load("as many as are let in", UPLOADS_MAX),
             Load("5×, who wait as Retry-After says", 5 * UPLOADS_MAX, patient=True), Load("5×, who do not wait", 5 * UPLOADS_MAX)]
    for turn in range(options.rounds):
        for load in loads if turn % 2 == 0 else reversed(loads):
            load.measure(said, options.seconds, options.bytes)
    print(f"| uploads of {options.bytes} bytes | clients | stored a second (by window) | refused a second | a refusal, p50 / p99 ms "
          "| memory by window, MB | failed |\n|---|---|---|---|---|---|---|")
    for load in loads:
        print(load.row())
    peak = loads[1].goodput()
    print(f"\nof the peak: {loads[2].goodput() / peak:.0%} with clients who wait, {loads[3].goodput() / peak:.0%} with clients who do not", flush=True)


def measure_slow(said: dict, job: str, _options: argparse.Namespace) -> None:
    print(f"| slowhttptest, {SLOW_CONNECTIONS} connections | connected at most | available | reads of a job beside them, p50 / most ms "
          "| failed | memory, MB |\n|---|---|---|---|---|---|")
    address = said["address"]
    window = ["-w", "10", "-y", "20", "-n", "5", "-z", "32"]
    slow(said, job, "slow headers", ["-H", "-u", address + "/"])
    slow(said, job, "slow bodies", ["-B", "-t", "POST", "-s", "100000", "-f", "multipart/form-data; boundary=b", "-u", address + "/v1/jobs"])
    slow(said, job, "slow reading", ["-X", "-u", address + "/openapi.json", *window, "-k", "10"])
    for _ in range(300):
        with urllib.request.urlopen(upload(address, 1_000), timeout=20) as answer:
            answer.read()
    slow(said, job, "slow reading of lists of 200 jobs", ["-X", "-u", address + "/v1/jobs?limit=200", *window, "-k", "3"])


PARTS = {"reads": measure_reads, "uploads": measure_uploads, "slow": measure_slow}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="reads, uploads, slow; all when none is named")
    parser.add_argument("--seconds", type=int, default=5, help="of each window")
    parser.add_argument("--rounds", type=int, default=4, help="of uploads")
    parser.add_argument("--bytes", type=int, default=10_000, help="of a document")
    options = parser.parse_args()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder, service(folder) as said:
            with urllib.request.urlopen(upload(said["address"], 1_000), timeout=20) as answer:
                job = json.load(answer)["id"]
            PARTS[part](said, job, options)
            print(flush=True)


if __name__ == "__main__":
    main()
