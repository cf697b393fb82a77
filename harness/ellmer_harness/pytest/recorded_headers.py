"""Makes the headers and bodies fit each other that vcrpy and cassetter have recorded: both change bodies."""

from __future__ import annotations

import gzip
import zlib
from http import HTTPStatus
from typing import Any

from ..exchange.messages import Headers
from ..format.compression import is_coded


def plain_value(value: Any) -> str:
    """Returns a header's value as the characters that go over the wire."""
    text = " ".join(
        value.decode("latin-1").split("\r\n") if isinstance(value, bytes) else str(value).splitlines()
    )
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode().decode("latin-1")
    return text


def phrase_of(code: int) -> str:
    """Returns the usual phrase of a status, `""` if there is none."""
    return HTTPStatus(code).phrase if code in HTTPStatus._value2member_map_ else ""


def coded(body: bytes, coding: str) -> bytes:
    """Returns the body with the coding that its headers name, which recorders undo."""
    name = coding.strip().lower().removeprefix("x-")
    if not body or name not in {"gzip", "deflate"} or is_coded(body, coding):
        return body
    return gzip.compress(body, mtime=0) if name == "gzip" else zlib.compress(body)


def fitting(pairs: Headers, body: bytes) -> Headers:
    """Returns the headers without a coding that the body does not have, and with its length."""
    values = {name.lower(): value for name, value in pairs}
    coding, chunked = (
        values.get("content-encoding", ""),
        "chunked" in values.get("transfer-encoding", "").lower(),
    )
    gone = set()
    if coding and not (body and is_coded(body, coding)):
        gone.add("content-encoding")
    if chunked:
        gone.add("content-length")
    return [
        (name, str(len(body)) if name.lower() == "content-length" else value)
        for name, value in pairs
        if name.lower() not in gone
    ]
