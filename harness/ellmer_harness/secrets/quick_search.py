"""Tells quickly that a text holds no secret.

One expression takes in all that a search finds in a text, and more: the beginnings of keys, the names of credentials with a value
behind them, tags, and escapes, which may hide any of these. What it does not match is clean, and most of what is recorded is. pydantic's
engine compares all of it in one pass, a hundred times as quickly as `re` compares a part.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from urllib.parse import unquote

from ..format.json_text import in_ascii, searcher
from .key_patterns import PATTERNS, Pattern
from .named_credentials import AFTER, BINARY, NAMES, PARAMETERS, PASSWORDS

LAYERS = 3
"""How often what is encoded may be encoded again."""
ENTITY = re.compile(r"&(?:#|amp;|quot;|lt;|gt;|apos;)")
"""The mark of an entity of HTML."""
_ENTITY_IN_BYTES = re.compile(ENTITY.pattern.encode())
_TELLING = 4  # characters of a literal that is rare enough to be searched alone
_HEX_DIGITS = frozenset("0123456789abcdef")  # a literal of these is in many ids, which are shorter than keys
_LONGEST_ID = 32


def _but(characters: str) -> str:
    """Returns a class of all characters but these."""
    return rf"[\x00-\x7f--[{characters}]]"


_NO_LETTER = _but(r"0-9A-Za-z\"\\")
_BREAK = f"{_NO_LETTER}*"
_END = rf"(?:{_NO_LETTER}|\\[\x00-\x7f]|[0-9]|{'|'.join(sorted(filter(None, (*AFTER, BINARY))))})*"
_INSIDE = _but(r"\"\\")
_ANY = rf"(?:{_INSIDE}|\\[\x00-\x7f])"
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
    yield rf"{telling}\\?\"\s*:\s*(?:\\?\"(?:basic|{_ANY}*?{_PIECE})|\[[\s\d.,eE+-]*{_NO_NUMBER}|\{{)"
    yield rf"{chosen}\\?\"\s*:\s*\\?\"{_ANY}{{4}}"
    yield rf"{chosen}{_GAP}:{_GAP}\\?\"{_ANY}{{4}}"
    yield rf"{telling}{_GAP}:{_GAP}\\?\"{_INSIDE}*?{_PIECE}"
    yield rf"{telling}[\]\\\"'`* ]*(?:[:=|(]|{_QUOTE}[ ]*,|is | )>?=?[ +*]*[\\\"'`]*(?:[a-z-]{{5,7}}[ +]+)?{_DRAWN}"
    yield rf"{parameter}\]?={_DRAWN}"
    yield rf"{chosen}\]?=" + _but(r"&\s\"'\\<>#;") + "{4}"
    yield f"<{_NO_TAG}{telling}{_NO_TAG}[>=]"
    yield rf"{telling}{_GAP}(?:</|/?>|value{_GAP}[:=]|content{_GAP}=)"
    yield rf"\"(?:name|n|key|k|header|field|variable|env|id|type|__typename)\\?\"\s*:\s*\\?\"{_ANY}*?{telling}\\?\""
    yield rf"\[\s*\\?\"{_ANY}*{telling}\\?\"\s*,\s*\\?\"{_ANY}*\\?\"\s*\]"
    yield rf"[\[,]\s*\\?\"[0-9A-Za-z_ .-]*{telling}\\?\"\s*[\],][\x00-\x7f]*\[\s*\["
    yield rf"{telling}\\\"(?:\\r)?\\n"
    yield rf"\"--[0-9A-Za-z_.-]*{telling}\\?\"\s*,"
    yield f"://{_USER}:{_PASSWORD}@"
    yield f"://{_USER[:-1]}{{16}}{_USER}:?@"
    yield r"\"kty\\?\""
    yield rf"name=[0-9A-Za-z_.-]*{telling}(?:\\r)?\\n"
    yield rf"bearer{_GAP}[0-9A-Za-z_.~+/=\x7f-]{{16}}"
    yield rf"basic{_GAP}[0-9A-Za-z_+/=\x7f-]{{8}}"
    yield r"(?-i:SSWS|PRIVATE[ +]KEY|PuTTY-User-Key-File-|Private-Lines:)"
    yield r"\\\\|\\[bfu/]"
    yield from _in_commands_and_tables(telling)


def _in_commands_and_tables(telling: str) -> Iterable[str]:
    value, cell = _but(r"\s\"\\") + "+", r"(?:[0-9A-Za-z_`*]|\\\")"
    yield rf"{telling}[|>][+-]?{_GAP}{_DRAWN}"
    yield rf"{telling}(?:\\\"|'){value}"
    yield rf"login[ ]{value}{_GAP}password"
    yield r":(?:[0-9]{4,5}|\*):[0-9A-Za-z_*.-]{1,60}:[0-9A-Za-z_*.@-]{1,60}:"
    yield r"(?:curl|sshpass|redis-cli)[ ]|(?:mysql|mariadb)[a-z]*[ ]-|[ ]login[ ]-|identified[ ]by[ ]'|convertto-securestring[ ]|::add-mask::"
    yield r"\\t(?:TRUE|FALSE)\\t[0-9]{1,12}\\t"  # a file of cookies
    yield rf"{telling}(?:\\\")?(?:[,;]{cell}|\||\\t)"
    yield rf"{cell}(?:[,;]|\|[ `*]*|\\t)(?:\\\")?[0-9A-Za-z_.-]*{telling}"


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
    like_ids = [row for row in long if _HEX_DIGITS.issuperset(row.literals)]
    begun = _begun(literal for row in long if row not in like_ids for literal in row.literals.split())
    short = [
        *(_loose(row, 8) for row in beginning if row not in long),
        *(_loose(row, _LONGEST_ID) for row in like_ids),
    ]
    others = [_loose(row, 6) for row in PATTERNS if row.before != (0, 0)]
    return [begun, *short], [*others, "(?:[2-7][0-9a-fA-F]|0[9aAdD]){16}"]


@cache
def _engine(*parts: Callable[[], str]) -> Callable[[str], bool]:
    """Returns a function that tells whether one of the expressions is in a text. One engine has not the memory for all three."""
    return searcher("|".join(part() for part in parts))


def _named() -> str:
    return f"(?i:{'|'.join(_names_and_values())})"


def _beginning() -> str:
    return "|".join(_keys()[0])


def _others() -> str:
    return "|".join(_keys()[1])


def layers(text: bytes) -> Iterator[bytes]:
    """Yields a text, and what it is without URL-encoding and entities, if that differs, as far as a search goes.

    Args:
        text: Any text in UTF-8.
    """
    for _ in range(LAYERS):
        yield text
        plain = text
        if b"%" in text:
            plain = utf8(unquoted(text.decode("utf-8", "surrogatepass")))
        if b"&" in text and _ENTITY_IN_BYTES.search(text):
            plain = utf8(html.unescape(plain.decode("utf-8", "surrogatepass")))
        if plain == text:
            return
        text = plain


def unquoted(text: str) -> str:
    """Returns a text without URL-encoding, if it was encoded up to three times.

    Args:
        text: Any text.
    """
    for _ in range(LAYERS):
        text = unquote(text)
        if "%" not in text:
            break
    return text


def utf8(text: str) -> bytes:
    """Returns the bytes of a text, which may have halves of surrogates."""
    return text.encode("utf-8", "surrogatepass")


def has_name(text: str) -> bool:
    """Tells whether there may be a credential with a name, or something that hides one, in one layer of a JSON text.

    Args:
        text: JSON in ASCII, as `in_ascii` returns it, with the escapes that it needs, and no others.
    """
    return _engine(_named, _beginning)(text) and _engine(_named)(text)


def has_key(text: str) -> bool:
    """Tells whether there may be a key of a service in a text.

    Args:
        text: Any text in ASCII.
    """
    return _engine(_beginning)(text) or _engine(_others)(text)


def has_nothing(text: str) -> bool:
    """Tells whether a text has for certain neither a credential with a name nor a key of a service.

    Args:
        text: JSON in ASCII, as for `has_name`.
    """
    return not (_engine(_named, _beginning)(text) or _engine(_others)(text))


@cache
def _in_binary() -> Callable[[str], bool]:
    """Returns a function that tells whether the name of a credential is there, what stands for the length of its value, and a value."""
    any_length = _but(r"\x20-\x7e")
    value = r"[\x20-\x7e]"
    behind = rf"(?:\x00[\x00-\x7f]\x00\x00\x00|{any_length}{{1,8}})"
    return searcher(rf"(?i:{_names(NAMES)}){behind}{value}{{8}}|(?i:{_names(PASSWORDS)}){behind}{value}{{4}}")


def has_name_in_binary(data: bytes) -> bool:
    """Tells whether there may be a credential with a name in MessagePack, BSON or the like.

    Args:
        data: Any bytes.
    """
    return _in_binary()(in_ascii(data))
