"""Documents that exist only as pixels, made to look as scanners, fax machines and telephones make them."""
import io
import random

import img2pdf
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from . import fonts


def font(path, points, dpi):
    return ImageFont.truetype(path, round(points * dpi / 72))


class Sheet:
    """White paper with text lines; remembers where each line was put."""

    def __init__(self, width_in, height_in, dpi):
        self.dpi = dpi
        self.image = Image.new("L", (round(width_in * dpi), round(height_in * dpi)), 255)
        self.draw = ImageDraw.Draw(self.image)
        self.lines = []  # (text, x_px, baseline_px, points)

    def text(self, x_in, y_in, text, points=11, face=fonts.SERIF, align="left"):
        face = font(face, points, self.dpi)
        x, y = x_in * self.dpi, y_in * self.dpi
        if align == "right":
            x -= face.getlength(text)
        self.draw.text((x, y), text, font=face, fill=20, anchor="ls")
        self.lines.append((text, x, y, points))

    def block(self, x_in, y_in, lines, points=11, leading_in=0.235, **more):
        for line in lines:
            if line:
                self.text(x_in, y_in, line, points, **more)
            y_in += leading_in
        return y_in

    def rule(self, x1, y1, x2, y2, width_px=3):
        self.draw.line([(x1 * self.dpi, y1 * self.dpi), (x2 * self.dpi, y2 * self.dpi)], fill=30, width=width_px)


def scanned(image, degrees, seed, noise=0.05, paper=246):
    """A crooked, slightly soft, slightly dirty copy."""
    page = image.rotate(degrees, Image.BICUBIC, fillcolor=255).filter(ImageFilter.GaussianBlur(0.6))
    page = ImageOps.colorize(page, black=(28, 28, 28), white=(paper, paper, paper)).convert("L")
    small = tuple(side // 2 for side in page.size)
    dirt = Image.frombytes("L", small, random.Random(seed).randbytes(small[0] * small[1])).resize(page.size, Image.BILINEAR)
    return Image.blend(page, dirt, noise)


def jpeg(image, quality, dpi, **more):
    data = io.BytesIO()
    image.save(data, "JPEG", quality=quality, dpi=(dpi, dpi), **more)
    return data.getvalue()


def fax_tiff(images, dpi):
    data = io.BytesIO()
    bilevel = [image.convert("1", dither=Image.NONE) for image in images]
    bilevel[0].save(data, "TIFF", compression="group4", dpi=(dpi, dpi), save_all=True, append_images=bilevel[1:])
    return data.getvalue()


def letter(path):
    sheet = Sheet(8.27, 11.69, 200)
    sheet.text(1.0, 1.0, "Harrow & Finch", 20, fonts.SERIF_BOLD)
    sheet.text(1.0, 1.25, "Makers of garden tools since 1931", 9)
    sheet.text(7.27, 1.0, "14 Quay Street", 9, align="right")
    sheet.text(7.27, 1.18, "Whitby YO22 4DE", 9, align="right")
    sheet.rule(1.0, 1.42, 7.27, 1.42)
    sheet.block(1.0, 2.0, ["Ms Eleanor Wright", "3 Chapel Row", "Richmond DL10 4QX"])
    sheet.text(7.27, 2.95, "17 November 2025", 11, align="right")
    sheet.text(1.0, 3.5, "Your order number 20-4471", 11, fonts.SERIF_BOLD)
    y = sheet.block(1.0, 4.0, [
        "Dear Ms Wright,", "",
        "Thank you for your letter of 11 November. I am sorry that the pruning",
        "shears reached you with a cracked handle. They left our workshop in good",
        "order, but the carrier tells us that the parcel was dropped at his depot.", "",
        "A new pair is on its way to you and should arrive before Friday. There is",
        "no need to send the old pair back: the blades are sound, and a joiner can",
        "fit a new ash handle for a few pounds.", "",
        "Because of the trouble, we have taken £12.50 off your bill of £48.90. The",
        "amount still open is therefore £36.40, payable within thirty days.", "",
        "Yours sincerely,"])
    stroke = [(1.05, 7.9), (1.3, 7.55), (1.4, 7.95), (1.6, 7.6), (1.75, 7.9), (2.0, 7.7), (2.2, 7.85), (2.7, 7.62)]
    sheet.draw.line([(x * 200, yy * 200) for x, yy in stroke], fill=40, width=4, joint="curve")
    sheet.block(1.0, y + 0.85, ["Thomas Finch", "Customer service"])
    page = scanned(sheet.image, 0.8, seed=1, noise=0.04)
    path.write_bytes(img2pdf.convert(jpeg(page, 36, 200), nodate=True, engine=img2pdf.Engine.internal, layout_fun=img2pdf.get_fixed_dpi_layout_fun((200, 200))))


def fax(path):
    """One bilevel page, CCITT group 4 inside the PDF."""
    sheet = Sheet(8.27, 11.69, 200)
    sheet.text(0.8, 0.6, "11/03/2026 09:42   FROM: +44 20 7946 0018   PAGE 1/1", 9, fonts.MONO)
    sheet.text(0.8, 1.5, "PURCHASE ORDER 7731", 18, fonts.SANS_BOLD)
    sheet.block(0.8, 2.0, ["To: Castle Timber Ltd, Ludlow", "Deliver to: Unit 6, Corve Works, Ludlow SY8 2PG"], face=fonts.SANS)
    top, columns = 2.8, (0.8, 1.6, 5.1, 6.2, 7.4)
    rows = [("Qty", "Description", "Each", "Total"), ("40", "Oak board 2400 x 150 x 25 mm", "31.00", "1240.00"),
            ("12", "Larch post 3000 x 100 x 100 mm", "27.50", "330.00"), ("6", "Box of screws, 5 x 70 mm", "8.25", "49.50"),
            ("", "Sum without tax", "", "1619.50")]
    for index, row in enumerate(rows):
        for column, cell in enumerate(row):
            sheet.text(columns[column] + 0.08, top + 0.36 * index + 0.24, cell, 10.5, fonts.SANS_BOLD if index == 0 else fonts.SANS)
    for index in range(len(rows) + 1):
        sheet.rule(columns[0], top + 0.36 * index, columns[-1], top + 0.36 * index)
    for x in columns:
        sheet.rule(x, top, x, top + 0.36 * len(rows))
    sheet.block(0.8, 5.2, ["Please confirm by return. Delivery is needed before 20 March, because", "the roof is open. Our driver can also collect from your yard.", "",
                           "A. Pritchard", "Site manager"], face=fonts.SANS)
    data = fax_tiff([sheet.image.rotate(-0.4, Image.BICUBIC, fillcolor=255)], 200)
    path.write_bytes(img2pdf.convert(data, nodate=True, engine=img2pdf.Engine.internal, layout_fun=img2pdf.get_fixed_dpi_layout_fun((200, 200))))


def minutes(path):
    """Three bilevel frames in one TIFF."""
    pages = [
        ("Allotment Society", ["Minutes of the meeting of 8 October 2025", "", "1. Water", "The new tap by the lower gate works. The hose is to be",
                               "rolled up after use, so that nobody trips over it."]),
        ("", ["2. Seeds", "The order for spring goes out on 15 January. Lists lie in", "the shed; prices have risen by about eight per cent.", "",
                               "3. Compost", "Two members will turn the heap on the first Sunday of", "each month. Cooked food does not belong on it."]),
        ("", ["4. Money", "There are 1,284.60 pounds in the account. Rents for 2026", "stay at 35 pounds for half a plot and 60 for a whole one.", "",
                               "The meeting closed at 20:15.", "Written by R. Sandhu"])]
    frames = []
    for number, (title, lines) in enumerate(pages, 1):
        sheet = Sheet(5.83, 8.27, 200)
        if title:
            sheet.text(0.7, 0.8, title, 15, fonts.SERIF_BOLD)
        sheet.block(0.7, 1.4 if title else 0.8, lines, 10.5, 0.25)
        sheet.text(2.8, 7.8, str(number), 9)
        frames.append(sheet.image)
    path.write_bytes(fax_tiff(frames, 200))


def archive(path):
    """A typewritten page as a picture, with the text that somebody's OCR found laid over it invisibly."""
    sheet = Sheet(8.27, 11.69, 150)
    sheet.text(1.0, 1.2, "REPORT OF THE HARBOUR MASTER", 13, fonts.MONO)
    sheet.block(1.0, 1.8, [
        "for the month of September 1957", "",
        "Forty-one vessels entered the harbour during the month, six", "fewer than in August. The dredger worked on nineteen days and",
        "raised some 8,200 tons of silt from the eastern basin.", "",
        "On the 14th the trawler MARGARET ANN touched the mole in fog.", "No one was hurt. Two bollards and eleven feet of railing must",
        "be replaced; the owners have accepted the cost.", "",
        "The lamp on the western pier failed on the 22nd and was lit", "again the same night by the assistant keeper, Mr. Dunbar.", "",
        "                                   J. Calloway"], 10.5, 0.27, face=fonts.MONO)
    page = scanned(sheet.image, 0, seed=2, noise=0.06, paper=236)
    canvas = Canvas(str(path), pagesize=(8.27 * 72, 11.69 * 72), invariant=1)
    canvas.drawImage(ImageReader(io.BytesIO(jpeg(page, 40, 150))), 0, 0, 8.27 * 72, 11.69 * 72)
    for text, x, y, points in sheet.lines:
        layer = canvas.beginText(x * 72 / 150, (11.69 * 150 - y) * 72 / 150)
        layer.setTextRenderMode(3)
        layer.setFont("Courier", points)
        layer.textOut(text)
        canvas.drawText(layer)
    canvas.save()


def receipt(path):
    """A till receipt photographed on a table, the telephone held sideways: the pixels lie on their side and EXIF says so."""
    paper = Image.new("L", (620, 980), 250)
    draw, y = ImageDraw.Draw(paper), 60
    big, normal = ImageFont.truetype(fonts.SANS_BOLD, 40), ImageFont.truetype(fonts.MONO, 27)
    draw.text((310, y), "CORNER BAKERY", font=big, fill=35, anchor="ms")
    lines = ["Bridge Street 7, Kelso", "", ("Rye loaf 800 g", "4.20"), ("Cheese roll x 2", "5.60"), ("Apple cake", "3.10"),
             ("Filter coffee", "2.40"), None, ("TOTAL GBP", "15.30"), ("Card", "15.30"), "", "VAT 0% on food 12.90", "VAT 20% incl. 2.40", "",
             "21.02.2026 10:17 Till 2", "Thank you, come again!"]
    y = 118
    for line in lines:
        if line is None:
            draw.line([(40, y - 8), (580, y - 8)], fill=60, width=3)
        elif isinstance(line, tuple):
            draw.text((40, y), line[0], font=normal, fill=35, anchor="ls")
            draw.text((580, y), line[1], font=normal, fill=35, anchor="rs")
        else:
            draw.text((310, y), line, font=normal, fill=35, anchor="ms")
        y += 54
    table = Image.new("RGB", (960, 1280), (96, 74, 56))
    grain = Image.frombytes("L", (96, 1280), random.Random(3).randbytes(96 * 1280)).resize(table.size, Image.BILINEAR)
    table = Image.blend(table, ImageOps.colorize(grain, (70, 50, 36), (130, 104, 80)), 0.35)
    # Seen a little from the left, and a little crooked.
    corners = (0, 0, 0, paper.height, paper.width, paper.height, paper.width, 0)
    target = [(150, 120), (128, 1150), (806, 1166), (790, 140)]
    mesh = Image.new("L", table.size, 0)
    ImageDraw.Draw(mesh).polygon(target, fill=255)
    warped = paper.transform(table.size, Image.PERSPECTIVE, perspective(target, corners), Image.BICUBIC, fillcolor=250)
    light = Image.linear_gradient("L").resize(table.size).point(lambda v: 255 - v // 5)
    shaded = Image.composite(warped, Image.new("L", table.size, 0), light).convert("RGB")
    table.paste(shaded, mask=mesh.filter(ImageFilter.GaussianBlur(1)))
    photo = table.filter(ImageFilter.GaussianBlur(0.7)).rotate(90, expand=True)  # turned left; orientation 6 turns it back right
    exif = Image.Exif()
    exif[0x0112] = 6
    path.write_bytes(jpeg(photo, 62, 72, exif=exif))


def perspective(target, corners):
    """The eight coefficients that take points of the target to corners of the source (solved by elimination)."""
    source = list(zip(corners[0::2], corners[1::2]))
    rows = []
    for (x, y), (u, v) in zip(target, source):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for column in range(8):
        pivot = max(range(column, 8), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(8):
            if row != column:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column])]
    return [row[8] for row in rows]
