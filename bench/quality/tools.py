"""The programs under comparison. Peers are cached by their version, settings and the file's content; Lectern never is."""
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache/bench-quality"
TIMEOUT_S = 300
PSMS = (1, 3, 4, 6, 11)
RENDER_DPI = 300  # what tesseract's documentation asks for


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(command: list[str], cwd: str | None = None) -> tuple[str, str, str]:
    """Standard output, standard error, and why it failed (empty = it did not)."""
    environment = dict(os.environ, OMP_THREAD_LIMIT="1", PYTHONUTF8="1")
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, cwd=cwd, env=environment)
    except subprocess.TimeoutExpired:
        return "", "", f"timed out after {TIMEOUT_S} s"
    except OSError as error:
        return "", "", str(error)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    return out, err, "" if done.returncode == 0 else f"exit {done.returncode}: {err.strip()[-300:]}"


def _cached(tool: str, key: str, make) -> dict:
    at = CACHE / re.sub(r"[^\w.=+-]+", "_", tool) / f"{key}.json"
    if at.exists():
        return json.loads(at.read_text("utf-8"))
    value = make()
    at.parent.mkdir(parents=True, exist_ok=True)
    draft = at.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(value), "utf-8")
    draft.replace(at)
    return value


def _version(command: list[str], pattern: str) -> str:
    out, err, _ = _run(command)
    found = re.search(pattern, out + err)
    return found.group(1) if found else "unknown"


class Peer:
    """A command that prints text or markdown for a file."""

    def __init__(self, name: str, version: str, command: list[str]):
        self.name, self.version, self._command = name, version, command

    def read(self, source: Path) -> tuple[str, str]:
        def make():
            out, _, why = _run([part.format(file=source) for part in self._command])
            return {"text": "" if why else out, "why": why}
        scripts = b"".join(Path(part).read_bytes() for part in self._command if part.endswith(".py"))
        settings = hashlib.sha256(" ".join(Path(part).name for part in self._command).encode() + scripts).hexdigest()[:8]
        value = _cached(f"{self.name}-{self.version}-{settings}", sha256(source), make)
        return value["text"], value["why"]


def digital_peers() -> list[Peer]:
    from importlib.metadata import version
    here = Path(__file__).parent / "peers"
    markitdown = str(Path(sys.executable).with_name("markitdown"))
    return [Peer("pymupdf4llm", version("pymupdf4llm"), [sys.executable, str(here / "pymupdf4llm_cli.py"), "{file}"]),
            Peer("markitdown", version("markitdown"), [markitdown, "{file}"]),
            Peer("pdftotext", _version(["pdftotext", "-v"], r"version (\S+)"), ["pdftotext", "-layout", "{file}", "-"])]


def upright_image(source: Path, page: int, folder: str, turn_by: int = 0) -> list[Path]:
    """What a person who runs the tesseract command would give it: PDF pages rendered, EXIF applied, and the image alone in a
    folder (a zone file beside it, drawn by hand, would tell tesseract the layout). All pages when `page` is 0."""
    from PIL import Image, ImageOps
    if source.suffix.lower() == ".pdf":
        which = ["-f", str(page), "-l", str(page)] if page else []
        _run(["pdftoppm", "-r", str(RENDER_DPI), "-png", *which, str(source), f"{folder}/page"])
        return sorted(Path(folder).glob("page*.png"))
    if source.suffix.lower() in (".jpg", ".jpeg") or turn_by:
        with Image.open(source) as image:
            upright = ImageOps.exif_transpose(image).rotate(-turn_by, expand=True)
            dpi = image.info.get("dpi")
            made = Path(folder) / "page.png"
            upright.save(made, **({"dpi": dpi} if dpi else {}))
        return [made]
    link = Path(folder) / source.name
    link.symlink_to(source.resolve())
    return [link]


class Tesseract:
    """The tesseract command at one page segmentation mode."""

    def __init__(self, psm: int):
        self.psm, self.name = psm, f"tesseract --psm {psm}"
        self.version = _version(["tesseract", "--version"], r"tesseract (\S+)")

    def read(self, source: Path, language: str) -> tuple[str, str]:
        def make():
            texts, reasons = [], []
            with tempfile.TemporaryDirectory() as folder:
                for image in upright_image(source, 0, folder):
                    out, _, why = _run(["tesseract", str(image), "stdout", "--psm", str(self.psm), "-l", language])
                    texts.append(out)
                    reasons += [why] if why else []
            return {"text": "\n".join(texts), "why": "; ".join(reasons)}
        value = _cached(f"{self.name}-{self.version}-{language}-{RENDER_DPI}", sha256(source), make)
        return value["text"], value["why"]


def tesseract_osd(source: Path, page: int, turn_by: int) -> int:
    """Clockwise turn by `tesseract --psm 0`; 0 where it cannot tell, as whoever calls it would do."""
    version = _version(["tesseract", "--version"], r"tesseract (\S+)")

    def make():
        with tempfile.TemporaryDirectory() as folder:
            images = upright_image(source, page, folder, turn_by)
            out, err, _ = _run(["tesseract", str(images[0]), "stdout", "--psm", "0"]) if images else ("", "", "")
        found = re.search(r"Rotate: (\d+)", out + err)
        return {"degrees": int(found.group(1)) % 360 if found else 0}
    return _cached(f"osd-{version}-{RENDER_DPI}", f"{sha256(source)}-{page}-{turn_by}", make)["degrees"]


class Lectern:
    """Ours, by a command template: {file} and {lang} are filled in."""

    def __init__(self, read: str | None, ocr: str | None):
        found = ROOT / "build/release/bin/lectern"
        program = shlex.quote(str(found) if found.exists() else "lectern")
        self._read = read or f"{program} read --format md {{file}}"
        self._ocr = ocr or f"{program} ocr --format md --lang {{lang}} {{file}}"
        self._json = f"{program} ocr --format json --pages {{page}} {{file}}"
        self.reads, self.scans = bool(read) or not ocr, bool(ocr) or not read

    def read(self, source: Path, language: str, ocr: bool) -> tuple[str, str]:
        template = self._ocr if ocr else self._read
        command = [part.format(file=source, lang=language) for part in shlex.split(template)]
        out, _, why = _run(command)
        return out, why

    def rotation(self, source: Path, page: int, turn_by: int) -> tuple[int | None, str]:
        """None where it gave no answer, and why."""
        with tempfile.TemporaryDirectory() as folder:
            if turn_by:
                source = upright_image(source, page, folder, turn_by)[0]
            out, _, why = _run([part.format(file=source, page=page) for part in shlex.split(self._json)])
        try:
            answer = json.loads(out)["pages"][0]
        except (ValueError, KeyError, IndexError):
            return None, why or "no page in the JSON"
        return int(answer.get("rotation", 0)) % 360, why
