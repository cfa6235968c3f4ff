"""The judged documents: where the data folder holds ground truth, and how it is read. A set whose folder is absent is left out."""
import csv
import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    set: str
    name: str
    source: Path
    reference: str  # markdown or text
    ocr: bool       # a scan: the tesseract command is the bar
    language: str = "eng"


@dataclass(frozen=True)
class Turned:
    set: str
    name: str
    source: Path
    page: int
    degrees: int  # clockwise turn that makes the page upright
    turn_by: int = 0  # clockwise turn that the bench gives the image first


def _docling_pairs(data: Path, set_name: str, sources: Path, truths: Path) -> list[Case]:
    """SOURCE.pdf beside groundtruth/SOURCE.md; odf sources are PDF prints of office files (x.odt.pdf, x.odt.md)."""
    cases = []
    for truth in sorted((data / truths).glob("*.md")):
        source = data / sources / (truth.name[: -len(".md")] + ".pdf")
        if source.exists():
            cases.append(Case(set_name, source.stem, source, truth.read_text("utf-8"), ocr=False))
    return cases


def _docling_scans(data: Path) -> list[Case]:
    """References read off by tesseract from the upright page. The second set of references there (another recogniser's) holds
    misread text on turned pages, so it is no ground truth."""
    cases = []
    for folder in ("ocr", "webp"):
        base = data / "docling/tests/data" / folder
        for truth in sorted((base / "groundtruth/tesseract/full_page").glob("*.md")):
            stem = truth.name.split(".")[0]
            for source in sorted((base / "sources").glob(stem + ".*")):
                cases.append(Case("docling scans", source.name, source, truth.read_text("utf-8"), ocr=True))
    return cases


def alto_text(path: Path) -> str:
    """The lines of an ALTO or PAGE file, in file order, whatever the version of its namespace."""
    lines = []
    for node in xml.parse(path).getroot().iter():
        tag = node.tag.rsplit("}", 1)[-1]
        if tag == "TextLine":
            strings = [child.get("CONTENT") or "" for child in node.iter() if child.tag.endswith("}String")]
            unicode = [child.text or "" for child in node.iter() if child.tag.endswith("}Unicode")]
            lines.append(" ".join(strings or unicode[-1:]))
    return "\n".join(lines)


def _tapuscorpus(data: Path) -> list[Case]:
    return [Case("tapuscorpus", truth.stem, truth.with_suffix(".jpg"), alto_text(truth), ocr=True, language="fra")
            for truth in sorted((data / "tapuscorpus/data").glob("*/*.xml")) if truth.with_suffix(".jpg").exists()]


def _tesseract_test(data: Path) -> list[Case]:
    """NAME.txt beside NAME.tif; turned copies (NAME-rotated-*) say the same."""
    base, cases = data / "tesseract-test/testing", []
    for truth in sorted(base.glob("*.txt")):
        if truth.name.endswith(".gold.txt"):
            continue
        for source in sorted(base.glob("*")):
            if source.suffix in (".tif", ".png", ".jpg") and re.fullmatch(re.escape(truth.stem) + r"(-rotated-\w+)?", source.stem):
                cases.append(Case("tesseract-test", source.name, source, truth.read_text("utf-8"), ocr=True))
    return cases


def cases(data: Path) -> list[Case]:
    docling = Path("docling/tests/data")
    return (_docling_pairs(data, "docling pdf", docling / "pdf/sources", docling / "pdf/groundtruth")
            + _docling_pairs(data, "docling odf", docling / "odf/sources", docling / "odf/groundtruth")
            + _docling_scans(data) + _tapuscorpus(data) + _tesseract_test(data))


def turned(data: Path) -> list[Turned]:
    """ORIENTATION.tsv, then each tapuscorpus page turned by the bench, the four directions taking turns."""
    pages = []
    table = data / "ORIENTATION.tsv"
    if table.exists():
        rows = csv.DictReader((line for line in table.open(encoding="utf-8") if not line.startswith("#")), delimiter="\t")
        pages += [Turned("orientation", row["file"], data / row["file"], int(row["page"]), int(row["cw_degrees_to_upright"]))
                  for row in rows]
    for index, case in enumerate(_tapuscorpus(data)):
        turn = 90 * (index % 4)
        pages.append(Turned("orientation, turned", f"{case.name} turned {turn}", case.source, 1, (360 - turn) % 360, turn))
    return pages
