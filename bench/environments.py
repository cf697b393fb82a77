"""Makes a separate environment for each library, because httpx imports more modules if rich and click are installed."""

# ruff: noqa: S603 - it installs what is measured
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def python_of(name: str, package: str) -> str:
    """Returns a Python with `package` (a path is relative to the project's folder), in `build/bench/NAME`. It is made
    when it is needed.
    """
    folder = ROOT / "build" / "bench" / name
    python = folder / "bin" / "python"
    done = folder / "installed"
    if package == "." or not done.exists():
        uv = shutil.which("uv")
        make = (
            [uv, "venv", "--clear", "--python", sys.executable]
            if uv
            else [sys.executable, "-m", "venv", "--clear"]
        )
        install = (
            [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
        )
        for command in ([*make, str(folder)], [*install, package, "httpx"]):
            subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
        done.touch()
    return str(python)


def distributions(python: str) -> list[str]:
    """Returns the number of installed distributions besides the installer."""
    code = "from importlib.metadata import distributions; print(*{d.name for d in distributions()})"
    names = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return sorted({*names} - {"pip", "setuptools"})
