#!/usr/bin/env python3
"""make_tiny_model.py FOLDER: writes tiny.gguf, a small llama with random weights, and tiny-mmproj.gguf, eyes for it.

What it says means nothing, but it says it as a real model would: printable pieces of text, the same for the same prompt at
temperature 0, and never an end of its own. Needs PyPI's gguf.
"""
import sys
from pathlib import Path

import gguf
import numpy

LAYERS, WIDTH, HEADS, INNER, CONTEXT = 4, 256, 4, 512, 8192
EYE_LAYERS, EYE_WIDTH, EYE_HEADS, IMAGE, PATCH = 2, 64, 2, 56, 14
TEMPLATE = ("{% for message in messages %}<|{{ message.role }}|>{% if message.content is string %}{{ message.content }}"
            "{% else %}{% for part in message.content %}{{ part.text }}{% endfor %}{% endif %}</s>{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>{% endif %}")
random = numpy.random.default_rng(1)


def weights(*shape: int) -> numpy.ndarray:
    return (random.standard_normal(shape) / shape[-1] ** 0.5).astype(numpy.float32)


def ones(size: int) -> numpy.ndarray:
    return numpy.ones(size, dtype=numpy.float32)


def zeros(size: int) -> numpy.ndarray:
    return numpy.zeros(size, dtype=numpy.float32)


def vocabulary() -> tuple[list[str], list[float], list[int]]:
    kinds = gguf.TokenType
    entries = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    entries += [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    letters = [chr(code) for code in range(0x21, 0x7F)] + ["\u2581"]
    pairs = [first + second for first in "\u2581aeioulrst" for second in "abcdefghijklmnoprstuvwy"]
    entries += [(piece, kinds.NORMAL) for piece in letters + pairs]
    tokens, types = zip(*entries)
    return list(tokens), [float(-number) for number in range(len(tokens))], [int(kind) for kind in types]


def write_model(path: Path) -> None:
    tokens, scores, types = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    writer.add_tensor("token_embd.weight", weights(len(tokens), WIDTH))
    writer.add_tensor("output_norm.weight", ones(WIDTH))
    output = weights(len(tokens), WIDTH) * 4
    output[[number for number, kind in enumerate(types) if kind != gguf.TokenType.NORMAL]] = 0  # never the likeliest
    writer.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name in ["attn_norm", "ffn_norm"]:
            writer.add_tensor(f"{block}.{name}.weight", ones(WIDTH))
        for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
            writer.add_tensor(f"{block}.{name}.weight", weights(WIDTH, WIDTH))
        for name in ["ffn_gate", "ffn_up"]:
            writer.add_tensor(f"{block}.{name}.weight", weights(INNER, WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", weights(WIDTH, INNER))
    close(writer)


def write_eyes(path: Path) -> None:
    """A CLIP tower and a projector as LLaVA has them."""
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_name("tiny eyes")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_bool("clip.use_gelu", True)
    writer.add_string("clip.projector_type", "mlp")
    for key, value in {"image_size": IMAGE, "patch_size": PATCH, "embedding_length": EYE_WIDTH, "projection_dim": WIDTH,
                       "feed_forward_length": 2 * EYE_WIDTH, "block_count": EYE_LAYERS, "attention.head_count": EYE_HEADS}.items():
        writer.add_uint32(f"clip.vision.{key}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.25, 0.25, 0.25])
    writer.add_tensor("v.class_embd", weights(EYE_WIDTH))
    writer.add_tensor("v.patch_embd.weight", weights(EYE_WIDTH, 3, PATCH, PATCH))
    writer.add_tensor("v.position_embd.weight", weights((IMAGE // PATCH) ** 2 + 1, EYE_WIDTH))
    for name in ["v.pre_ln", "v.post_ln"]:
        writer.add_tensor(f"{name}.weight", ones(EYE_WIDTH))
        writer.add_tensor(f"{name}.bias", zeros(EYE_WIDTH))
    for layer in range(EYE_LAYERS):
        block = f"v.blk.{layer}"
        for name in ["ln1", "ln2"]:
            writer.add_tensor(f"{block}.{name}.weight", ones(EYE_WIDTH))
            writer.add_tensor(f"{block}.{name}.bias", zeros(EYE_WIDTH))
        for name in ["attn_q", "attn_k", "attn_v", "attn_out"]:
            writer.add_tensor(f"{block}.{name}.weight", weights(EYE_WIDTH, EYE_WIDTH))
            writer.add_tensor(f"{block}.{name}.bias", zeros(EYE_WIDTH))
        writer.add_tensor(f"{block}.ffn_up.weight", weights(2 * EYE_WIDTH, EYE_WIDTH))
        writer.add_tensor(f"{block}.ffn_up.bias", zeros(2 * EYE_WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", weights(EYE_WIDTH, 2 * EYE_WIDTH))
        writer.add_tensor(f"{block}.ffn_down.bias", zeros(EYE_WIDTH))
    writer.add_tensor("mm.0.weight", weights(WIDTH, EYE_WIDTH))
    writer.add_tensor("mm.0.bias", zeros(WIDTH))
    writer.add_tensor("mm.2.weight", weights(WIDTH, WIDTH))
    writer.add_tensor("mm.2.bias", zeros(WIDTH))
    close(writer)


def close(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in [("tiny.gguf", write_model), ("tiny-mmproj.gguf", write_eyes)]:
        write(folder / (name + ".new"))
        (folder / (name + ".new")).rename(folder / name)


if __name__ == "__main__":
    main()
