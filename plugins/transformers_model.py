"""A Hugging Face model that answers batches of prompts. Imported only when a model is wanted: torch takes seconds."""
import base64
import gc
import io
import sys

import torch
import transformers
from line_provider import CannotStart, Request

from transformers_rows import Row, RowWatcher, frequency_penalty, remember_scores

# Generation settings that a prompt's parameters may name beside ours (Lectern's extra_body).
EXTRA_SETTINGS = ["top_k", "min_p", "typical_p", "no_repeat_ngram_size", "length_penalty"]


def load_model(options):
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda"):
        if not torch.cuda.is_available():
            raise CannotStart(f"--device {device}: torch {torch.__version__} sees no GPU here; use --device cpu")
        if options.memory_fraction < 1:
            torch.cuda.set_per_process_memory_fraction(options.memory_fraction)
    dtype = options.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    dtype = getattr(torch, dtype)
    if options.model:
        model, processor = from_hub(options, dtype, device)
        name = options.model
    else:
        from random_model import random_model

        name = options.tiny_random or options.shape
        model, processor = random_model(name, dtype, device, options.attention)
        name = f"random-{name}"
    print(f"{name}: {sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters on {device}, {dtype}", file=sys.stderr)
    return TransformersModel(name, model.eval(), processor, options.batch_max, any_name=not options.model)


def from_hub(options, dtype, device):
    trust = {"trust_remote_code": options.trust_remote_code}
    try:
        config = transformers.AutoConfig.from_pretrained(options.model, **trust)
        vision = type(config) in transformers.AutoModelForImageTextToText._model_mapping.keys()
        kind = transformers.AutoModelForImageTextToText if vision else transformers.AutoModelForCausalLM
        model = kind.from_pretrained(options.model, dtype=dtype, attn_implementation=options.attention, **trust).to(device)
        reader = transformers.AutoProcessor if vision else transformers.AutoTokenizer
        processor = reader.from_pretrained(options.model, **trust)
    except (OSError, ValueError, ImportError) as error:
        raise CannotStart(f"{options.model} cannot be loaded: {error}") from error
    return model, processor


class TransformersModel:
    batch = True

    def __init__(self, name, model, processor, batch_max, any_name):
        self.name = name
        self.batch_max = batch_max
        self.model = model
        self.processor = processor
        self.any_name = any_name
        self.tokenizer = getattr(processor, "tokenizer", processor)
        self.tokenizer.padding_side = "left"  # answers of a batch begin at the same place
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.takes_images = self.tokenizer is not processor
        text_config = model.config.get_text_config()
        self.context = getattr(text_config, "max_position_embeddings", None) or 1 << 30
        ends = model.generation_config.eos_token_id
        ends = self.tokenizer.eos_token_id if ends is None else ends
        self.ends = set(ends if isinstance(ends, list) else [ends])

    def answer(self, request: Request) -> None:
        groups = {}
        for index in range(len(request.prompts)):
            row = self.row(request, index)
            if row is not None:
                groups.setdefault(row.settings_key(), []).append(row)
        for rows in groups.values():  # one generate() has one set of sampling settings
            self.answer_group(request, rows)

    def row(self, request: Request, index: int) -> Row | None:
        """What generate() needs of one prompt; None when it has failed already, which costs only itself."""
        prompt = request.prompts[index]
        parameters = prompt["parameters"]
        wanted = prompt.get("model")
        if wanted and wanted != self.name and not self.any_name:
            request.fail(index, "unknown_model", f"{wanted} was asked for, but {self.name} is loaded")
            return None
        if parameters.get("json_schema"):
            request.fail(index, "not_supported", "this provider cannot hold a reply to a JSON schema")
            return None
        if prompt.get("images") and not self.takes_images:
            request.fail(index, "bad_image", f"{self.name} takes no pictures")
            return None
        try:
            images = [picture(image) for image in prompt.get("images", [])]
        except Exception as error:  # Pillow raises many kinds
            request.fail(index, "bad_image", f"cannot decode the picture: {error}")
            return None
        return Row(request, index, self.chat_text(prompt, len(images)), images)

    def chat_text(self, prompt: dict, images: int) -> str:
        if getattr(self.processor, "chat_template", None) is None:
            return "\n\n".join(part for part in [prompt["system"], prompt["user"]] if part)
        content = [{"type": "image"}] * images + [{"type": "text", "text": prompt["user"]}]
        messages = [{"role": "user", "content": content if self.takes_images else prompt["user"]}]
        if prompt["system"]:
            system = [{"type": "text", "text": prompt["system"]}] if self.takes_images else prompt["system"]
            messages.insert(0, {"role": "system", "content": system})
        return self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)

    def answer_group(self, request: Request, rows: list[Row]) -> None:
        full = False
        try:
            self.generate(request, rows)
        except torch.cuda.OutOfMemoryError:
            full = True
        except (RuntimeError, MemoryError) as error:
            full = isinstance(error, MemoryError) or "can't allocate memory" in str(error)
            if not full:
                raise
        # Outside of the handlers: an exception holds the frames, and they hold the tensors.
        if not full:
            return
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        for row in rows:
            request.fail(row.index, "out_of_memory", f"no memory for {len(rows)} prompts at once on {self.model.device}")

    def inputs(self, rows: list[Row]):
        texts = [row.text for row in rows]
        if not self.takes_images:
            return self.tokenizer(texts, padding=True, return_tensors="pt", add_special_tokens=False)
        images = [image for row in rows for image in row.images]
        return self.processor(text=texts, images=images or None, padding=True, return_tensors="pt")

    @torch.inference_mode()
    def generate(self, request: Request, rows: list[Row]) -> None:
        rows = [row for row in rows if not request.has_left(row.index)]
        if not rows:
            return
        inputs = self.inputs(rows)
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        fitting = []
        for row, length in zip(rows, lengths):
            row.prompt_tokens = length
            row.limit = min(row.parameters["max_tokens"], self.context - length)
            if row.limit >= 1:
                fitting.append(row)
            else:
                request.fail(row.index, "too_long", f"{length} tokens do not fit a context of {self.context}")
        if len(fitting) < len(rows):
            return self.generate(request, fitting)

        inputs = inputs.to(self.model.device)
        if "pixel_values" in inputs:
            inputs["pixel_values"] = inputs["pixel_values"].to(self.model.dtype)
        start = inputs["input_ids"].shape[1]
        watcher = RowWatcher(request, rows, self.tokenizer, self.ends, start)
        processors = transformers.LogitsProcessorList()
        first = rows[0].parameters
        if first.get("frequency_penalty"):
            processors.append(frequency_penalty(first["frequency_penalty"], start))
        if first.get("logprobs"):
            processors.append(remember_scores(watcher))
        if first.get("seed") is not None:
            torch.manual_seed(first["seed"])
        self.model.generate(**inputs, **settings(first), max_new_tokens=max(row.limit for row in rows),
                            pad_token_id=self.tokenizer.pad_token_id, logits_processor=processors,
                            stopping_criteria=transformers.StoppingCriteriaList([watcher]))
        watcher.finish()


def settings(parameters: dict) -> dict:
    """Lectern's names to those of generate()."""
    sampled = parameters["temperature"] > 0
    chosen = {"do_sample": sampled}
    if sampled:
        chosen["temperature"] = parameters["temperature"]
        # Said even when it is not set: a model's own defaults would cut differently.
        chosen["top_p"] = parameters.get("top_p", 1.0)
        chosen["top_k"] = 0
    else:
        chosen |= {"temperature": None, "top_p": None, "top_k": None}
    if parameters.get("repetition_penalty"):
        chosen["repetition_penalty"] = parameters["repetition_penalty"]
    return chosen | {name: parameters[name] for name in EXTRA_SETTINGS if name in parameters}


def picture(image: dict):
    from PIL import Image

    return Image.open(io.BytesIO(base64.b64decode(image["base64"], validate=True))).convert("RGB")
