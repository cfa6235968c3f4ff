"""The peers come from PyPI, pinned, in an environment of their own: made once, renewed when the pins change."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".cache/bench-venv"
PINS = ROOT / "packages/bench-pypi.txt"


def make(venv: Path = VENV, pins: Path = PINS) -> None:
    stamp = venv / "pins.txt"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        print(f"bench: installing the peers into {venv}", file=sys.stderr)
        try:
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, stdout=sys.stderr)
            subprocess.run([str(venv / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "-r", str(pins)],
                           check=True, stdout=sys.stderr)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"bench: cannot make the virtual environment ({error}). Needs python3-venv and the package index.",
                  file=sys.stderr)
            raise SystemExit(2) from error
        stamp.write_text(pins.read_text())


def enter() -> None:
    """Goes on as this program under the environment's Python."""
    make()
    if Path(sys.prefix).resolve() != VENV.resolve():
        python = str(VENV / "bin/python")
        os.execv(python, [python, *sys.argv])
