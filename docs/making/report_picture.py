#!/usr/bin/env python3
"""Draws docs/report.png: a page of samples/report.pdf on the left, the markdown that Lectern makes of it on the right.

Usage: docs/making/report_picture.py build/release/bin/lectern   (needs poppler-utils, python3-pil, fonts-dejavu-core)
"""
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples/report.pdf"
HEIGHT, GAP, WIDTH_TEXT, LINE = 1000, 24, 880, 17


def page_picture(folder: Path) -> Image.Image:
    subprocess.run(["pdftoppm", "-png", "-r", "110", "-f", "1", "-l", "1", "-singlefile", str(SAMPLE), str(folder / "page")], check=True)
    page = Image.open(folder / "page.png").convert("RGB")
    return page.resize((round(page.width * HEIGHT / page.height), HEIGHT), Image.LANCZOS)


def main() -> None:
    markdown = subprocess.run([sys.argv[1], "read", str(SAMPLE), "--pages", "1", "--quiet"], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        page = page_picture(Path(folder))
    picture = Image.new("RGB", (page.width + WIDTH_TEXT + 3 * GAP, HEIGHT + 2 * GAP), "#d8dce2")
    picture.paste(page, (GAP, GAP))
    draw = ImageDraw.Draw(picture)
    left = page.width + 2 * GAP
    draw.rectangle((left, GAP, left + WIDTH_TEXT, GAP + HEIGHT), fill="#1e2430")
    font = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf", 12)
    y = GAP + 14
    for paragraph in markdown.splitlines():
        for line in textwrap.wrap(paragraph, 116) or [""]:
            if y > GAP + HEIGHT - LINE:
                break
            colour = "#8ec5ff" if paragraph.startswith("#") else "#b6e3a8" if paragraph.startswith("|") else "#e6e9ef"
            draw.text((left + 16, y), line, font=font, fill=colour)
            y += LINE
    picture.quantize(64).save(ROOT / "docs/report.png", optimize=True)


if __name__ == "__main__":
    main()
