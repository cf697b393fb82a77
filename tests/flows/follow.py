"""Follows a call with `sys.setprofile`, and tells the files and functions of our packages that it passes."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["ROOTS", "Path_", "follow"]

ROOT = Path(__file__).parents[2]
ROOTS = {
    "ellmer_core": ROOT / "ellmer_core",
    "ellmer_harness": ROOT / "harness" / "ellmer_harness",
    "ellmer_conformance": ROOT / "conformance" / "ellmer_conformance",
}

#: Files in the order of their first call, each with the functions that were called.
Path_ = dict[str, list[str]]


def follow(call: Callable[[], Any], packages: tuple[str, ...]) -> Path_:
    """Calls `call` and returns what it passed in the packages, in this thread and in those that it starts."""
    folders = tuple(f"{ROOTS[package]}/" for package in packages)
    passed: dict[str, dict[str, None]] = {}

    def notice(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folders) and _is_call(frame):
            passed.setdefault(code.co_filename, {})[f"{code.co_firstlineno} {code.co_name}"] = None

    threading.setprofile(notice)
    sys.setprofile(notice)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {str(Path(file).relative_to(ROOT)): list(functions) for file, functions in passed.items()}


def _is_call(frame: FrameType) -> bool:
    """Tells a call of a function from a comprehension, a class that is made, and what an import runs."""
    code = frame.f_code
    if code.co_name.startswith("<") or not code.co_flags & inspect.CO_OPTIMIZED:
        return False
    above: FrameType | None = frame
    while above := above.f_back:
        if above.f_code.co_filename.startswith("<frozen importlib"):
            return False
    return True
