#!/usr/bin/env python3
"""Runs a Hugging Face model, text or vision, as a process provider of Lectern (docs/process-providers.md).

  transformers_provider.py --model Qwen/Qwen2.5-VL-3B-Instruct --device cuda --dtype bfloat16

Needs torch, transformers and, for pictures, Pillow (and torchvision, where the model's processor wants it).
"""
import argparse
import os

import line_provider
from echo_model import EchoModel


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", help="folder or name on the Hugging Face hub; default: $LECTERN_MODEL")
    which.add_argument("--tiny-random", choices=["qwen2.5-vl", "llama"], help="a tiny model with random weights, made here")
    which.add_argument("--shape", choices=["3b"], help="random weights in the shape of Qwen2.5-VL-3B, to measure speed")
    which.add_argument("--echo", action="store_true", help="no model at all: says what it was asked")
    parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1…")
    parser.add_argument("--dtype", default="auto", choices=["auto", "float32", "bfloat16", "float16"])
    parser.add_argument("--batch-max", type=int, default=0, help="never more prompts at once; 0 = until memory says no")
    parser.add_argument("--memory-fraction", type=float, default=1.0, help="of the GPU's memory that it may use")
    parser.add_argument("--attention", default="sdpa", help="attn_implementation of transformers")
    parser.add_argument("--trust-remote-code", action="store_true", help="run the model's own Python code")
    options = parser.parse_args()
    options.model = options.model or os.environ.get("LECTERN_MODEL")
    return options


def main() -> None:
    options = arguments()

    def load():
        if options.echo:
            return EchoModel()
        if not (options.model or options.tiny_random or options.shape):
            raise line_provider.CannotStart("no model was named; give --model, or name one to Lectern")
        try:
            from transformers_model import load_model  # takes seconds: torch
        except ImportError as error:
            raise line_provider.CannotStart(
                f"{error}; install torch and transformers for this Python (pip install torch transformers pillow)") from error
        return load_model(options)

    line_provider.serve(load)


if __name__ == "__main__":
    main()
