#!/usr/bin/env python3
"""make_pages.py FOLDER [COUNT]: pictures of pages, 768×1024, of random words, as page001.jpg… Needs Pillow."""
import random
import sys
from pathlib import Path

from PIL import Image, ImageDraw


def page(number: int) -> Image.Image:
    dice = random.Random(number)
    picture = Image.new("RGB", (768, 1024), "white")
    draw = ImageDraw.Draw(picture)
    for y in range(48, 976, 16):
        words = "".join(dice.choice("abcdefghijklmnopqrstuvwxyz     ") for _ in range(dice.randrange(60, 110)))
        draw.text((48, y), words, fill="black")
    return picture


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 32):
        page(number).save(folder / f"page{number + 1:03}.jpg", quality=90)


if __name__ == "__main__":
    main()
