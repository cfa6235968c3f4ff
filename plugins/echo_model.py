"""A model that needs nothing: it says what it was asked, so that the lines can be tried without one."""
import base64
import binascii


class EchoModel:
    name = "echo"
    batch = True
    batch_max = 0

    def answer(self, request) -> None:
        for index, prompt in enumerate(request.prompts):
            if request.has_left(index):
                continue
            try:
                sizes = [len(base64.b64decode(image["base64"], validate=True)) for image in prompt.get("images", [])]
            except (binascii.Error, ValueError) as error:
                request.fail(index, "bad_image", f"the picture is no base64: {error}")
                continue
            words = prompt["user"].split(" ") + [f"[picture of {size} bytes]" for size in sizes]
            limit = prompt["parameters"]["max_tokens"]
            said = words[:limit]
            text = " ".join(said)
            if prompt.get("stream"):
                for number, word in enumerate(said):
                    request.piece(index, word if number == 0 else " " + word)
            usage = {"prompt_tokens": len(words), "completion_tokens": len(said)}
            logprob = 0.0 if prompt["parameters"].get("logprobs") else None
            request.answer(index, text, "stop" if len(words) <= limit else "length", usage, logprob)
