"""An environment for each library, with nothing else in it: httpx imports more where rich and click are there."""

# ruff: noqa: S603 - it installs what is measured
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def python_of(name: str, package: str) -> str:
    """Returns a Python that has `package` (a path is from the project's folder), in `build/bench/NAME`; made
    when needed.
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
    """What is installed beside the installer."""
    code = "from importlib.metadata import distributions; print(*{d.name for d in distributions()})"
    names = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return sorted({*names} - {"pip", "setuptools"})
