"""Digital PDFs that are special in one way each."""
import pikepdf
from reportlab.lib import colors, pdfencrypt
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from . import fonts, shaping

PASSWORD = "heron-42"
LEFT, RIGHT, TOP = 60, A4[0] - 60, A4[1] - 70


def register():
    for name, path in (("Sans", fonts.SANS), ("SansBold", fonts.SANS_BOLD), ("Serif", fonts.SERIF)):
        pdfmetrics.registerFont(TTFont(name, path))


def write_lines(canvas, lines, x, y, font="Serif", size=11, leading=16):
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(x, y, line)
        y -= leading
    return y


def right_to_left(path):
    """Hebrew, then Arabic in presentation forms, both with numbers and Latin words inside the line."""
    register()
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setTitle("הודעה לדיירים")
    y = TOP

    def right(lines, font="Sans", size=12, leading=19):
        nonlocal y
        canvas.setFont(font, size)
        for line in lines:
            canvas.drawRightString(RIGHT, y, shaping.visual(line))
            y -= leading
        y -= 8
    right(["הודעה לדיירי הבניין"], "SansBold", 18, 28)
    right(["ביום שלישי, 14 באפריל 2026, תופסק אספקת המים", "בין השעות 08:30 ו-12:00 לצורך החלפת המשאבה.",
           "נא למלא מראש כלי מים לשתייה ולבישול."])
    right(["לשאלות אפשר לפנות אל ועד הבית בטלפון 555-0142", "או לכתוב אל house@example.org בכל שעה."])
    y -= 20
    right(["إعلان لسكان البناية"], "SansBold", 18, 28)
    right(["يوم الثلاثاء 14 نيسان 2026 تنقطع المياه", "من الساعة 08:30 حتى الساعة 12:00 بسبب تبديل المضخة.",
           "نرجو ملء الماء للشرب والطبخ قبل ذلك."])
    right(["للاستفسار يمكن الكتابة الى house@example.org", "في كل وقت وشكرا لكم."])
    canvas.save()


def password(path):
    """Opens only with PASSWORD; it is written down in README.md."""
    register()
    lock = pdfencrypt.StandardEncryption(PASSWORD, ownerPassword="owner-" + PASSWORD, canPrint=1, strength=128)
    canvas = Canvas(str(path), pagesize=A4, encrypt=lock, invariant=1)
    canvas.setFont("SansBold", 16)
    canvas.drawString(LEFT, TOP, "Minutes of the salary committee")
    write_lines(canvas, ["Held on 12 January 2026 in the small meeting room.", "Present: Ms Okafor (chair), Mr Brandt, Ms Ito.",
                         "", "The committee agreed to raise all salaries by 3.2 per cent from March.",
                         "The head of accounts will prepare the letters by 30 January.",
                         "The next meeting is on 13 April 2026."], LEFT, TOP - 32)
    canvas.save()


def garbled(path):
    """Glyphs are numbered as in the font file, 29 places before ASCII, and the table that says what they mean is gone: it looks
    right, but text copied out of it is nonsense ("7KH GULYHU"). Some printer drivers do this. A reader must notice and use OCR."""
    register()
    font = pdfmetrics.getFont("Serif")
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    state = font.state[canvas._doc] = TTFont.State(True, font)
    state.subsets[0][:] = [code + 29 if 3 <= code <= 97 else 32 for code in range(128)]
    state.assignments.update({code + 29: code for code in range(3, 98)})
    y = write_lines(canvas, ["Notice of delivery"], LEFT, TOP, "Serif", 18, 34)
    write_lines(canvas, ["Your order of 9 March has left our warehouse in Tilbury.", "It holds twelve boxes of archive paper, size A4,",
                         "and four bottles of black ink for the stamp pads.", "",
                         "The driver will call you one hour before he arrives.", "Please check the number of boxes before you sign.",
                         "", "Whitby Paper Supplies"], LEFT, y, "Serif", 12, 19)
    canvas.save()
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == pikepdf.Name.Font and "/ToUnicode" in item:
                del item["/ToUnicode"]
        pdf.save(path, static_id=True)


def form(path):
    """A filled form: the values live in fields, not in the page."""
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setFont("Helvetica-Bold", 17)
    canvas.drawString(LEFT, TOP, "Library card application")
    canvas.setFont("Helvetica", 9.5)
    canvas.drawString(LEFT, TOP - 20, "Please fill in capital letters or on the screen, and bring proof of address.")
    y = TOP - 60
    for label, value in (("Full name", "Ines Carvalho"), ("Date of birth", "1991-06-23"), ("Street", "Rua das Flores 18, 2nd floor"),
                         ("Post code and town", "4050-262 Porto"), ("E-mail", "ines.carvalho@example.org")):
        canvas.setFont("Helvetica", 11)
        canvas.drawString(LEFT, y + 5, label)
        canvas.acroForm.textfield(name=label.lower().replace(" ", "_"), value=value, x=LEFT + 130, y=y, width=300, height=20,
                                  fontName="Helvetica", fontSize=11, borderWidth=0.5, fillColor=colors.white, forceBorder=True)
        y -= 34
    for label, checked in (("I would like the newsletter", True), ("I need large-print books", False)):
        canvas.acroForm.checkbox(name=label[7:].lower().replace(" ", "_"), checked=checked, x=LEFT, y=y, size=14, buttonStyle="check",
                                 borderWidth=0.7, forceBorder=True)
        canvas.drawString(LEFT + 24, y + 3, label)
        y -= 26
    canvas.setFont("Helvetica-Oblique", 9)
    canvas.drawString(LEFT, y - 10, "Cards are free of charge for residents. Lost cards cost 5 euros.")
    canvas.save()
