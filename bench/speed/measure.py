"""Running a command and measuring its whole process tree: CPU seconds, wall-clock seconds, memory over time."""
import ctypes
import os
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Grandchildren whose parent ends first become our children, so that their CPU time is counted too."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@dataclass
class Sample:
    seconds: float
    bytes: int
    pages: int


@dataclass
class Run:
    exit_code: int
    wall_s: float
    cpu_s: float  # user + system of the process and of every descendant
    stderr_tail: str
    samples: list[Sample] = field(default_factory=list)
    memory_kind: str = "PSS"


def _children() -> dict[int, list[int]]:
    tree: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text()
            except OSError:
                continue  # it ended meanwhile
            tree.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    return tree


def _tree(root: int) -> list[int]:
    children, found, queue = _children(), [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue += children.get(pid, [])
    return found


def tree_memory(root: int) -> tuple[int, str]:
    """Proportional set sizes summed: a page that n processes share counts once in all. Where a process hides its maps (it made
    itself undumpable and we are not root), its resident set stands in, which counts shared pages too often, never too rarely."""
    total, kind = 0, "PSS"
    for pid in _tree(root):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) * 1024
        except PermissionError:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            kind = "PSS and RSS"
        except (OSError, StopIteration):
            continue  # it ended meanwhile
    return total, kind


def _reap_orphans(beside: frozenset[int]) -> None:
    """Waits for what we adopted; a process that outlives its program by ten seconds is a fault worth stopping for. Processes `beside`
    are children of ours that have nothing to do with it."""
    deadline = time.monotonic() + 10
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            if not set(_children().get(os.getpid(), [])) - beside:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"processes outlive the command: {_tree(os.getpid())[1:]}")
            time.sleep(0.02)


def run(command: list[str], *, environment: dict[str, str] | None = None, stdout=subprocess.DEVNULL,
        pages_done=None, sample_every_s: float | None = None, beside: frozenset[int] = frozenset()) -> Run:
    """`pages_done(line)` turns a line of standard error into a count of finished pages, or None."""
    started = time.monotonic()
    before = os.times()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace",
                               env={**os.environ, **(environment or {})})
    pages, tail = [0], []

    def follow():
        for line in process.stderr:
            tail.append(line)
            del tail[:-20]
            if pages_done and (count := pages_done(line)) is not None:
                pages[0] = max(pages[0], count)
    reader = threading.Thread(target=follow)
    reader.start()
    samples, kind = [], "PSS"
    while process.poll() is None:
        if sample_every_s is None:
            process.wait()
            break
        size, this_kind = tree_memory(process.pid)
        kind = this_kind if this_kind != "PSS" else kind
        samples.append(Sample(time.monotonic() - started, size, pages[0]))
        time.sleep(sample_every_s)
    wall = time.monotonic() - started
    reader.join()
    _reap_orphans(beside)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(process.returncode, wall, cpu, "".join(tail), samples, kind)
