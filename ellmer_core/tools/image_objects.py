"""Converts Python's image objects (bytes, a Pillow image, a figure) to contents."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

from ..contents.content import Content, ContentImageInline, ContentPDF
from ..contents.media_types import sniffed

__all__ = ["as_media"]

DPI = 96  # of a figure: as large as a notebook shows it


def as_media(value: Any) -> Content | None:
    """Returns a value as an image or PDF, or `None` if it is neither. Raises the errors of Pillow or matplotlib."""
    if isinstance(value, bytes | bytearray | memoryview):
        return _of_bytes(bytes(value))
    if type(value).__module__.partition(".")[0] == "PIL" and hasattr(value, "save"):
        return _of_bytes(_saved(value))
    figure = value.get_figure() if callable(getattr(value, "get_figure", None)) else value
    if callable(getattr(figure, "savefig", None)):
        drawn = BytesIO()
        figure.savefig(drawn, format="png", dpi=DPI)
        return _of_bytes(drawn.getvalue())
    return None


def _of_bytes(data: bytes) -> Content | None:
    type, written = sniffed(data), b64encode(data).decode("ascii")
    if type == "application/pdf":
        return ContentPDF(type, written)
    return ContentImageInline(type, written) if type and type.startswith("image/") else None


def _saved(image: Any) -> bytes:
    """Returns a Pillow image as PNG. PNG does not support some of its modes (such as CMYK)."""
    out = BytesIO()
    plain = image if image.mode in {"1", "L", "LA", "P", "RGB", "RGBA", "I;16"} else image.convert("RGB")
    plain.save(out, "PNG")
    return out.getvalue()
