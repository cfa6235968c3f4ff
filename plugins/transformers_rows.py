"""The rows of one running batch: each ends by itself, streams by itself and is answered as soon as it is done."""
import torch
import transformers
from line_provider import Request

STREAM_EVERY = 8  # tokens between two pieces: decoding text costs more than it seems
SAMPLING = ["temperature", "top_p", "repetition_penalty", "frequency_penalty", "seed", "logprobs", "top_k", "min_p", "typical_p",
            "no_repeat_ngram_size", "length_penalty"]


class Row:
    def __init__(self, request: Request, index: int, text: str, images: list):
        self.index = index
        self.text = text
        self.images = images
        prompt = request.prompts[index]
        self.parameters = prompt["parameters"]
        self.stream = bool(prompt.get("stream"))
        self.stop = self.parameters.get("stop", [])
        self.prompt_tokens = 0
        self.limit = 0
        self.tokens = []
        self.streamed = 0  # characters of the text that went out as pieces
        self.logprob = 0.0
        self.done = False

    def settings_key(self) -> tuple:
        """Prompts that differ here cannot share one generate()."""
        return tuple(self.parameters.get(name) for name in SAMPLING)


def stop_at(text: str, stops: list[str]) -> int | None:
    """Where the first stop string begins."""
    found = [place for place in (text.find(stop) for stop in stops if stop) if place >= 0]
    return min(found) if found else None


def safe_length(text: str, stops: list[str]) -> int:
    """How much of it can go out already: half a character may still change, and the beginning of a stop string must not
    be said."""
    end = len(text)
    while end > 0 and text[end - 1] == "\ufffd":
        end -= 1
    for stop in stops:
        for size in range(min(len(stop) - 1, end), 0, -1):
            if text[:end].endswith(stop[:size]):
                end -= size
                break
    return end


class RowWatcher(transformers.StoppingCriteria):
    """Looks at each step's tokens, row by row; generate() asks it which rows are done."""

    def __init__(self, request: Request, rows: list[Row], tokenizer, ends: set, start: int):
        self.request = request
        self.rows = rows
        self.tokenizer = tokenizer
        self.ends = ends
        self.start = start
        self.scores = None  # log probabilities of this step, when somebody wants them

    def __call__(self, input_ids, scores, **kwargs):
        chosen = input_ids[:, -1]
        logprobs = None
        if self.scores is not None:
            logprobs = self.scores.gather(1, chosen.unsqueeze(1)).squeeze(1).tolist()
        for number, token in enumerate(chosen.tolist()):
            row = self.rows[number]
            if not row.done:
                self.step(row, token, 0.0 if logprobs is None else logprobs[number])
        return torch.tensor([row.done for row in self.rows], device=input_ids.device)

    def step(self, row: Row, token: int, logprob: float) -> None:
        if self.request.has_left(row.index):
            row.done = True
            self.request.fail(row.index, "cancelled", "as asked")
            return
        row.logprob += logprob
        row.tokens.append(token)
        if token in self.ends:
            return self.settle(row, "stop")
        whole = len(row.tokens) >= row.limit
        if row.stop and self.says_stop(row):
            return self.settle(row, "stop")
        if whole:
            return self.settle(row, "length")
        if row.stream and len(row.tokens) % STREAM_EVERY == 0:
            text = self.text(row)
            end = safe_length(text, row.stop)
            if end > row.streamed:
                self.request.piece(row.index, text[row.streamed:end])
                row.streamed = end

    def says_stop(self, row: Row) -> bool:
        # Only the tail: a token is at least one byte, so the string lies within as many tokens as it has bytes.
        size = max(len(stop.encode()) for stop in row.stop) + 4
        tail = self.tokenizer.decode(row.tokens[-size:], skip_special_tokens=True)
        return stop_at(tail, row.stop) is not None

    def text(self, row: Row) -> str:
        return self.tokenizer.decode(row.tokens, skip_special_tokens=True)

    def settle(self, row: Row, finish: str) -> None:
        row.done = True
        text = self.text(row)
        place = stop_at(text, row.stop)
        if place is not None:
            text = text[:place]
        if row.stream:
            self.request.piece(row.index, text[row.streamed:])
        usage = {"prompt_tokens": row.prompt_tokens, "completion_tokens": len(row.tokens)}
        mean = row.logprob / len(row.tokens) if self.scores is not None and row.tokens else None
        self.request.answer(row.index, text, finish, usage, mean)

    def finish(self) -> None:
        """generate() has returned: whoever is left ran into its limit."""
        for row in self.rows:
            if not row.done:
                self.settle(row, "length")


def remember_scores(watcher: RowWatcher):
    """Keeps the log probabilities of one step only: those of all steps would not fit (batch × tokens × vocabulary)."""

    def remember(input_ids, scores):
        watcher.scores = torch.log_softmax(scores.float(), dim=-1)
        return scores

    return remember


def frequency_penalty(penalty: float, start: int):
    """As OpenAI defines it: so much less for each time that a token has been said."""

    def punish(input_ids, scores):
        said = input_ids[:, start:]
        counts = torch.zeros_like(scores).scatter_add_(1, said, torch.ones_like(said, dtype=scores.dtype))
        return scores - penalty * counts

    return punish
