"""Every public content, by name: whole and broken, and the places inside of a tool's value where one can be.

All sweeps use this list. `test_restored.py` compares it with the union of the library's contents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pydantic
from PIL import Image

import ellmer_core as ec

from .values import CONTENTS, PNG

__all__ = ["BROKEN", "NESTED", "NO_CONTENTS", "PYTHON", "WHOLE", "Foreign"]


@dataclass
class Hit:
    title: str
    doc: ec.Content


class Stay(pydantic.BaseModel):
    nights: int = 2
    begins: date = date(2026, 1, 2)


class Mute(str):
    """A text that cannot be written as Python writes others."""

    __slots__ = ()

    def __str__(self) -> str:
        raise ValueError("no text")


def circle() -> list[Any]:
    """Returns a list that is in itself."""
    items: list[Any] = []
    items.append({"again": items})
    return items


class Foreign(ec.Content):
    """A content of another package, which no model receives."""


WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
RAN = {"executableCode": {"language": "PYTHON", "code": "1"}}
PRINTED = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}

WHOLE: Mapping[str, ec.Content] = {
    "text": ec.ContentText("a"),
    "empty text": ec.ContentText(""),
    "blank text": ec.ContentText(" \n"),
    "unicode": ec.ContentText("Grüße, 你好 \U0001f600"),
    "lone surrogate": ec.ContentText("a\ud800b"),
    "control characters": ec.ContentText("a\x00\x1b[31mb"),
    "cited text": ec.ContentText("a", citations=(ec.ContentCitation("https://example.com", "A page", "a"),)),
    "citation": ec.ContentCitation("https://example.com", "A page", "It rains."),
    "thinking": ec.ContentThinking("hm"),
    "call": ec.ContentToolRequest("call_x", "other", {"a": 1}),
    "result": ec.ContentToolResult("5"),
    "question": ec.ContentToolQuestion("call_q", "book", message="Which seat?"),
    "provider call": ec.ContentProviderCall("gemini", RAN, name="code_execution", value="1"),
    "provider result": ec.ContentProviderResult("gemini", PRINTED, name="code_execution", value="1"),
    "unknown": ec.ContentUnknown("anthropic", {"type": "container_upload", "file_id": "file_1"}),
    "json": ec.ContentJson({"a": [1, None]}),
    "markdown": ec.ContentFile("text/markdown", "SGk=", "notes.md", "Hi"),
    "sound": ec.ContentFile("audio/wav", WAV, "a.wav"),
    "video": ec.ContentFile("video/mp4", "AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDE=", "a.mp4"),
    "sheet": ec.ContentFile("application/vnd.ms-excel", "SGk=", "a.xls"),
    "image": CONTENTS["image"],
    "image in capitals": ec.ContentImageInline("IMAGE/PNG", PNG),
    "gif": CONTENTS["gif"],
    "svg": CONTENTS["svg"],
    "bmp": CONTENTS["bmp"],
    "remote image": CONTENTS["remote image"],
    "pdf": CONTENTS["pdf"],
    "uploaded": CONTENTS["uploaded"],
    "uploaded, with its file": ec.ContentUploaded(
        "file-1", "application/pdf", "openai-responses", "OpenAI", source=CONTENTS["pdf"]
    ),
}
BROKEN: Mapping[str, ec.Content] = {
    "no base64": ec.ContentImageInline("image/png", "no base64!"),
    "a file with half a character": ec.ContentFile("text/plain", "aGk=", "a.txt", "a\ud800"),
    "an address with half a character": ec.ContentImageRemote("https://example.com/\ud800.png"),
    "an unknown detail": ec.ContentImageRemote("https://example.com/a.png", "sharp"),
    "no bytes": ec.ContentImageInline("image/png", ""),
    "another type": ec.ContentImageInline("image/jpeg", PNG),
    "no image": ec.ContentImageInline("text/html", "SGk="),
    "no type": ec.ContentImageInline("", PNG),
    "a pdf that is an image": ec.ContentPDF("application/pdf", PNG),
    "an empty pdf": ec.ContentPDF("application/pdf", ""),
    "a pdf without base64": ec.ContentPDF("application/pdf", "%PDF-1.4"),
    "an empty sound": ec.ContentFile("audio/wav", "", "a.wav"),
    "a sound without base64": ec.ContentFile("audio/wav", "RIFF!", "a.wav"),
    "no address": ec.ContentImageRemote("file:///etc/passwd"),
    "a picture whose download broke off": ec.ContentImageInline("image/png", PNG[:60]),
    "a picture whose pixels are damaged": ec.ContentImageInline("image/png", PNG[:60] + "A" * 16 + PNG[76:]),
    "an empty address": ec.ContentImageRemote(""),
    "a citation of nothing": ec.ContentCitation(),
    "data that is no number": ec.ContentJson({"a": float("nan")}),
    "data that is no JSON": ec.ContentJson(object()),
    "an upload of a broken file": ec.ContentUploaded(
        "file-1", "image/png", "openai-chat", source=ec.ContentImageInline("image/png", "no base64!")
    ),
    "of another package": Foreign(),
}
#: What a tool may return beside contents, and what it may return by mistake.
NO_CONTENTS: Mapping[str, Any] = {
    "nothing": None,
    "no words": "",
    "half a character": "a\ud800b",
    "not a number": float("nan"),
    "an object": object(),
    "a set of objects": {object()},
    "bytes": b"\x00\xff",
    "a circle": circle(),
    "an error that cannot be written": ec.ContentToolResult(error=Mute("no")),
    "an integer of 10,000 digits": 10**10_000,
}
#: What Python programs return.
PYTHON: Mapping[str, Any] = {
    "an empty list": [],
    "a text of another class": Mute("a"),
    "a long text": "x" * 100_000,
    "a date": date(2026, 1, 2),
    "a number of decimals": Decimal("1.10"),
    "a path": PurePosixPath("notes/a.md"),
    "a dataclass with a PDF": Hit("a", CONTENTS["pdf"]),
    "lists of PDFs": [[CONTENTS["pdf"]], ({"docs": [CONTENTS["pdf"]]},)],
    "a model": Stay(),
    "an array": np.arange(6).reshape(2, 3),
    "an array with gaps": np.array([1.0, float("nan")]),
    "a picture": Image.new("RGB", (2, 2)),
    "a wide picture": Image.new("1", (9000, 1)),
    "an empty picture": Image.new("RGB", (0, 0)),
    "a frame with two indexes": pd.DataFrame({"a": [1, None]}, [["x", "y"], [1, 2]]),
    "a frame with one name twice": pd.DataFrame([[1, "a|b\nc"]], columns=["a", "a"]),
    "a frame of categories": pd.DataFrame({"a": pd.Categorical(["u", "v"])}),
    "a frame without rows": pd.DataFrame({"a": []}),
    "a nested frame": pl.DataFrame({"a": [[1], [2]], "b": [{"x": 1}, {"x": 2}]}),
    "a frame of PDFs": pd.DataFrame({"title": ["a", "b"], "doc": [CONTENTS["pdf"], None]}),
    "frames in a dictionary": {"table": pd.DataFrame({"a": [1]}), "docs": [CONTENTS["pdf"]]},
}
NESTED: Mapping[str, Callable[[Any], Any]] = {
    "alone": lambda value: value,
    "in a list": lambda value: [value, "b"],
    "in dictionaries of lists": lambda value: [{"title": "a", "docs": [{"doc": value}]}],
    "in its own result": lambda value: ec.ContentToolResult(value, extra={"a": 1}),
}
