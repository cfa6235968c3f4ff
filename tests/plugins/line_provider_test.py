#!/usr/bin/env python3
"""The lines of plugins/transformers_provider.py, as another program sees them, and what they do with bad news."""
import base64
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
sys.path.insert(0, str(PLUGINS))
import line_provider  # noqa: E402


def prompt(user: str, *images: bytes, stream: bool = False, **parameters) -> dict:
    return {"system": "", "user": user, "stream": stream, "parameters": {"max_tokens": 100, "temperature": 0} | parameters,
            "images": [{"media_type": "image/jpeg", "base64": base64.b64encode(image).decode()} for image in images]}


def start(*arguments: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-B", PLUGINS / "transformers_provider.py", *arguments], text=True,
                            encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={key: value for key, value in os.environ.items() if key != "LECTERN_MODEL"} | environment)


def talk(lines: list[dict], *arguments: str, **environment: str) -> list[dict]:
    """All that it says when it hears these lines and then the end."""
    program = start(*arguments, **environment)
    replies = [json.loads(program.stdout.readline())]
    for line in lines:
        program.stdin.write(json.dumps(line) + "\n")
        program.stdin.flush()
        if "prompts" in line:
            settled = 0
            while settled < len(line["prompts"]):
                replies.append(json.loads(program.stdout.readline()))
                settled += "piece" not in replies[-1]
    rest, _ = program.communicate()
    return replies + [json.loads(line) for line in rest.splitlines()]


class EchoTest(unittest.TestCase):
    def test_answers_a_batch(self):
        replies = talk([{"id": 7, "prompts": [prompt("one two", logprobs=True), prompt("three", b"12345")]}], "--echo")
        self.assertEqual(replies, [
            {"ready": True, "model": "echo", "batch": True},
            {"id": 7, "index": 0, "text": "one two", "finish": "stop",
             "usage": {"prompt_tokens": 2, "completion_tokens": 2}, "mean_logprob": 0.0},
            {"id": 7, "index": 1, "text": "three [picture of 5 bytes]", "finish": "stop",
             "usage": {"prompt_tokens": 2, "completion_tokens": 2}}])

    def test_streams_pieces_that_make_the_text(self):
        replies = talk([{"id": 1, "prompts": [prompt("a b c", stream=True, max_tokens=2)]}], "--echo")
        self.assertEqual("".join(reply.get("piece", "") for reply in replies), "a b")
        self.assertEqual((replies[-1]["text"], replies[-1]["finish"]), ("a b", "length"))

    def test_a_bad_picture_costs_only_its_prompt(self):
        bad = prompt("x") | {"images": [{"media_type": "image/png", "base64": "not base64!"}]}
        replies = talk([{"id": 1, "prompts": [bad, prompt("good")]}], "--echo")
        self.assertEqual(replies[1]["error"]["reason"], "bad_image")
        self.assertEqual(replies[2]["text"], "good")

    def test_any_text(self):
        words = "é 漢字 😀 \"quotes\" \\ \u2028 \t\n"
        self.assertEqual(talk([{"id": 1, "prompts": [prompt(words)]}], "--echo")[1]["text"], words)

    def test_cancelling_what_is_not_there_does_no_harm(self):
        replies = talk([{"cancel": 99}, {"cancel": 99, "index": 1}, {"id": 1, "prompts": [prompt("still here")]}], "--echo")
        self.assertEqual(replies[1]["text"], "still here")


class StartTest(unittest.TestCase):
    def test_without_a_model_it_says_what_to_do(self):
        reply, = talk([])
        self.assertFalse(reply["ready"])
        self.assertIn("--model", reply["message"])

    def test_without_torch_it_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:  # a torch that cannot be imported, whatever this machine has
            Path(folder, "torch.py").write_text("raise ImportError('No module named torch')\n", "utf-8")
            reply, = talk([], "--tiny-random", "llama", PYTHONPATH=folder)
        self.assertFalse(reply["ready"])
        self.assertIn("pip install torch", reply["message"])


class Answers:
    """A model whose answer() is given."""
    name, batch, batch_max = "test", True, 0

    def __init__(self, answer):
        self.answer = answer


class RequestTest(unittest.TestCase):
    def setUp(self):
        self.said = []
        self.request = line_provider.Request({"id": 3, "prompts": [prompt("a"), prompt("b")]}, self.said.append)

    def run_model(self, answer) -> None:
        errors, sys.stderr = sys.stderr, io.StringIO()
        try:
            line_provider._answer(Answers(answer), self.request)
        finally:
            sys.stderr = errors

    def test_an_exception_fails_what_is_left(self):
        def answer(request):
            request.answer(0, "fine", "stop")
            raise ValueError("boom")
        self.run_model(answer)
        self.assertEqual(self.said[0]["text"], "fine")
        self.assertEqual(self.said[1], {"id": 3, "index": 1, "error": {"reason": "failed", "message": "ValueError: boom"}})
        self.assertEqual(len(self.said), 2)

    def test_each_prompt_is_answered_once(self):
        def answer(request):
            request.answer(0, "first", "stop")
            request.answer(0, "second", "stop")
            request.fail(0, "failed", "third")
        self.run_model(answer)
        self.assertEqual([line.get("text") for line in self.said if line["index"] == 0], ["first"])

    def test_who_has_left_is_told_so(self):
        self.request.leave(1)
        self.assertEqual([self.request.has_left(index) for index in (0, 1)], [False, True])
        self.run_model(lambda request: request.answer(0, "fine", "stop"))
        self.assertEqual(self.said[1]["error"]["reason"], "cancelled")
        self.request.leave(None)
        self.assertTrue(self.request.has_left(0))

    def test_nothing_is_said_for_an_empty_piece(self):
        self.request.piece(0, "")
        self.assertEqual(self.said, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
