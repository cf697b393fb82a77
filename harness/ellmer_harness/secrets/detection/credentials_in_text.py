"""Finds credentials by their names in a text: in code, forms, URLs, XML, header lines and multipart bodies.

Names are looked for first, and their values next. A text without such names is skipped quickly.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote

from .credential_names import WORDS, Kind, kind
from .prefiltered_patterns import around
from .value_randomness import drawn, given, password

__all__ = ["NAMED", "credential", "named"]

NAMED = "a value named like a credential"
_BEFORE = re.compile(r"[\w.%\[-]*\Z")  # the beginning of a name, up to the telling word
_NAME = re.compile(r"[\w.-]{0,40}(?:%5D|\])?")
_FOLLOWED = re.compile(r"[\"'\\ \t]*[=:,>]|\"\r?\n")  # what comes between a name and its value, but in XML
_SCHEMES = r"(?:(?:bearer|basic|token|digest|apikey|api-key)[ \t]+)?"
_ASSIGNED = re.compile(
    rf"(?i)[\"'\\]*[ \t]*(?:=>|:=|[:=]|(?<=[\"'])[ \t]*,)[ \t]*[\"'\\]*{_SCHEMES}([^\s\"'\\&,;<>()]{{4,}}+)(?!\()"
)
_PARAMETER = re.compile(r"=([^&\s\"'\\<>#;]{4,}+)")
_ELEMENT = re.compile(r"(?:[ \t][^<>]{0,300})?>[ \t\r\n]*([^<>]{4,4000}?)[ \t\r\n]*</")
_ATTRIBUTE = re.compile(r"[ \t]*=[ \t]*(?:\"([^\"<>]{4,4000})\"|'([^'<>]{4,4000})')")
_PART = re.compile(r"\"(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^\r\n]{4,4000})")
_IN_URL = re.compile(r"://[^\s:/@\"'<>?#]*:([^\s/@\"'<>]{3,200})@")
_BASIC = re.compile(r"(?<=\b[Bb])asic\s+([\w+/=-]{8,400})")
_BEARER = re.compile(r"(?<=\b[Bb])earer\s+([\w.~+/=-]{16,8000})")
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:|Private-Lines: \d"
)
_PIECES = re.compile(r"[\s;,&]+")


def named(text: str, lower: str) -> Iterator[tuple[str, str, int]]:
    """Yields the kind, the credential and its position. `lower` is the text in lower case, of the same
    length.
    """
    yield from _known_forms(text)
    done = -1
    for at in _telling(lower):
        if at >= done:
            done = name_end = at + len(_NAME.match(text, at)[0])  # type: ignore[index]  # it matches nothing, too
            if not _FOLLOWED.match(text, name_end) and text.find("<", max(0, at - 60), at) < 0:
                continue  # a word of a sentence
            begin = at - len(_BEFORE.search(text[max(0, at - 60) : at])[0])  # type: ignore[index]  # likewise
            name = unquote(text[begin:name_end]) if "%" in text[begin:name_end] else text[begin:name_end]
            if found := _after(text, begin, name_end, kind(name.rstrip("]"))):
                yield NAMED, found, at


def credential(what: Kind, value: str) -> bool:
    """Tells whether the value of a field of this kind is a credential, by the field alone."""
    if what == "password":
        return password(value)
    if what == "":
        return False
    scheme, _, rest = value.partition(" ")
    if scheme.lower() == "basic" and _login(rest):
        return True
    return any(drawn(part) for piece in _PIECES.split(value) for part in (piece, piece.partition("=")[2]))


def _telling(lower: str) -> list[int]:
    """Returns the positions of words that suggest a credential."""
    found = set[int]()
    for word in WORDS:
        at = lower.find(word)
        while at >= 0:
            found.add(at)
            at = lower.find(word, at + len(word))
    return sorted(found)


def _after(text: str, begin: int, end: int, what: Kind) -> str:
    """Returns the credential after a name, if there is one. Each kind of place has its own rules."""
    before = text[begin - 1 : begin] if begin else ""
    if before in ("", "?", "&", "\0") and (found := _PARAMETER.match(text, end)):
        value = found[1]
        return value if what and credential(what, unquote(value)) else ""
    if what in ("", "parameter"):
        return ""
    if (before == "<" or (before == ":" and "<" in text[max(0, begin - 20) : begin])) and (
        found := _ELEMENT.match(text, end)
    ):
        return found[1] if credential(what, found[1]) else ""
    if before.isspace() and _in_tag(text, begin) and (found := _ATTRIBUTE.match(text, end)):
        value = found[1] or found[2]
        return value if credential(what, value) else ""
    if (
        before == '"'
        and text[max(0, begin - 6) : begin - 1].lower() == "name="
        and (found := _PART.match(text, end))
    ):
        return found[1] if credential(what, found[1]) else ""
    found = _ASSIGNED.match(text, end)
    return found[1] if found and drawn(found[1]) else ""


def _in_tag(text: str, begin: int) -> bool:
    window = text[max(0, begin - 400) : begin]
    return window.rfind("<") > window.rfind(">") and bool(re.match(r"<[A-Za-z]", window[window.rfind("<") :]))


def _known_forms(text: str) -> Iterator[tuple[str, str, int]]:
    if "://" in text:
        for found in _IN_URL.finditer(text):
            if not given(found[1]) and not found[1].startswith("$"):
                yield "a password in a URL", found[1], found.start(1)
    yield from (
        ("a bearer token", it[1], it.start(1)) for it in around(text, "earer", _BEARER) if drawn(it[1])
    )
    yield from (("a login", it[1], it.start(1)) for it in around(text, "asic", _BASIC) if _login(it[1]))
    for literal in ("-----BEGIN ", "PuTTY-User-Key-File-", "Private-Lines: "):
        yield from (("a private key", it[0], it.start()) for it in around(text, literal, _PRIVATE))


def _login(coded: str) -> bool:
    """Tells whether this is `user:password` in base64."""
    plain = coded.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        name, colon, word = b64decode(plain + "=" * (-len(plain) % 4)).decode().partition(":")
    except ValueError:
        return False
    return bool(colon and len(word) >= 4 and (name + word).isprintable() and not given(word))
