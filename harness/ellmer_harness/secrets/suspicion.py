"""Tells quickly that the JSON text of a recording holds no secret: most of what is recorded needs no search.

One expression takes in all that `cassette_scan.search` finds in a text, and more: the beginnings of keys, the names of
credentials with a value behind them, tags, and escapes, which may hide any of these. What it does not match is clean; what it
matches is searched. pydantic's engine compares all of it in one pass, a hundred times as quickly as `re` compares a part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from urllib.parse import unquote

from pydantic_core import SchemaValidator, core_schema

from .named_credentials import AFTER, NAMES, PARAMETERS, PASSWORDS
from .service_keys import PATTERNS, Pattern

_TELLING = 4  # characters of a literal that is rare enough to be searched alone
_ALPHABET = bytes(min(code, 127) for code in range(256))
"""Each byte beyond ASCII is a delete character, because expressions over ASCII are smaller by far."""


def _but(characters: str) -> str:
    """Returns a class of all characters but these."""
    return rf"[\x00-\x7f--[{characters}]]"


_NO_LETTER = _but(r"0-9A-Za-z\"\\")
_BREAK = f"{_NO_LETTER}*"
_END = rf"(?:{_NO_LETTER}|\\[\x00-\x7f]|[0-9]|{'|'.join(sorted(filter(None, AFTER)))})*"
_PLAIN = _but(r"\"\\")
_ANY = rf"(?:{_PLAIN}|\\[\x00-\x7f])"
_NO_NUMBER = _but(r"\s\d.,eE+\]\-")
_QUOTE = r"\\?[\"']"
_GAP = r"(?:[ \n+\"',;]|\\[nrt\"])*"
"""What may be between a name and its value: spaces, quotes, and the ends of lines, which are separate texts in a cassette."""
_NO_TAG = _but("<>") + "*"
_PIECE = "(?:" + _but(r"\s;,&\"\\") + r"|\\\"){16}"
_DRAWN = _but(r"\s\"'\\&,;<>()") + "{16}"
_USER, _PASSWORD = _but(r"\s:/@\"<>?#") + "*", _but(r"\s/@\"<>") + "+"


def _names(names: Iterable[str]) -> str:
    """Returns an expression for the end of each name: the words in any spelling, and what may follow them."""
    ends: dict[str, list[str]] = {}
    for name in _shortest(names):
        *before, last = name.split()
        ends.setdefault(last, []).append(_BREAK.join(before))
    spelled = (
        f"(?:{'|'.join(before)}){_BREAK}{last}" if any(before) else last for last, before in ends.items()
    )
    return f"(?:{'|'.join(spelled)}){_END}"


def _shortest(names: Iterable[str]) -> list[str]:
    """Returns the names without those that end with another one. Words that are apart in a name may also stand together."""
    kept: list[str] = []
    for name in sorted(names, key=lambda name: (len(name.replace(" ", "")), " " not in name)):
        whole = name.replace(" ", "")
        if not any(
            name.endswith(other) or (" " in other and whole.endswith(other.replace(" ", "")))
            for other in kept
        ):
            kept.append(name)
    return kept


def _names_and_values() -> Iterable[str]:
    chosen, telling, parameter = _names(PASSWORDS), _names(NAMES), _names(PARAMETERS)
    yield rf"{telling}\\?\"\s*:\s*(?:\\?\"(?:basic|{_ANY}*?{_PIECE})|\[[\s\d.,eE+-]*{_NO_NUMBER})"
    yield rf"{chosen}\\?\"\s*:\s*\\?\"{_ANY}{{4}}"
    yield rf"{chosen}{_GAP}:{_GAP}\\?\"{_ANY}{{4}}"
    yield rf"{telling}{_GAP}:{_GAP}\\?\"{_PLAIN}*?{_PIECE}"
    yield rf"{telling}[\]\\\"' ]*(?:[:=]|{_QUOTE}[ ]*,)>?=?[ +]*[\\\"']*(?:[a-z-]{{5,7}}[ +]+)?{_DRAWN}"
    yield rf"{parameter}\]?={_DRAWN}"
    yield rf"{chosen}\]?=" + _but(r"&\s\"'\\<>#;") + "{4}"
    yield f"<{_NO_TAG}{telling}{_NO_TAG}[>=]"
    yield rf"{telling}{_GAP}(?:</|/?>|value{_GAP}[:=]|content{_GAP}=)"
    yield rf"\"(?:name|n|key|k|header|field|variable|env|id)\\?\"\s*:\s*\\?\"{_ANY}*?{telling}\\?\""
    yield rf"\[\s*\\?\"{_ANY}*{telling}\\?\"\s*,\s*\\?\"{_ANY}*\\?\"\s*\]"
    yield rf"{telling}\\\"(?:\\r)?\\n"
    yield f"://{_USER}:{_PASSWORD}@"
    yield rf"bearer{_GAP}[0-9A-Za-z_.~+/=\x7f-]{{16}}"
    yield rf"basic{_GAP}[0-9A-Za-z_+/=\x7f-]{{8}}"
    yield r"(?-i:SSWS|PRIVATE[ +]KEY|PuTTY-User-Key-File-|Private-Lines:)"
    yield r"\\\\|\\[bfu/]"


_LOOK_AROUND = re.compile(r"\(\?<?[!=](?:[^()\[\]]|\[[^\]]*\])*\)|\\b")
_COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}")


def _loose(row: Pattern, most: int) -> str:
    """Returns an expression for a kind of key that the engine reads quickly: without what must stand beside, and with shorter parts."""
    return _COUNT.sub(lambda found: f"{{{min(int(found[1]), most)},}}", _LOOK_AROUND.sub("", row.regex))


def _begun(literals: Iterable[str]) -> str:
    """Returns an expression for the beginnings of keys."""
    return rf"(?:{'|'.join(map(re.escape, literals))})[0-9A-Za-z_.:/@+=~-]{{8}}"


def _keys() -> tuple[list[str], list[str]]:
    """Returns the expressions of the keys that begin with their literal, and of the others."""
    beginning = [row for row in PATTERNS if row.before == (0, 0)]
    long = [row for row in beginning if min(map(len, row.literals.split())) >= _TELLING]
    begun = _begun(literal for row in long for literal in row.literals.split())
    short = [_loose(row, 8) for row in beginning if row not in long]
    return [begun, *short], [_loose(row, 6) for row in PATTERNS if row.before != (0, 0)]


def _engine(expressions: Iterable[str]) -> Callable[[str], bool]:
    """Returns a function that tells whether one of the expressions matches. It sees ASCII only."""
    schema = core_schema.str_schema(pattern=f"(?-u){'|'.join(expressions)}", regex_engine="rust-regex")
    return SchemaValidator(schema).isinstance_python


@cache
def _engines() -> tuple[Callable[[str], bool], ...]:
    """The expressions in three parts, because one engine has not the memory for all."""
    named = f"(?i:{'|'.join(_names_and_values())})"
    beginning, others = _keys()
    return _engine([named]), _engine(beginning), _engine(others)


_LAYERS = 3


def layers(text: str) -> Iterator[str]:
    """Yields a text, and what it is without URL-encoding, if that differs, as far as a search goes.

    Args:
        text: Any text.
    """
    for _ in range(_LAYERS):
        yield text
        if "%" not in text or (plain := unquote(text)) == text:
            return
        text = plain


def suspicious(text: str) -> bool:
    """Tells whether there may be a secret in one layer of a JSON text, but for base64.

    Args:
        text: JSON with the escapes that it needs, and no others.
    """
    try:
        ascii_text = text.encode().translate(_ALPHABET).decode("ascii")
    except UnicodeEncodeError:  # half a surrogate
        return True
    return any(is_match(ascii_text) for is_match in _engines())


def has_key(text: bytes) -> bool:
    """Tells whether there may be a key of a service in a text.

    Args:
        text: Any text in UTF-8.
    """
    ascii_text = text.translate(_ALPHABET).decode("ascii")
    return any(is_match(ascii_text) for is_match in _engines()[1:])
