"""The lines of docs/process-providers.md, for a provider written in Python. Needs only the standard library.

A provider hands serve() a function that loads its model. The model has `name`, `batch`, `batch_max` and
`answer(request)`, which answers each prompt of a Request through it; what it leaves unanswered fails.
"""
import json
import os
import queue
import sys
import threading
import traceback


class CannotStart(Exception):
    """The model cannot be loaded; the text says why and what to do. Shown to the user as it is."""


class Request:
    """One request: its prompts, who of its askers has left, and the lines that answer it. Safe from any thread."""

    def __init__(self, line: dict, say):
        self.id = line["id"]
        self.prompts = line["prompts"]
        self._say = say
        self._lock = threading.Lock()
        self._open = set(range(len(self.prompts)))
        self._left = set()

    def leave(self, index: int | None) -> None:
        with self._lock:
            self._left |= {index} if index is not None else set(range(len(self.prompts)))

    def has_left(self, index: int) -> bool:
        with self._lock:
            return index in self._left

    def unanswered(self) -> list[int]:
        with self._lock:
            return sorted(self._open)

    def piece(self, index: int, text: str) -> None:
        if text:
            self._say({"id": self.id, "index": index, "piece": text})

    def answer(self, index: int, text: str, finish: str, usage: dict | None = None, mean_logprob: float | None = None) -> None:
        line = {"id": self.id, "index": index, "text": text, "finish": finish}
        if usage is not None:
            line["usage"] = usage
        if mean_logprob is not None:
            line["mean_logprob"] = mean_logprob
        self._settle(index, line)

    def fail(self, index: int, reason: str, message: str) -> None:
        self._settle(index, {"id": self.id, "index": index, "error": {"reason": reason, "message": message}})

    def _settle(self, index: int, line: dict) -> None:
        with self._lock:
            if index not in self._open:
                return
            self._open.remove(index)
        self._say(line)


class _Lines:
    """Our two streams. Standard output is taken away from everybody else: libraries print, and a stray word among the
    lines would end us."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self.requests = queue.Queue()
        self._present = {}

    def say(self, line: dict) -> None:
        text = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
        with self._lock:
            self._out.write(text + "\n")
            self._out.flush()

    def done(self, request: Request) -> None:
        with self._lock:
            self._present.pop(request.id, None)

    def listen(self) -> None:
        """Reads until standard input ends; then nobody is left to answer, so the whole program ends, whatever it does."""
        for text in sys.stdin.buffer:
            line = json.loads(text)
            if "cancel" in line:
                with self._lock:
                    request = self._present.get(line["cancel"])
                if request is not None:
                    request.leave(line.get("index"))
                continue
            request = Request(line, self.say)
            with self._lock:
                self._present[request.id] = request
            self.requests.put(request)
        os._exit(0)


def _answer(model, request: Request) -> None:
    try:
        model.answer(request)
        message = "the provider gave no answer"
    except Exception as error:  # one request must not cost the others their program
        traceback.print_exc()
        message = f"{type(error).__name__}: {error}"
    for index in request.unanswered():
        if request.has_left(index):
            request.fail(index, "cancelled", "as asked")
        else:
            request.fail(index, "failed", message)


def serve(load) -> None:
    """Loads the model and answers until standard input ends."""
    lines = _Lines()
    try:
        model = load()
    except CannotStart as refusal:
        lines.say({"ready": False, "message": str(refusal)})
        sys.exit(1)
    except Exception as error:
        traceback.print_exc()
        lines.say({"ready": False, "message": f"loading the model failed: {type(error).__name__}: {error}"})
        sys.exit(1)
    ready = {"ready": True, "model": model.name, "batch": model.batch}
    if model.batch_max:
        ready["batch_max"] = model.batch_max
    lines.say(ready)
    threading.Thread(target=lines.listen, daemon=True).start()
    while True:
        request = lines.requests.get()
        _answer(model, request)
        lines.done(request)
