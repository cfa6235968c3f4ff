"""report.pdf: two pages of a digital report with most of what a reader of documents must cope with."""
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (BaseDocTemplate, Flowable, Frame, FrameBreak, KeepTogether, ListFlowable, ListItem,
                                NextPageTemplate, PageBreak, PageTemplate, Paragraph, Preformatted, Spacer, Table, TableStyle)

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=11, leading=14.2, alignment=TA_JUSTIFY, spaceAfter=5,
                      embeddedHyphenation=1)
TITLE = ParagraphStyle("title", parent=BODY, fontName="Helvetica-Bold", fontSize=20, leading=24, alignment=0, spaceAfter=4)
BYLINE = ParagraphStyle("byline", parent=BODY, fontName="Helvetica", fontSize=9.5, alignment=0, spaceAfter=8)
H1 = ParagraphStyle("h1", parent=BODY, fontName="Helvetica-Bold", fontSize=13, leading=16, alignment=0, spaceBefore=7, spaceAfter=4)
H2 = ParagraphStyle("h2", parent=H1, fontSize=11, leading=14, spaceBefore=5, spaceAfter=3)
CAPTION = ParagraphStyle("caption", parent=BODY, fontName="Times-Italic", fontSize=8.8, leading=10.6, alignment=0, spaceBefore=2)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=8.8, leading=10.4, alignment=0, spaceAfter=0)
CODE = ParagraphStyle("code", fontName="Courier", fontSize=8, leading=9.8, leftIndent=6, spaceBefore=2, spaceAfter=6)

HEADER = "Alder Valley Water Board"
FOOTER = "Annual report on river quality 2025"


def decorate(canvas, document):
    canvas.setFont("Helvetica", 8)
    canvas.drawString(20 * mm, A4[1] - 13 * mm, HEADER)
    canvas.drawRightString(A4[0] - 20 * mm, A4[1] - 13 * mm, "Technical series 14")
    canvas.drawString(20 * mm, 11 * mm, FOOTER)
    canvas.drawRightString(A4[0] - 20 * mm, 11 * mm, f"Page {document.page} of 2")
    if document.page == 1:
        canvas.setLineWidth(0.4)
        canvas.line(20 * mm, 26 * mm, 70 * mm, 26 * mm)
        note = canvas.beginText(20 * mm, 22 * mm)
        note.setFont("Times-Roman", 5.5)
        note.setRise(2.6)
        note.textOut("1")
        note.setRise(0)
        note.setFont("Times-Roman", 8)
        note.textOut(" A sample counts as met when all three values lie within the limits of the permit of March 2019.")
        canvas.drawText(note)


def ruled_table():
    rows = [["Station", "Samples", "pH", "Nitrate (mg/l)", "Met"],
            ["Alder Bridge", "52", "7.4", "11.2", "98 %"],
            ["Fenwick Weir", "51", "7.6", "14.9", "94 %"],
            ["Mill Lane", "48", "7.1", "23.5", "81 %"],
            ["Old Harbour", "52", "7.8", "9.7", "100 %"]]
    return Table(rows, colWidths=[66, 44, 26, 64, 34], rowHeights=14, style=TableStyle([
        ("FONT", (0, 0), (-1, -1), "Times-Roman", 8.8), ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 8.2),
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#dfe8ee")),
        ("ALIGN", (1, 1), (-1, -1), "RIGHT"), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]))


def unruled_table():
    rows = [["Quarter", "Rainfall", "Mean flow", "Overflows"],
            ["January to March", "312 mm", "8.4 m³/s", "6"],
            ["April to June", "148 mm", "4.1 m³/s", "1"],
            ["July to September", "97 mm", "2.2 m³/s", "0"],
            ["October to December", "286 mm", "7.7 m³/s", "4"]]
    return Table(rows, colWidths=[150, 90, 90, 80], rowHeights=13.5, hAlign="LEFT", style=TableStyle([
        ("FONT", (0, 0), (-1, -1), "Times-Roman", 9.5), ("FONT", (0, 0), (-1, 0), "Times-Bold", 9.5),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"), ("LEFTPADDING", (0, 0), (0, -1), 0)]))


def spanning_table():
    rows = [["Works", "Cost (thousand euros)", "", "Finished"],
            ["", "planned", "actual", ""],
            ["Reed bed at Mill Lane", "420", "455", "May 2025"],
            ["Storm tank, Fenwick", "1,150", "1,098", "October 2025"],
            ["New sensors, all stations", "85", "79", "February 2025"]]
    return Table(rows, colWidths=[170, 90, 90, 110], rowHeights=15, hAlign="LEFT", style=TableStyle([
        ("FONT", (0, 0), (-1, -1), "Times-Roman", 9.5), ("FONT", (0, 0), (-1, 1), "Helvetica-Bold", 8.8),
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1)),
        ("SPAN", (3, 0), (3, 1)), ("ALIGN", (1, 0), (2, -1), "CENTER"), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]))


class Chart(Flowable):
    """Bars with axes, as vector drawing with text inside: what a figure in a digital PDF mostly is."""
    values = {"2021": 19.8, "2022": 18.1, "2023": 17.0, "2024": 15.6, "2025": 14.8}

    def __init__(self):
        super().__init__()
        self.width, self.height = 234, 122

    def draw(self):
        canvas, left, bottom, high = self.canv, 26, 20, 84
        canvas.setFont("Helvetica", 7)
        canvas.setLineWidth(0.5)
        for step in range(0, 26, 5):
            y = bottom + high * step / 25
            canvas.setStrokeColor(colors.HexColor("#c8c8c8"))
            canvas.line(left, y, self.width, y)
            canvas.drawRightString(left - 4, y - 2.4, str(step))
        canvas.drawString(left, bottom + high + 6, "mg/l")
        canvas.setFillColor(colors.HexColor("#3f7d9c"))
        for index, (year, value) in enumerate(self.values.items()):
            canvas.rect(left + 10 + 40 * index, bottom, 24, high * value / 25, stroke=0, fill=1)
        canvas.setFillColor(colors.black)
        for index, year in enumerate(self.values):
            canvas.drawCentredString(left + 22 + 40 * index, bottom - 10, year)


def bullets(items, kind="bullet"):
    return ListFlowable([ListItem(Paragraph(item, BODY), leftIndent=14) for item in items], bulletType=kind, leftIndent=14,
                        start="•" if kind == "bullet" else 1, bulletFormat="%s." if kind != "bullet" else None,
                        bulletFontName="Times-Roman", bulletFontSize=11)


def story():
    head = [Paragraph("River Quality in the Alder Valley", TITLE),
            Paragraph("Miriam Osei, Jonas Lindqvist and Teresa Prado · 3 February 2026", BYLINE),
            Paragraph("The river met its limits in 93 of 100 samples, the best year since measuring began in 1998. Nitrate at "
                      "Mill Lane remains the one open problem; a reed bed has been at work there since May.", BODY), FrameBreak()]
    column = [
        Paragraph("1 What we measured", H1),
        Paragraph("Four stations were sampled every week from January to December, 203 samples in all; five were lost to the "
                  "January flood. Each sample was tested for acidity, dissolved oxygen and nitrate in the board's own "
                  "lab\xado\xadra\xadto\xadry, and every tenth one by the univer\xadsi\xadty as well.<super rise=3 size=5.5>1</super> The two "
                  "laboratories agreed to within two per cent.", BODY),
        Paragraph("Sensors have replaced the hand-held probes at all stations. They report every fifteen minutes, which shows "
                  "for the first time how quickly the river answers to <i>heavy rain</i> after a dry spell.", BODY),
        Paragraph("1.1 Results by station", H2),
        Paragraph("Table 1 gives the yearly means. Old Harbour met every limit for the second year in a row.", BODY),
        KeepTogether([Paragraph("Table 1. Yearly means by station.", CAPTION), Spacer(1, 2), ruled_table()]),
        Paragraph("1.2 Nitrate over five years", H2),
        Paragraph("Averaged over the valley, nitrate has fallen by a quarter since 2021, as Figure 1 shows. Most of it came with "
                  "the new rules on spreading manure, which took effect in the spring of 2022.", BODY),
        FrameBreak(),
        Chart(),
        Paragraph("Figure 1. Mean nitrate in the valley, 2021 to 2025.", CAPTION),
        Paragraph("2 What we did", H1),
        Paragraph("Three measures were finished during the year:", BODY),
        bullets(["A <b>reed bed</b> of two hectares cleans the ditch that enters at Mill Lane.",
                 "A storm tank at Fenwick holds back what the sewers cannot take.",
                 "Nineteen farms signed contracts for unfertilised strips along the banks."]),
        Paragraph("The order of work for the coming year is:", BODY),
        bullets(["repair the fish ladder at Fenwick Weir,", "extend the reed bed by one hectare,",
                 "publish all sensor readings as they arrive."], "1"),
        Paragraph('Readings since 2019 can already be downloaded from <link href="https://example.org/alder/data" '
                  'color="#1a4f8a">example.org/alder/data</link>; questions go to <link href="mailto:river@example.org" '
                  'color="#1a4f8a">river@example.org</link>.', BODY),
        Paragraph("The board thanks the angling clubs of Fenwick and Old Harbour, whose members reported eleven spills before any "
                  "sensor noticed them. Two of these led to a fine.", BODY),
        NextPageTemplate("wide"), PageBreak()]
    second = [
        Paragraph("3 Weather and flow", H1),
        Paragraph("The year began wet and stayed dry from April to September. Overflows from the sewers happened only when more "
                  "than forty millimetres of rain fell within one day.", BODY),
        Paragraph("Table 2. Rain, flow and sewer overflows by quarter.", CAPTION), Spacer(1, 2), unruled_table(), Spacer(1, 8),
        Paragraph("4 Money", H1),
        Paragraph("The three works cost 1.63 million euros, one and a half per cent less than planned.", BODY),
        Paragraph("Table 3. Cost of the works finished in 2025.", CAPTION), Spacer(1, 2), spanning_table(), Spacer(1, 8),
        Paragraph("5 Using the data", H1),
        Paragraph("The download is one file per station and year, with a line for each reading. The following program prints the "
                  "highest nitrate value of a file:", BODY),
        Preformatted("import csv\n\nwith open(\"mill-lane-2025.csv\") as file:\n    rows = list(csv.DictReader(file))\n"
                     "worst = max(rows, key=lambda row: float(row[\"nitrate\"]))\nprint(worst[\"time\"], worst[\"nitrate\"])", CODE),
        Paragraph("Values that a sensor marked as doubtful are left empty rather than guessed. A description of every column is "
                  "part of the download.", BODY),
        Paragraph("6 Outlook", H1),
        Paragraph("If the reed bed works as its smaller model did, Mill Lane will meet the nitrate limit in 2027. The board will "
                  "report on it again next February, and at once if a limit is passed for more than a week.", BODY)]
    return head + column + second


def make(path):
    document = BaseDocTemplate(str(path), pagesize=A4, invariant=1, title="River Quality in the Alder Valley",
                               author="Alder Valley Water Board", lang="en")
    left, width, gap = 20 * mm, A4[0] - 40 * mm, 7 * mm
    bottom, top = 29 * mm, A4[1] - 18 * mm
    head = 94
    half = (width - gap) / 2
    plain = dict(leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0)
    document.addPageTemplates([
        PageTemplate("first", [Frame(left, top - head, width, head, **plain),
                               Frame(left, bottom, half, top - head - bottom, **plain),
                               Frame(left + half + gap, bottom, half, top - head - bottom, **plain)], onPage=decorate),
        PageTemplate("wide", [Frame(left, bottom, width, top - bottom, **plain)], onPage=decorate)])
    document.build(story())
