"""The images of a request, and the check of their base64."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...exchange import Json
from ...readers.ollama import messages
from .._media import redacted

__all__ = ["illegal", "images"]

_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/\r\n]")


def images(request: Json) -> Iterator[tuple[str, str]]:
    """Yields the pointer and the base64 of each image."""
    for pointer, message in messages(request):
        found = message.get("images")
        for i, picture in enumerate(found if isinstance(found, list) else []):
            if isinstance(picture, str) and not redacted(picture):
                yield f"{pointer}/images/{i}", picture


def illegal(text: str) -> int | None:
    """Returns the position where Go's decoder stops, or `None`."""
    bare = text.rstrip("=\r\n")
    found = _NOT_BASE64.search(bare)
    if found:
        return found.start()
    letters = len(re.sub(r"[\r\n]", "", text))
    return len(bare) if letters % 4 else None
