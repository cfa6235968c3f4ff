"""pymupdf4llm as a command: markdown of each file on standard output.

header/footer=False are its own options for leaving running headers and footers out, as the references do; everything else is
its default (layout model, tables, OCR where it deems a page to need it)."""
import contextlib
import sys

with contextlib.redirect_stdout(sys.stderr):  # it prints notices
    import pymupdf4llm

for path in sys.argv[1:]:
    with contextlib.redirect_stdout(sys.stderr):
        try:
            text = pymupdf4llm.to_markdown(path, header=False, footer=False)
        except Exception as error:  # a library under test may fail in any way; that costs it this document
            print(f"{path}: {error}", file=sys.stderr)
            text = ""
    sys.stdout.write(text)
