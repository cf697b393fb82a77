"""JSON bodies as structures, with enough detail about their spelling to restore the same bytes.

A form is `{"json": value}`. If the text differs from the compact spelling, the form also has `"style"`
(words: `spaced`, `colon`, `indent2`, `tab`, `ascii`, `slash`, `escape:<chars>`) and the whitespace around it,
`"start"` and `"end"`. A text that cannot be restored (a number written `1.10`, a repeated key) has no form:
`parse` returns `None`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pydantic_core import from_json, to_json

__all__ = ["BETWEEN", "compact", "parse", "parse_many", "parse_text", "spell", "write"]

Form = dict[str, Any]
BETWEEN = "the next value of several"
"""A string between values that are read or written at once: if nothing else contains it, it separates them for certain."""
_SPACE = " \t\r\n"
_ESCAPES = re.compile(r"\\u00([2-7][0-9a-f])")
_BEYOND_ASCII = re.compile(r"\\u(?!00[0-7])")
_DEEPEST = 100  # levels; deeper JSON is stored as text
_plainest = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_BEGINNINGS = bytes.maketrans(b"[,E", b"::e")
_NO_BRACKETS = bytes(one for one in range(256) if one not in b"[]{}")
_SEPARATORS = {"": (",", ":"), "spaced": (", ", ": "), "colon": (",", ": ")}


def parse(body: bytes) -> Form | None:
    """Returns the form of a JSON body, or `None` if it is not JSON or cannot be restored byte for byte."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    core = text.strip(_SPACE)
    found = parse_text(core)
    if found is None or not core:
        return None
    at = text.index(core)
    form: Form = {"json": found[0], "style": found[1], "start": text[:at], "end": text[at + len(core) :]}
    return {key: value for key, value in form.items() if key == "json" or value}


def write(form: Form) -> bytes:
    """Returns the bytes of a form."""
    text: str = form.get("start", "") + spell(form["json"], form.get("style", "")) + form.get("end", "")
    return text.encode()


def parse_text(text: str, hint: str = "") -> tuple[Any, str] | None:
    """Returns a JSON text as (value, style), after a check that it can be restored. `hint` is the style to
    try first.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
        if _seems_deep(text) and _too_deep(value, _DEEPEST):
            return None
        if spell(value, hint) == text:
            return value, hint
        for style in _guesses(text):
            if style != hint and spell(value, style) == text:
                return value, style
    except (ValueError, RecursionError):
        return None
    return None


def parse_many(texts: Sequence[str]) -> tuple[list[Any], str]:
    """Parses JSON texts of one style, and checks the style by writing all of them at once. Raises `ValueError` if
    they differ.
    """
    longest = parse_text(max(texts, key=len))
    if longest is None or "\n" in texts[0]:
        raise ValueError
    comma = ", " if "spaced" in longest[1].split() else ","
    joined = "[" + f'{comma}"{BETWEEN}"{comma}'.join(texts) + "]"
    found = parse_text(joined, longest[1])
    if found is None or joined.count(BETWEEN) != len(texts) - 1:
        raise ValueError
    values, style = found
    if len(values) != 2 * len(texts) - 1 or any(each != BETWEEN for each in values[1::2]):
        raise ValueError  # one of the texts is not JSON by itself
    return values[::2], style


def spell(value: Any, style: str) -> str:
    """Returns the JSON text of a value in a style."""
    if not style:
        return compact(value)
    encode, escaped = _encoder(style)
    text = encode(value)
    for plain, spelled in escaped:
        text = text.replace(plain, spelled)
    return text


def compact(value: Any) -> str:
    """Returns the JSON text without spaces, as `json` writes it, in a third of the time."""
    try:
        text = to_json(value, inf_nan_mode="constants")
    except ValueError:  # half a surrogate
        return _plainest(value)
    return _plainest(value) if _has_exponents(text) else text.decode()


def _has_exponents(text: bytes) -> bool:
    """Tells whether a number may have an exponent. Programs write such numbers in different ways."""
    beginnings = text.translate(_BEGINNINGS, b"0123456789.-")
    return beginnings.startswith(b"e") or b":e" in beginnings or b"0.0000" in text


def _seems_deep(text: str) -> bool:
    """Tells whether the brackets are nested too deeply. Brackets in strings count, too."""
    if text.count("{") + text.count("[") <= _DEEPEST:
        return False
    left = text.encode("utf-8", "replace").translate(None, _NO_BRACKETS)
    for _ in range(_DEEPEST):
        left, before = left.replace(b"[]", b"").replace(b"{}", b""), left
        if left == before:
            break
    return bool(left)


def _too_deep(value: Any, room: int) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return room < 0 or any(_too_deep(item, room - 1) for item in items if isinstance(item, dict | list))


@lru_cache(maxsize=256)
def _encoder(style: str) -> tuple[Callable[[Any], str], list[tuple[str, str]]]:
    """Returns the function that writes a value in the style, and the replacements in its text."""
    words = style.split()
    ascii_only, escaped = "ascii" in words, [("/", "\\/")] if "slash" in words else []
    separators, indent = _SEPARATORS[""], None
    for word in words:
        if word in _SEPARATORS:
            separators = _SEPARATORS[word]
        elif word == "tab" or word.startswith("indent"):
            separators, indent = (",", ": "), "\t" if word == "tab" else " " * int(word[6:])
        elif word.startswith("escape:"):
            escaped += [(char, f"\\u{ord(char):04x}") for char in word[7:]]
    return json.JSONEncoder(ensure_ascii=ascii_only, indent=indent, separators=separators).encode, escaped


def _guesses(text: str) -> list[str]:
    """Returns the possible styles of a text, the most likely first."""
    extra = ["ascii"] if text.isascii() and _BEYOND_ASCII.search(text) else []
    if "\\/" in text:
        extra.append("slash")
    if escapes := {chr(int(code, 16)) for code in _ESCAPES.findall(text)} - {'"', "\\", " "}:
        extra.append("escape:" + "".join(sorted(escapes)))
    shapes = [_indented(text)] if "\n" in text else list(_SEPARATORS)
    plain_ascii = [word for word in extra if word != "ascii"]
    return [" ".join(filter(None, (shape, *words))) for words in (extra, plain_ascii) for shape in shapes]


def _indented(text: str) -> str:
    indent = re.match(r"[\[{]\n(\t| *)", text)
    width = indent[1] if indent else ""
    return "tab" if width == "\t" else f"indent{len(width)}"
