"""Starts lectern-sim-engine, changes it while it runs, and asks for its figures."""
import http.client
import json
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/lectern-sim-engine"
MODEL = "sim-vl"  # a name that the server lists: lectern tries one that it does not with a question of its own first


class SimEngine:
    """Use with `with`. Settings are the program's flags: SimEngine(slots=8, latency="fixed:0.5s", time_scale=1)."""

    def __init__(self, **settings):
        flags = [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        self.process = subprocess.Popen([str(PROGRAM), "--exit-with-parent", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
                                         "--model", MODEL, *flags], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]
        self.control_address = self.process.stdout.readline().split()[-1].removeprefix("http://")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def _ask(self, method: str, path: str, body: str = "") -> dict:
        connection = http.client.HTTPConnection(self.control_address, timeout=30)
        try:
            connection.request(method, path, body)
            reply = connection.getresponse()
            text = reply.read().decode()
            if reply.status != 200:
                raise RuntimeError(f"lectern-sim-engine: {text}")
            return json.loads(text)
        finally:
            connection.close()

    def control(self, **settings) -> None:
        self._ask("POST", "/sim/control", json.dumps({name.replace("_", "-"): value for name, value in settings.items()}))

    def reset(self) -> None:
        self._ask("POST", "/sim/reset")

    def stats(self) -> dict:
        return self._ask("GET", "/sim/stats")


class Watch:
    """Notes (seconds, figures) of engines while something else runs, ten times a second."""

    def __init__(self, *engines: SimEngine):
        self.engines, self.notes, self.done, self.started = engines, [], threading.Event(), time.monotonic()
        self.thread = threading.Thread(target=self._follow)

    def _follow(self):
        while not self.done.wait(0.1):
            self.notes.append((time.monotonic() - self.started, [engine.stats() for engine in self.engines]))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def _at(self, at_s: float, measure) -> float:
        """What `measure` makes of the figures at this moment, interpolated between two notes."""
        before = (0.0, 0.0)
        for seconds, figures in self.notes:
            value = measure(figures)
            if seconds >= at_s:
                share = (at_s - before[0]) / max(1e-9, seconds - before[0])
                return before[1] + share * (value - before[1])
            before = (seconds, value)
        return before[1]

    def answers_per_s(self, from_s: float, to_s: float) -> float:
        answered = lambda figures: sum(each["answered"] for each in figures)
        return (self._at(to_s, answered) - self._at(from_s, answered)) / (to_s - from_s)

    def work_per_s(self, from_s: float, to_s: float, latencies_s: list[float]) -> float:
        """Pages per second by the slot time that was used. Answers come in rounds, slot time flows evenly."""
        pages = lambda figures: sum(each["slot_busy_s"] / latency for each, latency in zip(figures, latencies_s))
        return (self._at(to_s, pages) - self._at(from_s, pages)) / (to_s - from_s)

    def last_s(self) -> float:
        return self.notes[-1][0] if self.notes else 0.0

    def ended_s(self) -> float:
        """When the last request began to be served: from then on the run only drains."""
        total = [sum(each["requests"] for each in figures) for _, figures in self.notes]
        return next((seconds for (seconds, _), count in zip(self.notes, total) if count == total[-1]), 0.0)

    def started_s(self) -> float:
        return next((seconds for seconds, figures in self.notes if any(each["requests"] for each in figures)), 0.0)
