#!/usr/bin/env python3
"""Makes documents that want to hurt whoever opens them: bombs, cycles, lies about sizes, rubbish.

  bench/hostile/make_hostile.py [DIR]      (default build/bench-hostile)

Standard library only; the same bytes every time. Each maker's docstring says what the file tries.
"""
import random
import struct
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pdf(objects: dict[int, bytes], root: int = 1, trailer: bytes = b"") -> bytes:
    """A well-formed file around these objects."""
    out, offsets = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 00000 f \n"
    return bytes(out + b"trailer\n<</Size %d/Root %d 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer, start))


def stream(data: bytes, dictionary: bytes = b"") -> bytes:
    return b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(data), dictionary, data)


def one_page(content: bytes, resources: bytes = b"", box: bytes = b"0 0 612 792", more: dict[int, bytes] | None = None,
             page: bytes = b"") -> bytes:
    """`content` is object 4 as it stands; `more` are objects from 5 on."""
    return pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
                3: b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont"
                   b"/Helvetica>>>>%s>>%s>>" % (box, resources, page), 4: content, **(more or {})})


def zeros_deflated(size: int) -> bytes:
    """zlib's form of `size` zero bytes without ever holding them: the same flushed block over and over."""
    block_size = 1 << 24
    maker = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = maker.compress(bytes(block_size)) + maker.flush(zlib.Z_FULL_FLUSH)
    last = zlib.compressobj(9, zlib.DEFLATED, -15)
    rest = last.compress(bytes(size % block_size)) + last.flush()
    adler = ((size % 65521) << 16) | 1  # of zeros: a stays 1, b grows by 1 a byte
    return b"\x78\xda" + block * (size // block_size) + rest + struct.pack(">I", adler)


TEXT = stream(b"BT /F 12 Tf 72 700 Td (A page) Tj ET")


def inflate_10_gb() -> bytes:
    """100 kB of page content that inflates, twice, to 10 GB."""
    twice = zlib.compress(zeros_deflated(10 << 30), 9)
    return one_page(stream(twice, b"/Filter[/FlateDecode/FlateDecode]"))


def inflate_image() -> bytes:
    """A picture of 30,000 by 30,000 colour pixels out of a few kilobytes."""
    data = zlib.compress(zeros_deflated(30_000 * 30_000 * 3), 9)
    return one_page(stream(b"612 0 0 792 0 0 cm /X Do"), b"/XObject<</X 5 0 R>>", more={5: stream(
        data, b"/Type/XObject/Subtype/Image/Width 30000/Height 30000/ColorSpace/DeviceRGB/BitsPerComponent 8"
              b"/Filter[/FlateDecode/FlateDecode]")})


def huge_page() -> bytes:
    """200 inches square: 1.6 gigapixels at 200 dpi."""
    return one_page(TEXT, box=b"0 0 14400 14400")


def absurd_page() -> bytes:
    """A page of a billion points."""
    return one_page(TEXT, box=b"0 0 1000000000 1000000000")


def inverted_page() -> bytes:
    """A page box with no area and its corners swapped."""
    return one_page(TEXT, box=b"612 792 612 -792")


def page_tree_cycle() -> bytes:
    """The page tree is its own child."""
    return pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000/Parent 2 0 R>>"})


def form_cycle() -> bytes:
    """A drawing that draws itself, ten times each time."""
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</X 5 0 R>>>>"
    return one_page(stream(b"/X Do"), b"/XObject<</X 5 0 R>>", more={5: stream(b"/X Do " * 10, form)})


def form_pyramid() -> bytes:
    """Ten drawings, each of which draws the next one twenty times: 20^10 calls, no cycle."""
    more = {5 + level: stream(b"/X Do " * 20 if level < 9 else b"0 0 1 1 re f", b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]"
                              b"/Resources<</XObject<</X %d 0 R>>>>" % (6 + level)) for level in range(10)}
    return one_page(stream(b"/X Do"), b"/XObject<</X 5 0 R>>", more=more)


def outline_cycle() -> bytes:
    """Bookmarks that go round in a circle."""
    return pdf({1: b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
                3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>", 4: TEXT,
                5: b"<</First 6 0 R/Last 7 0 R/Count 2>>", 6: b"<</Title(a)/Parent 5 0 R/Next 7 0 R/First 6 0 R>>",
                7: b"<</Title(b)/Parent 5 0 R/Next 6 0 R/Prev 6 0 R>>"})


def million_pages() -> bytes:
    """A million pages in three kilobytes: a tree whose branches are shared."""
    kids = lambda number: b"[" + b"%d 0 R " % number * 100 + b"]"
    return pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Count 1000000/Kids%s>>" % kids(3),
                3: b"<</Type/Pages/Parent 2 0 R/Count 10000/Kids%s>>" % kids(4),
                4: b"<</Type/Pages/Parent 3 0 R/Count 100/Kids%s>>" % kids(5),
                5: b"<</Type/Page/Parent 4 0 R/MediaBox[0 0 10 10]>>"})


def million_honest_pages() -> bytes:
    """A million pages, each an object of its own, packed a thousand to a compressed object stream."""
    packs, pages, first = 1000, 1000, 1003  # objects: 1 catalogue, 2 tree, 3..1002 packs, then the pages
    out, rows = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), [b"\0" * 7]

    def add(number, body):
        rows.append(struct.pack(">BIH", 1, len(out), 0))
        out.extend(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    add(1, b"<</Type/Catalog/Pages 2 0 R>>")
    kids = b" ".join(b"%d 0 R" % (first + n) for n in range(packs * pages))
    add(2, b"<</Type/Pages/Count %d/Kids[%s]>>" % (packs * pages, kids))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
    for pack in range(packs):
        heads = b" ".join(b"%d %d" % (first + pack * pages + n, n * len(page)) for n in range(pages)) + b" "
        add(3 + pack, stream(zlib.compress(heads + page * pages), b"/Type/ObjStm/N %d/First %d/Filter/FlateDecode" % (pages, len(heads))))
    rows += [struct.pack(">BIH", 2, 3 + n // pages, n % pages) for n in range(packs * pages)]
    start, number = len(out), first + packs * pages
    rows.append(struct.pack(">BIH", 1, start, 0))
    table = stream(zlib.compress(b"".join(rows)), b"/Type/XRef/Size %d/W[1 4 2]/Root 1 0 R/Filter/FlateDecode" % (number + 1))
    return bytes(out) + b"%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (number, table, start)


def page_count_lie() -> bytes:
    """Says it has two billion pages; has one."""
    return pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>",
                3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>", 4: TEXT})


def deep_nesting() -> bytes:
    """Arrays in arrays, half a million deep."""
    return one_page(TEXT, page=b"/Deep " + b"[" * 500_000 + b"]" * 500_000)


def deep_state() -> bytes:
    """A million saved graphics states."""
    return one_page(stream(zlib.compress(b"q " * 1_000_000 + b"Q " * 1_000_000), b"/Filter/FlateDecode"))


def many_operators() -> bytes:
    """Three million curves."""
    dice = random.Random(1)
    lines = b"".join(b"%d %d m %d %d %d %d %d %d c S\n" % tuple(dice.randrange(800) for _ in range(8)) for _ in range(500))
    return one_page(stream(zlib.compress(lines * 6000), b"/Filter/FlateDecode"))


def many_characters() -> bytes:
    """Five million characters on one page."""
    line = b"BT /F 1 Tf 1 0 0 1 %d %d Tm (" + b"abcdefghij" * 100 + b") Tj ET\n"
    text = b"".join(line % (n % 600, n % 790) for n in range(5000))
    return one_page(stream(zlib.compress(text), b"/Filter/FlateDecode"))


def xref_cycle() -> bytes:
    """The previous cross-reference table of the table is the table."""
    good = one_page(TEXT)
    start = int(good.rsplit(b"startxref\n", 1)[1].split()[0])
    return good.replace(b"/Root 1 0 R", b"/Root 1 0 R/Prev %d" % start)


def length_lie() -> bytes:
    """A stream that says it is two gigabytes long, and one that says minus one."""
    return one_page(TEXT.replace(b"/Length 36", b"/Length 2147483647"), more={5: b"<</Length -1>>\nstream\nx\nendstream"})


def pattern_bomb() -> bytes:
    """A tiling pattern with tiles a thousandth of a point wide, over a whole page."""
    tile = stream(b"0 0 1 1 re f", b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep .001/YStep .001/Resources<<>>")
    return one_page(stream(b"/Pattern cs /P scn 0 0 612 792 re f"), b"/Pattern<</P 5 0 R>>", more={5: tile})


def ccitt_lie() -> bytes:
    """A fax picture two billion pixels wide."""
    return one_page(stream(b"612 0 0 792 0 0 cm /X Do"), b"/XObject<</X 5 0 R>>", more={5: stream(
        b"\x00\x01" * 50, b"/Type/XObject/Subtype/Image/Width 2000000000/Height 2000000000/ColorSpace/DeviceGray/BitsPerComponent 1"
                          b"/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 2000000000/Rows 2000000000>>")})


def jpeg_scan() -> bytes:
    """A full-page scan whose JPEG claims 65,500 by 65,500 pixels and ends after the header: the fast path's bait."""
    return one_page(stream(b"612 0 0 792 0 0 cm /X Do"), b"/XObject<</X 5 0 R>>", more={5: stream(
        jpeg_header(), b"/Type/XObject/Subtype/Image/Width 65500/Height 65500/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode")})


def truncated() -> bytes:
    """Our own report, cut off past the middle."""
    whole = (ROOT / "samples/report.pdf").read_bytes()
    return whole[: len(whole) * 6 // 10]


def flipped() -> bytes:
    """Our own report with one byte in fifty changed."""
    whole, dice = bytearray((ROOT / "samples/report.pdf").read_bytes()), random.Random(2)
    for at in range(20, len(whole)):
        if dice.random() < 0.02:
            whole[at] = dice.randrange(256)
    return bytes(whole)


def random_bytes() -> bytes:
    """A megabyte of nothing in particular."""
    return random.Random(3).randbytes(1 << 20)


def random_after_header() -> bytes:
    """A megabyte of nothing in particular that says it is a PDF."""
    return b"%PDF-1.7\n" + random.Random(4).randbytes(1 << 20) + b"\nstartxref\n9\n%%EOF\n"


def jpeg_header() -> bytes:
    return (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" + b"\xff\xdb\x00\x43\x00" + b"\x01" * 64
            + b"\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00")


def huge_jpeg() -> bytes:
    """65,500 by 65,500 pixels by its header; no pixels."""
    return jpeg_header() + b"\xff\xd9"


def png(width: int, height: int, data: bytes, colour: int = 2) -> bytes:
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)) + chunk(b"IDAT", data)
            + chunk(b"IEND", b""))


def png_bomb() -> bytes:
    """30,000 by 30,000 pixels, all black, in 2.7 MB."""
    return png(30_000, 30_000, zeros_deflated((30_000 * 3 + 1) * 30_000))


def png_lie() -> bytes:
    """Two billion pixels wide and high by its header."""
    return png(0x7FFFFFFF, 0x7FFFFFFF, zlib.compress(bytes(1000)))


def tiff(entries: list[tuple[int, int, int, int]], next_ifd: int = 0, data: bytes = b"") -> bytes:
    body = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in sorted(entries))
    return b"II*\0" + struct.pack("<I", 8) + body + struct.pack("<I", next_ifd) + data


def tiff_cycle() -> bytes:
    """A frame whose next frame is itself: endlessly many pages."""
    return tiff([(256, 3, 1, 1), (257, 3, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 0), (278, 3, 1, 1),
                 (279, 4, 1, 1)], next_ifd=8)


def tiff_lie() -> bytes:
    """Four billion rows and columns, strips that lie outside the file."""
    return tiff([(256, 4, 1, 0xFFFFFFFF), (257, 4, 1, 0xFFFFFFFF), (258, 3, 1, 8), (259, 3, 1, 4), (262, 3, 1, 0),
                 (273, 4, 1, 0xFFFFFF00), (278, 4, 1, 0xFFFFFFFF), (279, 4, 1, 0xFFFFFFFF)])


def bmp_lie() -> bytes:
    """A bitmap of minus two billion rows."""
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 1000, 0, 0, 54, 40, 2_000_000_000, -2_000_000_000, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(900)


def webp_lie() -> bytes:
    """A WebP of 16,383 by 16,383 pixels with no picture in it."""
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + b"\xfe\x3f\x00" * 2 + b"VP8L" + struct.pack("<I", 5) + b"\x2f\xff\xff\xff\x0f"
    return b"RIFF" + struct.pack("<I", len(body)) + body


def nothing() -> bytes:
    """No bytes at all."""
    return b""


MAKERS = {
    "inflate-10-gb.pdf": inflate_10_gb, "inflate-image.pdf": inflate_image, "huge-page.pdf": huge_page, "absurd-page.pdf": absurd_page,
    "inverted-page.pdf": inverted_page, "page-tree-cycle.pdf": page_tree_cycle, "form-cycle.pdf": form_cycle,
    "form-pyramid.pdf": form_pyramid, "outline-cycle.pdf": outline_cycle, "million-pages.pdf": million_pages,
    "million-honest-pages.pdf": million_honest_pages,
    "page-count-lie.pdf": page_count_lie, "deep-nesting.pdf": deep_nesting, "deep-state.pdf": deep_state,
    "many-operators.pdf": many_operators, "many-characters.pdf": many_characters, "xref-cycle.pdf": xref_cycle,
    "length-lie.pdf": length_lie, "pattern-bomb.pdf": pattern_bomb, "ccitt-lie.pdf": ccitt_lie, "jpeg-scan.pdf": jpeg_scan,
    "truncated.pdf": truncated, "flipped.pdf": flipped, "random.pdf": random_bytes, "random-after-header.pdf": random_after_header,
    "huge.jpg": huge_jpeg, "bomb.png": png_bomb, "lie.png": png_lie, "cycle.tif": tiff_cycle, "lie.tif": tiff_lie, "lie.bmp": bmp_lie,
    "lie.webp": webp_lie, "empty.pdf": nothing, "empty.png": nothing,
}


def make(folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, maker in MAKERS.items():
        if not (folder / name).exists():
            draft = folder / f"draft-{name}"
            draft.write_bytes(maker())
            draft.rename(folder / name)
    return [folder / name for name in MAKERS]


if __name__ == "__main__":
    for path in make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/bench-hostile"):
        print(f"{path.stat().st_size:9} {path.name}")
