#!/usr/bin/env python3
"""Makes the documents that bench/speed reads: the same bytes every time, no two pages alike.

  bench/corpus/make_corpus.py [DIR]      (default build/bench-corpus)

  digital-200.pdf    200 pages as an office would print them: prose, two columns, tables, lists
  digital-2000.pdf   the same, 2,000 pages: for memory
  scan-NN.jpg        24 pages scanned at 200 dpi, grey, a little crooked
Needs Debian's python3-reportlab, python3-pil and fonts-dejavu-core.
"""
import random
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

ROOT = Path(__file__).resolve().parents[2]
SCANS = 24
LEFT, RIGHT, TOP, BOTTOM = 62, A4[0] - 62, A4[1] - 80, 70

WHO = ["The council", "The owner", "A surveyor", "The contractor", "Our office", "The museum", "The harbour board", "Each tenant",
       "The committee", "A neighbour", "The school", "The archive", "The foreman", "The county", "The insurer", "The printer"]
DID = ["measured", "repaired", "rejected", "described", "painted", "sold", "inspected", "ordered", "photographed", "rebuilt",
       "counted", "questioned", "approved", "moved", "labelled", "returned"]
WHAT = ["the eastern wall", "forty oak beams", "the annual accounts", "a map of the drains", "the slate roof", "three old boilers",
        "every window frame", "the request for funds", "the stone bridge", "both staircases", "the list of visitors",
        "nine crates of paper", "the lower gate", "a second opinion", "the water meters", "the chimney of the bakery"]
WHEN = ["in early spring", "before the first frost", "on the last day of June", "within two weeks", "after a long delay",
        "as the law requires", "without further cost", "during the holidays", "at the request of the mayor", "for the second time",
        "while the river was low", "under the contract of 2019", "by unanimous vote", "in spite of the rain"]
AND = ["and noted that", "although", "because", "so that", "while", "after which"]
TITLES = ["Condition of the buildings", "Costs and payments", "Letters received", "Works in progress", "Stores and tools",
          "Complaints and answers", "Plans for the coming year", "Water and heating", "Roads and paths", "Staff"]


def sentence(dice: random.Random) -> str:
    core = lambda: f"{dice.choice(WHO)} {dice.choice(DID)} {dice.choice(WHAT)}"
    if dice.random() < 0.4:
        second = core()
        return f"{core()} {dice.choice(WHEN)}, {dice.choice(AND)} {second[0].lower()}{second[1:]}."
    if dice.random() < 0.3:
        return f"{core()} {dice.choice(WHEN)}; it cost {dice.randint(12, 9800)}.{dice.randint(0, 99):02} euros."
    return f"{core()} {dice.choice(WHEN)}."


def wrap(text: str, width: float, measure) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and measure(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines


class DigitalPage:
    def __init__(self, canvas: Canvas, dice: random.Random):
        self.canvas, self.dice = canvas, dice

    def prose(self, x: float, width: float, y: float, bottom: float) -> float:
        canvas, dice = self.canvas, self.dice
        while y > bottom + 60:
            if dice.random() < 0.3:
                canvas.setFont("Helvetica-Bold", 13)
                canvas.drawString(x, y - 6, dice.choice(TITLES))
                y -= 26
            text = " ".join(sentence(dice) for _ in range(dice.randint(2, 5)))
            canvas.setFont("Times-Roman", 10.5)
            for line in wrap(text, width, lambda part: stringWidth(part, "Times-Roman", 10.5)):
                canvas.drawString(x, y, line)
                y -= 13
                if y < bottom:
                    return y
            y -= 8
        return y

    def table(self, y: float) -> float:
        canvas, dice = self.canvas, self.dice
        rows, edges = dice.randint(8, 14), [LEFT, LEFT + 50, LEFT + 250, LEFT + 330, LEFT + 400, RIGHT]
        heads = ["No.", "Item", "Quantity", "Each", "Total"]
        for row in range(rows + 1):
            count, price = dice.randint(1, 90), dice.randint(100, 40000) / 100
            cells = heads if row == 0 else [str(row), dice.choice(WHAT).capitalize(), str(count), f"{price:.2f}", f"{count * price:.2f}"]
            canvas.setFont("Helvetica-Bold" if row == 0 else "Helvetica", 9)
            for column, cell in enumerate(cells):
                canvas.drawString(edges[column] + 4, y - 12 - 17 * row, cell)
        for row in range(rows + 2):
            canvas.line(edges[0], y - 17 * row, edges[-1], y - 17 * row)
        for edge in edges:
            canvas.line(edge, y, edge, y - 17 * (rows + 1))
        return y - 17 * (rows + 1) - 26

    def items(self, y: float) -> float:
        canvas, dice = self.canvas, self.dice
        canvas.setFont("Times-Roman", 10.5)
        for number in range(1, dice.randint(6, 10)):
            mark = f"{number}." if dice.random() < 0.5 else "\u2022"
            canvas.drawString(LEFT + 8, y, mark)
            for line in wrap(sentence(dice), RIGHT - LEFT - 30, lambda part: stringWidth(part, "Times-Roman", 10.5)):
                canvas.drawString(LEFT + 26, y, line)
                y -= 13
            y -= 4
        return y - 10

    def draw(self, number: int) -> None:
        canvas, middle = self.canvas, (LEFT + RIGHT) / 2
        canvas.setFont("Helvetica", 8)
        canvas.drawString(LEFT, A4[1] - 40, "Estate office: quarterly report")
        canvas.drawCentredString(middle, 36, str(number))
        kind = number % 4
        y = TOP
        if kind == 1:
            self.prose(LEFT, RIGHT - LEFT, y, BOTTOM)
        elif kind == 2:
            self.prose(LEFT, middle - LEFT - 10, y, BOTTOM)
            self.prose(middle + 10, middle - LEFT - 10, y, BOTTOM)
        elif kind == 3:
            y = self.prose(LEFT, RIGHT - LEFT, y, y - 170)
            self.prose(LEFT, RIGHT - LEFT, self.table(y - 10), BOTTOM)
        else:
            y = self.prose(LEFT, RIGHT - LEFT, y, y - 140)
            self.prose(LEFT, RIGHT - LEFT, self.items(y - 10), BOTTOM)
        canvas.showPage()


def digital(path: Path, pages: int) -> None:
    canvas = Canvas(str(path), pagesize=A4, invariant=1, pageCompression=1)
    for number in range(1, pages + 1):
        DigitalPage(canvas, random.Random(number)).draw(number)
    canvas.save()


def scan(path: Path, number: int) -> None:
    dice, dpi = random.Random(10_000 + number), 200
    page = Image.new("L", (1654, 2339), 255)
    draw = ImageDraw.Draw(page)
    body = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf", 29)
    head = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf", 40)
    draw.text((180, 240), dice.choice(TITLES), font=head, fill=25, anchor="ls")
    y = 330
    while y < 2050:
        for line in wrap(" ".join(sentence(dice) for _ in range(dice.randint(2, 5))), 1290, body.getlength):
            draw.text((180, y), line, font=body, fill=25, anchor="ls")
            y += 44
        y += 26
    page = page.rotate(dice.uniform(-0.9, 0.9), Image.BICUBIC, fillcolor=255).filter(ImageFilter.GaussianBlur(0.6))
    dirt = Image.frombytes("L", (827, 1170), dice.randbytes(827 * 1170)).resize(page.size, Image.BILINEAR)
    Image.blend(page, dirt, 0.06).save(path, "JPEG", quality=70, dpi=(dpi, dpi))


def make(folder: Path) -> None:
    """Makes what is missing. A file appears under its name only when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    makers = {"digital-200.pdf": lambda path: digital(path, 200), "digital-2000.pdf": lambda path: digital(path, 2000)}
    makers |= {f"scan-{number:02}.jpg": (lambda path, n=number: scan(path, n)) for number in range(1, SCANS + 1)}
    for name, maker in makers.items():
        if not (folder / name).exists():
            draft = folder / f"draft-{name}"
            maker(draft)
            draft.rename(folder / name)


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/bench-corpus")
