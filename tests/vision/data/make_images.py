#!/usr/bin/env python3
"""Draws the pictures that the vision tests read. Needs Pillow and the DejaVu fonts:  ./make_images.py

The pictures are committed; run this again only to change them. 16 gray levels keep each one under 30 kB.
"""
import pathlib

from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).parent
FONTS = "/usr/share/fonts/truetype/dejavu/"

STORY = """The lighthouse keeper wrote every evening, after the lamp was lit and
the stairs were swept, a single page about the weather and the ships.
On some days there was little to tell: a grey sea, two fishing boats,
a flock of gulls that followed them home. On other days the page was
too short for the storm, and the last lines climbed into the margin.

When he was gone the pages filled nine boxes. A clerk of the harbour
office counted them, 11,680 in all, and found that not one evening
was missing. The ink had faded on those from the wet year, yet every
word could still be read. He tied the boxes with string and labelled
each of them with the first and the last date that it contained.

Years later a student of the climate asked for the boxes. She copied
the wind, the pressure and the height of the waves into long tables,
and compared them with the records of three other stations. The old
keeper had been right about the big storm, and the books were wrong.
"""

LETTER = """Dear Margaret,

thank you for the invoice of 14 March. We have paid 1,250.00 euros
into your account; please confirm the receipt by Friday.

Yours sincerely, the Bookkeeping
"""


def draw(name, text, font, size_px, width, height, dpi, left=60, top=60, leading=1.5, layout=None):
    page = Image.new("L", (width, height), 255)
    pen = ImageDraw.Draw(page)
    face = ImageFont.truetype(FONTS + font, size_px, layout_engine=layout)
    for i, line in enumerate(text.splitlines()):
        pen.text((left, top + round(i * size_px * leading)), line, fill=0, font=face)
    page.quantize(16).save(HERE / name, optimize=True, dpi=(dpi, dpi))


draw("story.png", STORY, "DejaVuSerif.ttf", 22, 950, 780, 150)
draw("letter.png", LETTER, "DejaVuSans.ttf", 24, 960, 320, 150)
draw("french.png", "L'été dernier, à Besançon,\nle garçon a reçu une forêt.\n", "DejaVuSerif.ttf", 30, 560, 200, 200)
draw("label.png", "Shipping department\n", "DejaVuSans-Bold.ttf", 26, 420, 150, 150)
# Pillow's basic layout draws from left to right, so the letters are handed over last one first.
draw("hebrew.png", "\n".join(line[::-1] for line in ("שלום לכל הילדים", "ספר חדש על השולחן")) + "\n", "DejaVuSans.ttf", 34, 460, 200,
     200, layout=ImageFont.Layout.BASIC)
