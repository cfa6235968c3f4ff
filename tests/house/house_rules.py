"""The rules of the house, as functions over a source tree. Each yields "path:line: what is wrong".

A rule here is one that people break without noticing and that a compiler does not catch.
"""
import re
from collections.abc import Iterator
from pathlib import Path

# Top to bottom. A room may include its own headers and those of rooms further down, never up.
ROOMS = ["cli", "service", "job", "reading", "extraction", "chat", "engine", "provider", "vision", "document", "image",
         "telemetry", "base"]

# Libraries stay behind our types at the edge of one room: header prefix → folders under src/ that may include it.
LIBRARY_ROOMS = {
    "fpdf": ["document/render"], "pdfium": ["document/render"],
    "tesseract/": ["vision"], "leptonica/": ["vision"], "allheaders.h": ["vision"],
    "opencv2/": ["image", "vision"],
    "jpeglib.h": ["image", "document/render"], "turbojpeg.h": ["image", "document/render"],
    "spng.h": ["image", "document/render"], "tiff": ["image", "document/render"], "webp/": ["image", "document/render"],
    "seccomp.h": ["document"], "linux/landlock.h": ["document"],
    "CLI/": ["cli"], "spdlog/": ["telemetry"], "toml++/": ["base"], "openssl/": ["base"],
    "curl/": ["provider"], "sqlite3.h": ["job/sqlite"], "libpq-fe.h": ["job/postgres"], "hiredis/": ["service"],
    "boost/beast/": ["service/http"], "boost/asio/ssl": ["service/http"],
}

# What no text of ours may hold: work that was put off. Spelled in halves so that this file passes its own rule.
FORBIDDEN_WORDS = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]

TEXT_SUFFIXES = {".h", ".cpp", ".py", ".md", ".txt", ".cmake", ".sh", ""}
SKIPPED_FOLDERS = {".git", ".cache", "build", "__pycache__"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
_PATH = re.compile(r"(?<![\w/.-])((?:docs|bench|samples|packages|cmake|tests/house)/[\w./-]*\w\.\w+)(?![\w*{<…-])")


def files(root: Path, folders: list[str], suffixes: set[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            parts = path.relative_to(root).parts
            if path.is_file() and path.suffix in suffixes and not SKIPPED_FOLDERS & set(parts):
                yield path


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8", errors="replace").splitlines()


def includes(root: Path) -> Iterator[tuple[Path, int, bool, str]]:
    """Every include line under src/: file, line number, whether it is written with quotes, what it names."""
    for path in files(root, ["src"], {".h", ".cpp"}):
        for number, line in enumerate(lines(path), 1):
            if found := _INCLUDE.match(line):
                yield path, number, found.group(1) == '"', found.group(2)


def rooms_look_down(root: Path) -> Iterator[str]:
    for path, number, quoted, name in includes(root):
        where, room = path.relative_to(root), path.relative_to(root / "src").parts[0]
        if room not in ROOMS:
            yield f"{where}:{number}: src/{room}/ is not a room; the rooms are {', '.join(ROOMS)}"
        elif quoted and name.split("/")[0] not in ROOMS:
            yield f'{where}:{number}: "{name}" names no room; write "room/file.h"'
        elif quoted and ROOMS.index(name.split("/")[0]) < ROOMS.index(room):
            yield f'{where}:{number}: {room}/ may not include "{name}": {name.split("/")[0]}/ is above it'


def renderer_is_apart(root: Path) -> Iterator[str]:
    """What parses files runs only inside lectern-render: the host half must not pull it into the main process. A header named
    *_contract.h is what both halves agree on: plain values."""
    for path, number, quoted, name in includes(root):
        inside = path.relative_to(root / "src").as_posix().startswith("document/render/")
        if quoted and name.startswith("document/render/") and not inside \
                and not path.name.endswith("_main.cpp") and not name.endswith("_contract.h"):
            yield f'{path.relative_to(root)}:{number}: "{name}" belongs to the sandboxed renderer; only document/render/ may include it'


def libraries_stay_at_the_edge(root: Path) -> Iterator[str]:
    for path, number, quoted, name in includes(root):
        for prefix, rooms in LIBRARY_ROOMS.items():
            here = path.relative_to(root / "src").as_posix()
            if not quoted and name.startswith(prefix) and not any(here.startswith(room + "/") for room in rooms):
                yield f"{path.relative_to(root)}:{number}: <{name}> may be included only in {' and '.join(rooms)}"


def headers_introduce_themselves(root: Path) -> Iterator[str]:
    for path in files(root, ["src", "tests", "bench"], {".h"}):
        text = lines(path)
        if not text or not text[0].startswith("//"):
            yield f"{path.relative_to(root)}:1: a header opens with a comment that says what it is for"
        if not any(line.strip() == "#pragma once" for line in text):
            yield f"{path.relative_to(root)}:1: #pragma once is missing"


def rooms_introduce_themselves(root: Path) -> Iterator[str]:
    """In each room one file opens with "// room/: what it is for": the one to start reading at."""
    for room in ROOMS:
        folder = root / "src" / room
        sources = [path for path in folder.glob("*") if path.suffix in (".h", ".cpp")]
        if sources and not any((lines(path) or [""])[0].startswith(f"// {room}/:") for path in sources):
            yield f'src/{room}: no file opens with "// {room}/: …"'


def nothing_is_put_off(root: Path) -> Iterator[str]:
    word = re.compile(r"\b(" + "|".join(FORBIDDEN_WORDS) + r")\b")
    for path in files(root, ["src", "tests", "bench", "docs", "cmake", "packages", "samples"], TEXT_SUFFIXES):
        for number, line in enumerate(lines(path), 1):
            if found := word.search(line):
                yield f"{path.relative_to(root)}:{number}: {found.group(1)}: do it, or open an issue"


def named_files_exist(root: Path) -> Iterator[str]:
    """A path that a comment or a page sends the reader to must be there."""
    top = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt", "dev") if (root / name).exists()]
    for path in [*top, *files(root, ["src", "tests", "bench", "docs", "cmake", "packages"], TEXT_SUFFIXES)]:
        for number, line in enumerate(lines(path), 1):
            for name in _PATH.findall(line):
                near = path.parent / name
                if not (root / name).exists() and not near.exists():
                    yield f"{path.relative_to(root)}:{number}: {name} does not exist"


RULES = [rooms_look_down, renderer_is_apart, libraries_stay_at_the_edge, headers_introduce_themselves,
         rooms_introduce_themselves, nothing_is_put_off, named_files_exist]
