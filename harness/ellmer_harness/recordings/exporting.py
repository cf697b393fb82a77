"""Recordings as plain vcrpy YAML, for other programs.

A response has two keys that vcrpy ignores: `stream`, the sizes of its chunks, and `error`.
"""

from __future__ import annotations

from typing import Any

from vcr.serializers import yamlserializer

from . import Found, Interaction

__all__ = ["to_yaml"]


def to_yaml(found: Found) -> str:
    """Returns the YAML of vcrpy's format version 1."""
    interactions = [_interaction(each) for each in found.interactions if each.status is not None]
    return str(yamlserializer.serialize({"interactions": interactions, "version": 1}))


def _interaction(it: Interaction) -> dict[str, Any]:
    extra = {"stream": it.stream, "error": it.error}
    return {
        "request": {
            "body": None if it.body is None else _text(it.body),
            "headers": _grouped(it.sent),
            "method": it.method,
            "uri": it.url,
        },
        "response": {
            "body": {"string": _text(it.content or b"")},
            "headers": _grouped(it.headers),
            "status": {"code": it.status, "message": it.reason},
            **{key: value for key, value in extra.items() if value},
        },
    }


def _grouped(headers: list[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in headers:
        grouped.setdefault(name, []).append(value)
    return grouped


def _text(body: bytes) -> str | bytes:
    """Returns the body as vcrpy writes it: as text if it is UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body
