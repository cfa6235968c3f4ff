"""pymupdf4llm as a command: markdown of each file on standard output.

Its best settings for digital PDFs: header/footer=False leave running headers and footers out, as the references do;
use_ocr=False spares it reading pictures on pages that have text, which costs it time and, here, accuracy. The rest (layout
model, tables) is its default."""
import contextlib
import sys

with contextlib.redirect_stdout(sys.stderr):  # it prints notices
    import pymupdf4llm

for path in sys.argv[1:]:
    with contextlib.redirect_stdout(sys.stderr):
        try:
            text = pymupdf4llm.to_markdown(path, header=False, footer=False, use_ocr=False)
        except Exception as error:  # a library under test may fail in any way; that costs it this document
            print(f"{path}: {error}", file=sys.stderr)
            text = ""
    sys.stdout.write(text)
