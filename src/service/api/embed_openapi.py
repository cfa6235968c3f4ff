#!/usr/bin/env python3
"""embed_openapi.py YAML CPP: the description of the API as JSON, as a function that returns it."""
import json
import sys
from pathlib import Path

import yaml


def main(source: str, target: str) -> None:
    description = yaml.safe_load(Path(source).read_text("utf-8"))
    description.get("components", {}).get("schemas", {}).pop("Options", None)  # only there to be included by others
    text = json.dumps(description, ensure_ascii=False, separators=(",", ":"))
    delimiter = "openapi"
    if f"){delimiter}\"" in text:
        raise SystemExit(f"{source}: holds the end of a raw string")
    # Compilers bound the length of one literal; neighbours are joined.
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    literal = "\n".join(f'R"{delimiter}({piece}){delimiter}"' for piece in pieces)
    Path(target).write_text('#include "service/api/openapi.h"\n\nnamespace lectern::service {\n\n'
                            f"std::string_view openapi_json() {{\n  return {literal};\n}}\n\n}}  // namespace lectern::service\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
