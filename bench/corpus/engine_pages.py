#!/usr/bin/env python3
"""Makes the documents that bench/engine sends to engines: the same pages every time, no two alike.

  bench/corpus/engine_pages.py [DIR]      (default build/bench-corpus)

  engine-digital.pdf        200 pages: prose, two columns, tables, charts and flow charts drawn by lines, photographs
  engine-scan.pdf           those pages printed and scanned in colour at 300 dpi: a little crooked, noisy, JPEG
  engine-bilevel.pdf        the same in black and white, CCITT G4
  engine-jbig2.pdf          the pixels of engine-bilevel.pdf, coded as JBIG2 (one generic region a page, arithmetic coding)
  engine-digital-1200.pdf   1,200 more digital pages: for throughput
  engine-large.pdf          2,000 pages: the 1,200, and each scan twice in colour and twice in black and white, no two equal: for memory
Needs Debian's python3-reportlab, python3-pil, python3-numpy, python3-fitz, img2pdf, poppler-utils and fonts-dejavu-core, and our own
build/release/bin/bench-jbig2 (./dev build).
"""
import io
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image, ImageFilter
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

sys.path.insert(0, str(Path(__file__).parent))
from make_corpus import ROOT, TITLES, WHAT, WHO, sentence, wrap  # noqa: E402

PAGES, MORE_PAGES, DPI = 200, 1200, 300
JBIG2_ENCODER = ROOT / "build/release/bin/bench-jbig2"
LEFT, RIGHT, TOP, BOTTOM = 56, A4[0] - 56, A4[1] - 92, 64
FONTS = ["Times-Roman", "Helvetica", "Sans", "Serif", "Courier"]
KINDS = ["prose", "columns", "prose", "table", "charts", "prose", "mixed", "prose", "photo", "table"]


def register_fonts() -> None:
    for name, file in {"Sans": "DejaVuSans", "Serif": "DejaVuSerif"}.items():
        pdfmetrics.registerFont(TTFont(name, f"/usr/share/fonts/truetype/dejavu/{file}.ttf"))


def photograph(seed: int, width: int, height: int) -> Image.Image:
    """Clouds of several sizes over a slope of light, with a little grain: what a JPEG encoder finds in a photograph."""
    dice = numpy.random.default_rng(seed)
    picture = numpy.linspace(60, 190, height, dtype=numpy.float32)[:, None, None] * numpy.ones((1, width, 3), numpy.float32)
    for cells, strength in ((3, 70), (9, 35), (40, 18)):
        cloud = dice.integers(0, 256, (cells, cells + 1, 3), dtype=numpy.uint8)
        picture += (numpy.asarray(Image.fromarray(cloud).resize((width, height), Image.BICUBIC), numpy.float32) - 128) * (strength / 128)
    picture += dice.standard_normal((height, width, 1), dtype=numpy.float32) * 5
    return Image.fromarray(picture.clip(0, 255).astype(numpy.uint8))


class EnginePage:
    def __init__(self, canvas: Canvas, number: int):
        self.canvas, self.number, self.dice = canvas, number, random.Random(number)
        self.font, self.size = FONTS[number * 7 // 3 % len(FONTS)], [10, 11, 9.5, 12][number // 3 % 4]

    def prose(self, x: float, width: float, y: float, bottom: float) -> None:
        size = self.size if self.font != "Courier" else 9
        while y > bottom:
            text = " ".join(sentence(self.dice) for _ in range(self.dice.randint(2, 6)))
            self.canvas.setFont(self.font, size)
            for line in wrap(text, width, lambda part: pdfmetrics.stringWidth(part, self.font, size)):
                if y < bottom:
                    return
                self.canvas.drawString(x, y, line)
                y -= size * 1.3
            y -= size * 0.7

    def table(self, y: float, bottom: float) -> None:
        canvas, dice = self.canvas, self.dice
        edges = [LEFT, LEFT + 130, LEFT + 200, LEFT + 270, LEFT + 340, LEFT + 410, RIGHT]
        canvas.setLineWidth(0.5)
        for row in range(int((y - bottom) // 16)):
            top = y - 16 * row
            if row % 2:
                canvas.setFillGray(0.92)
                canvas.rect(LEFT, top - 16, RIGHT - LEFT, 16, stroke=0, fill=1)
                canvas.setFillGray(0)
            numbers = [f"{dice.uniform(1, 10 ** dice.randint(1, 5)):.2f}" for _ in edges[2:]]
            cells = ["Item", "Spring", "Summer", "Autumn", "Winter", "Total"] if row == 0 else [dice.choice(WHAT)[:22], *numbers]
            canvas.setFont("Helvetica-Bold" if row == 0 else "Helvetica", 8.5)
            for edge, cell in zip(edges, cells):
                canvas.drawString(edge + 3, top - 11, cell)
            canvas.line(LEFT, top, RIGHT, top)
        for edge in edges:
            canvas.line(edge, y, edge, top)

    def line_chart(self, x: float, y: float, width: float, height: float) -> None:
        canvas, dice = self.canvas, self.dice
        canvas.setLineWidth(0.4)
        canvas.setStrokeGray(0.8)
        for step in range(9):
            canvas.line(x, y + height * step / 8, x + width, y + height * step / 8)
        for _ in range(5):
            canvas.setStrokeColorRGB(dice.random() * 0.7, dice.random() * 0.7, dice.random() * 0.7)
            canvas.setLineWidth(1)
            path, level = canvas.beginPath(), height * dice.uniform(0.2, 0.8)
            path.moveTo(x, y + level)
            for step in range(1, 161):
                level = min(height, max(0, level + dice.gauss(0, height / 30)))
                path.lineTo(x + width * step / 160, y + level)
            canvas.drawPath(path)
        canvas.setStrokeGray(0)
        canvas.rect(x, y, width, height)

    def flow_chart(self, x: float, y: float, width: float, height: float) -> None:
        canvas, dice = self.canvas, self.dice
        centres = [(x + 45 + (width - 90) * column / 4, y + 15 + (height - 30) * row / 3) for row in range(4) for column in range(5)]
        canvas.setLineWidth(0.7)
        for (ax, ay), (bx, by) in zip(centres, dice.sample(centres, len(centres))):
            canvas.bezier(ax, ay, ax, (ay + by) / 2, bx, (ay + by) / 2, bx, by)
        for cx, cy in centres:
            canvas.setFillColorRGB(0.8 + 0.2 * dice.random(), 0.85, 0.8 + 0.2 * dice.random())
            canvas.roundRect(cx - 42, cy - 11, 84, 22, 5, fill=1)
            canvas.setFillGray(0)
            canvas.setFont("Helvetica", 7)
            canvas.drawCentredString(cx, cy - 2.5, dice.choice(WHO))

    def photo(self, x: float, y: float, width: float, height: float) -> None:
        jpeg = io.BytesIO()
        photograph(self.number, int(width * 2.2), int(height * 2.2)).save(jpeg, "JPEG", quality=85)
        jpeg.seek(0)
        self.canvas.drawImage(ImageReader(jpeg), x, y, width, height)

    def draw(self) -> None:
        canvas, width, middle = self.canvas, RIGHT - LEFT, (LEFT + RIGHT) / 2
        kind = KINDS[self.number % len(KINDS)]
        canvas.setFont("Helvetica-Bold", 15)
        canvas.drawString(LEFT, A4[1] - 62, f"{self.number}. {self.dice.choice(TITLES)}")
        canvas.setFont("Helvetica", 8)
        canvas.drawCentredString(middle, 36, f"Page {self.number}")
        if kind == "prose":
            self.prose(LEFT, width, TOP, BOTTOM)
        elif kind == "columns":
            self.prose(LEFT, width / 2 - 10, TOP, BOTTOM)
            self.prose(middle + 10, width / 2 - 10, TOP, BOTTOM)
        elif kind == "table":
            self.prose(LEFT, width, TOP, TOP - 90)
            self.table(TOP - 120, BOTTOM)
        elif kind == "charts":
            self.line_chart(LEFT, TOP - 210, width, 200)
            self.flow_chart(LEFT, TOP - 430, width, 190)
            self.prose(LEFT, width, TOP - 460, BOTTOM)
        elif kind == "mixed":
            self.prose(LEFT, width, TOP, TOP - 200)
            self.line_chart(LEFT, TOP - 400, width / 2 - 10, 160)
            self.photo(middle + 10, TOP - 400, width / 2 - 10, 160)
            self.prose(LEFT, width, TOP - 430, BOTTOM)
        else:
            self.photo(LEFT, TOP - 320, width, 310)
            self.prose(LEFT, width, TOP - 350, BOTTOM)
        canvas.showPage()


def digital(path: Path, first: int, pages: int) -> None:
    register_fonts()
    canvas = Canvas(str(path), pagesize=A4, invariant=1, pageCompression=1)
    for number in range(first, first + pages):
        EnginePage(canvas, number).draw()
    canvas.save()


def scan_page(job: tuple[Path, Path, int]) -> None:
    """One page as two scanners would see it: c and d in colour, a and b in black and white."""
    source, folder, number = job
    printed = subprocess.run(["pdftoppm", "-r", str(DPI), "-f", str(number), "-l", str(number), source], capture_output=True, check=True)
    dice = numpy.random.default_rng(5000 + number)
    page = Image.open(io.BytesIO(printed.stdout)).convert("RGB")
    page = page.rotate(float(dice.uniform(-0.7, 0.7)), Image.BICUBIC, fillcolor=(255, 255, 255)).filter(ImageFilter.GaussianBlur(0.7))
    pixels = numpy.asarray(page, numpy.float32)
    paper = numpy.array([0.97, 0.955, 0.92], numpy.float32)
    light = numpy.linspace(1, 0.95, pixels.shape[1], dtype=numpy.float32)[None, :, None]
    grain = dice.standard_normal((*pixels.shape[:2], 1), dtype=numpy.float32) * 3.2
    colour = dice.standard_normal((pixels.shape[0] // 2 + 1, pixels.shape[1] // 2 + 1, 3), dtype=numpy.float32) * 1.5
    colour = colour.repeat(2, 0).repeat(2, 1)[:pixels.shape[0], :pixels.shape[1]]
    scanned = Image.fromarray(((18 + pixels * (237 / 255)) * paper * light + grain + colour).clip(0, 255).astype(numpy.uint8))
    for name, quality in (("c", 82), ("d", 78)):
        scanned.save(folder / f"{name}{number:04}.jpg", quality=quality, subsampling=2, dpi=(DPI, DPI))
    grey = scanned.convert("L")
    for name, threshold in (("a", 150), ("b", 135)):
        bilevel = grey.point(lambda level: 255 if level > threshold else 0).convert("1", dither=Image.Dither.NONE)
        bilevel.save(folder / f"{name}{number:04}.tif", compression="group4", dpi=(DPI, DPI))


def bind(images: list[Path], path: Path) -> None:
    # It prints a line for each bilevel image.
    subprocess.run(["img2pdf", "--nodate", "--output", str(path), *map(str, images)], check=True, capture_output=True)


def jbig2_page(job: tuple[Path, int]) -> tuple[int, int, bytes]:
    """The picture of one page: its width and height in pixels, and the JBIG2 stream."""
    source, number = job
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["pdfimages", "-f", str(number), "-l", str(number), source, f"{folder}/page"], check=True)
        [bitmap] = Path(folder).glob("page*.pbm")
        stream = Path(folder) / "page.jb2"
        subprocess.run([JBIG2_ENCODER, bitmap, stream], check=True)
        with Image.open(bitmap) as picture:
            return *picture.size, stream.read_bytes()


def jbig2(source: Path, path: Path) -> None:
    """The same pictures as JBIG2. What binds images does not take such streams, so the PDF is put together here."""
    if not JBIG2_ENCODER.exists():
        sys.exit(f"bench: {JBIG2_ENCODER} is not there; run ./dev build")
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        pages = pool.map(jbig2_page, [(source, number) for number in range(1, PAGES + 1)], 4)
    kids = " ".join(f"{3 + 3 * index} 0 R" for index in range(PAGES))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {PAGES} /Kids [{kids}] >>".encode()]
    for index, (width, height, stream) in enumerate(pages):
        wide, high = width * 72 / DPI, height * 72 / DPI
        draw = f"q {wide:.2f} 0 0 {high:.2f} 0 0 cm /Im0 Do Q".encode()
        first = 3 + 3 * index
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {wide:.2f} {high:.2f}] /Contents {first + 1} 0 R "
            f"/Resources << /XObject << /Im0 {first + 2} 0 R >> >> >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(draw), draw),
            b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /JBIG2Decode "
            b"/Length %d >>\nstream\n%s\nendstream" % (width, height, len(stream), stream)]
    out, offsets = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    path.write_bytes(out)


def join(parts: list[Path], path: Path) -> None:
    import fitz
    whole = fitz.open()
    for part in parts:
        with fitz.open(part) as document:
            whole.insert_pdf(document)
    whole.save(path)


def scans(folder: Path, here: dict[str, Path], whole) -> None:
    print("bench: making scans; this takes some minutes, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as images:
        images = Path(images)
        with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
            pool.map(scan_page, [(here["digital"], images, number) for number in range(1, PAGES + 1)], 4)
        whole("scan", lambda path: bind(sorted(images.glob("c*.jpg")), path))
        whole("bilevel", lambda path: bind(sorted(images.glob("a*.tif")), path))
        for name, pattern in (("again-colour", "d*.jpg"), ("again-bilevel", "b*.tif")):
            bind(sorted(images.glob(pattern)), images / f"{name}.pdf")
        whole("large", lambda path: join([here["digital-1200"], here["scan"], here["bilevel"], images / "again-colour.pdf",
                                          images / "again-bilevel.pdf"], path))


NAMES = ("digital", "digital-1200", "scan", "bilevel", "jbig2", "large")
SCANNED = ("scan", "bilevel", "large")  # made together, from the same scans


def make(folder: Path, names: tuple[str, ...] = NAMES) -> None:
    """Makes what is missing of these. A file appears under its name only when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    here = {name: folder / f"engine-{name}.pdf" for name in NAMES}

    def whole(name: str, maker) -> None:
        if not here[name].exists():
            draft = folder / f"draft-engine-{name}.pdf"
            maker(draft)
            draft.rename(here[name])
    whole("digital", lambda path: digital(path, 1, PAGES))
    whole("digital-1200", lambda path: digital(path, 10_001, MORE_PAGES))
    if set(names) & {*SCANNED, "jbig2"}:
        if not all(here[name].exists() for name in SCANNED):
            scans(folder, here, whole)
        whole("jbig2", lambda path: jbig2(here["bilevel"], path))


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/bench-corpus")
