"""JSON bodies as structures, with enough detail about their spelling to restore the same bytes.

A form is `{"json": value}`. If the text differs from the compact spelling, the form also has `"style"`
(words: `spaced`, `colon`, `indent2`, `tab`, `ascii`, `slash`, `escape:<chars>`) and the whitespace around it,
`"start"` and `"end"`. A text that cannot be restored (a number written `1.10`, a repeated key) has no form:
`parse` returns `None`.

`layout` writes a whole cassette for people. A value that fits on a line stays on one line; a longer one is split, with
two spaces for each level. Lists of numbers stay on one line. If indentation would add more than `SPARE` bytes to a body,
it is written without indentation, with one item, event or line of text on each line. This keeps cassettes as small as
their traffic. `loads(layout(value)) == value`; keys keep their order, and equal values give equal text.
"""

from __future__ import annotations

import json
import re
from codecs import register_error
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import groupby
from math import inf
from typing import Any, Literal

from pydantic_core import SchemaValidator, core_schema, from_json, to_json

from ellmer_core.base.budget import RECORDING, has_more_values

# --- The spelling of JSON bodies -------------------------------------------------------------------------


Form = dict[str, Any]


class Spelled(Form):
    """The form of a body with the compact JSON of its value: `text`, which need not be written again, and `plain`, the same in ASCII."""

    text = b""
    plain = ""


BETWEEN = "the next value of several"
"""A string between values that are read or written at once: if nothing else contains it, it separates them for certain."""
_SPACE = b" \t\r\n"
_ESCAPES = re.compile(r"\\u00([2-7][0-9a-f])")
_BEYOND_ASCII = re.compile(r"\\u(?!00[0-7])")
_OPENING = (b"{", b"[")
LARGE = 4096
"""Bytes of a body that is laid out alone."""
_BEGINNING = 1000  # bytes that show how most JSON is spelled
_DEEPEST = 100  # levels; deeper JSON is stored as text
_plainest = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_SEPARATORS = {"": (",", ":"), "spaced": (", ", ": "), "colon": (",", ": ")}


def parse(body: bytes) -> Form | None:
    """Returns the form of a JSON body, or `None` if it is not JSON or cannot be restored byte for byte."""
    core = body.strip(_SPACE)
    found = _parse_in(core, _shape(core)) or _parse_slowly(core)
    if found is None or len(core) == len(body):
        return found
    at = body.index(core[:1])
    around = {"start": body[:at].decode(), "end": body[at + len(core) :].decode()}
    found.update({name: space for name, space in around.items() if space})
    return found


def _parse_slowly(core: bytes) -> Form | None:
    """Returns the form of a JSON text in any style."""
    try:
        text = core.decode()
    except UnicodeDecodeError:
        return None
    found = parse_text(text, _likely(text))
    if found is None:
        return None
    form = {"json": found[0], "style": found[1]} if found[1] else {"json": found[0]}
    return _with_compact_text(form) if len(core) > LARGE else form


def _with_compact_text(form: Form) -> Form:
    """Returns the form of a large body with its compact text, which is laid out and searched."""
    try:
        return _spelled(form, _in_bytes(form["json"]))
    except ValueError:  # half a surrogate
        return form


def _spelled(form: Form, text: bytes, plain: str = "") -> Spelled:
    spelled = Spelled(form)
    spelled.text, spelled.plain = text, plain or in_ascii(text)
    return spelled


def parse_compact(body: bytes) -> Spelled | None:
    """Returns the form of a JSON body without any space and without escapes that it does not need. The bytes are compared directly, without decoding them to text."""
    found = None if _shape(body) else _parse_in(body, "")
    return None if found is None or "style" in found else found


def _parse_in(core: bytes, shape: str) -> Spelled | None:
    """Returns the form of a JSON text with these spaces. The bytes are compared directly, without decoding them to text."""
    if (
        core[:1] not in _OPENING
        or shape == "tab"
        or b"\\/" in core
        or has_more_values(core, RECORDING.values)
    ):
        return None
    plain = in_ascii(core)
    try:
        value = from_json(core, allow_inf_nan=False, cache_strings="keys")
        if seems_deep(core) and _too_deep(value, _DEEPEST):
            return None
        numbers = _numbers_in(plain)
        text = _in_bytes(value, *_writer(shape), numbers)
        has_escapes = text != core
        if has_escapes and not (b"\\u" in core and core.isascii() and _with_escapes(text.decode()) == plain):
            return None
        style = f"{shape} ascii".lstrip() if has_escapes else shape
        form = {"json": value, "style": style} if style else {"json": value}
        return _spelled(
            form, _in_bytes(value, *_writer(""), numbers) if shape else text, "" if style else plain
        )
    except (ValueError, RecursionError):
        return None


def _shape(core: bytes) -> str:
    """Returns how a JSON text is spaced, as its beginning shows."""
    beginning = core[:_BEGINNING]
    if b"\n" in beginning:
        return _indented(beginning.decode("latin-1"))
    return "spaced" if core.startswith((b"{", b"[{")) and b'": ' in beginning else ""


def in_ascii(text: bytes) -> str:
    """Returns a text with a delete character for each byte beyond ASCII, which pydantic's engine searches twice as quickly.

    Args:
        text: Any text in UTF-8.

    Examples:
        >>> in_ascii(b"price: 5 \xe2\x82\xac").count("\x7f")
        3
    """
    return (text if text.isascii() else text.translate(_ALPHABET)).decode("ascii")


_ALPHABET = bytes(min(code, 127) for code in range(256))


def write(form: Form) -> bytes:
    """Returns the bytes of a form."""
    text: str = form.get("start", "") + spell(form["json"], form.get("style", "")) + form.get("end", "")
    return text.encode()


def parse_text(text: str, hint: str = "") -> tuple[Any, str] | None:
    """Returns a JSON text as (value, style), after a check that it can be restored. `hint` is the style to
    try first.
    """
    data = text.encode("utf-8", "replace")
    if has_more_values(data, RECORDING.values):
        return None
    try:
        value = from_json(text, allow_inf_nan=False)
        if seems_deep(data) and _too_deep(value, _DEEPEST):
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
    if len(values) != 2 * len(texts) - 1 or values[1::2] != [BETWEEN] * (len(texts) - 1):
        raise ValueError  # one of the texts is not JSON by itself
    return values[::2], style


def spell(value: Any, style: str) -> str:
    """Returns the JSON text of a value in a style."""
    encode, escaped = _encoder(style)
    text = encode(value)
    for plain, spelled in escaped:
        text = text.replace(plain, spelled)
    return text


def compact(value: Any) -> str:
    """Returns the JSON text without spaces, as `json` writes it, in a third of the time."""
    return _quickly(value, _plainest)


def _quickly(value: Any, encode: Callable[[Any], str], indent: int | None = None, comma: bytes = b"") -> str:
    """Returns the JSON text of `encode`, in less time."""
    try:
        return _in_bytes(value, encode, indent, comma).decode()
    except ValueError:  # half a surrogate
        return encode(value)


def _in_ascii(value: Any, encode: Callable[[Any], str], indent: int | None = None, comma: bytes = b"") -> str:
    """Returns the JSON text of `encode`, with escapes instead of letters beyond ASCII."""
    return _with_escapes(_quickly(value, encode, indent, comma))


def _with_escapes(plain: str) -> str:
    """Returns a JSON text with escapes instead of letters beyond ASCII."""
    coded = plain.encode("ascii", "backslashreplace")
    if b"\\U" in coded or "\\x" in plain:  # JSON has other escapes for letters of more than 16 bits
        coded = plain.encode("ascii", _ESCAPING)
    else:
        coded = coded.replace(b"\\x", b"\\u00")
    return coded.replace(b"\x7f", b"\\u007f").decode("ascii")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError), "it handles the errors of an encoder"
    letters = error.object[error.start : error.end]
    return json.encoder.encode_basestring_ascii(letters)[1:-1], error.end


_ESCAPING = "ellmer_harness.json"
register_error(_ESCAPING, _escaped)


def _in_bytes(
    value: Any,
    encode: Callable[[Any], str] = _plainest,
    indent: int | None = None,
    comma: bytes = b"",
    numbers: _Numbers | None = None,
) -> bytes:
    """Returns the JSON text of `encode`, with lines or with a `comma` instead. Raises `ValueError` if it has no UTF-8.

    `numbers` are those of the text, or of that with which it will be compared. `None`: they are looked for.
    """
    text = to_json(value, indent=indent, inf_nan_mode="constants")
    numbers = _numbers_in(in_ascii(text)) if numbers is None else numbers
    if numbers == "large":
        text = encode(value).encode()
    elif numbers == "small":
        text = _as_python_writes(text, value, encode)
    return text.replace(b",\n", comma).replace(b"\n", b"") if comma else text


_Numbers = Literal["", "small", "large"]


def _numbers_in(plain: str) -> _Numbers:
    """Tells whether a JSON text in ASCII may have numbers that programs write in different ways: small ones, also as `1e-7`, and large ones."""
    if not _exponents(_ANY)(plain if plain[:1] in ("{", "[") else ":" + plain):
        return ""
    return "large" if _exponents(_LARGE)(plain) else "small"


def _as_python_writes(text: bytes, value: Any, encode: Callable[[Any], str]) -> bytes:
    """Returns a JSON text with its small numbers as Python writes them: `1e-05` instead of `0.00001`, `1e-07` instead of `1e-7`."""
    places = sorted(place for mark in _MARKS for place in _places(text, mark))
    if len(places) > _MANY:
        return encode(value).encode()
    pieces: list[bytes] = []
    done, known, in_string = 0, 0, False
    for number in _small_numbers(text, places):
        if not _is_member(text, number.start()):
            in_string ^= _ends_in_string(text[known : number.start()])
            known = number.start()
            if in_string:
                continue
        else:
            known, in_string = number.start(), False
        pieces += text[done : number.start()], repr(float(number[0])).encode()
        done = number.end()
    return b"".join((*pieces, text[done:]))


_AFTER_NAME = re.compile(rb'[^\\\[{,: \n]": ?\Z')


def _is_member(text: bytes, at: int) -> bool:
    """Tells whether a name of an object ends before this place: its last quote cannot be the first of a string, which follows a mark."""
    return bool(_AFTER_NAME.search(text[max(0, at - 4) : at]))


def _ends_in_string(text: bytes) -> bool:
    """Tells whether a text that begins outside of a string ends inside of one: an odd number of quotes is in it."""
    plain = text.replace(b"\\\\", b"") if b"\\\\" in text else text
    return bool((plain.count(b'"') - plain.count(b'\\"')) % 2)


def _small_numbers(text: bytes, places: Iterable[int]) -> Iterator[re.Match[bytes]]:
    """Yields what may be numbers below 0.0001, in order. `places` are those of `_MARKS`."""
    done = 0
    for at in places:
        begin = max(done, at - _DIGITS)
        number = _SMALL.search(text, begin, at + _DIGITS)
        if number and number.start() <= at < number.end():
            yield number
            done = number.end()


def searcher(pattern: str) -> Callable[[str | bytes], bool]:
    """Returns a function that tells whether a pattern is in a text. pydantic's engine, in Rust, searches ten times as quickly as `re`.

    Classes such as `\\w` are those of ASCII.

    Args:
        pattern: The pattern, in the syntax of Rust's `regex`, which has no lookaround.

    Examples:
        >>> found = searcher("[0-9]+px")
        >>> found("width: 12px"), found(b"width: auto")
        (True, False)
    """
    schema = core_schema.str_schema(pattern=f"(?-u){pattern}", regex_engine="rust-regex")
    return SchemaValidator(schema).isinstance_python


_ANY, _LARGE = r"(?:0\.0000|[0-9]+(?:\.[0-9]+)?[eE])", r"[0-9]+(?:\.[0-9]+)?(?:e[0-9+]|E)"
_MARKS = b"0.0000", b"e-"
_SMALL = re.compile(rb"(?<![\w.+-])-?(?:0\.0000\d+|\d(?:\.\d+)?e-\d+)(?![\w.+-])")
_DIGITS = 32  # no number is as long
_MANY = 100_000


def _places(text: bytes, mark: bytes) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


@cache
def _exponents(form: str) -> Callable[[str | bytes], bool]:
    """Returns a function that tells whether there is a number of this form."""
    return searcher(rf"(?:[:,\[-]|[:,] |\n *){form}")


def seems_deep(text: bytes) -> bool:
    """Tells whether the brackets are nested too deeply. Brackets in strings count, too."""
    left = text.translate(None, _NO_BRACKETS)
    if len(left) <= 2 * _DEEPEST:
        return False
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
    shape = next((word for word in words if word in _SEPARATORS or word.startswith("indent")), "")
    codes = "".join(word[7:] for word in words if word.startswith("escape:"))
    escaped += [(char, f"\\u{ord(char):04x}") for char in codes]
    if "tab" in words:
        return json.JSONEncoder(ensure_ascii=ascii_only, indent="\t").encode, escaped
    encode, indent, comma = _writer(shape)
    return partial(_in_ascii if ascii_only else _quickly, encode=encode, indent=indent, comma=comma), escaped


@lru_cache(maxsize=32)
def _writer(shape: str) -> tuple[Callable[[Any], str], int | None, bytes]:
    """Returns what writes a value with these spaces: Python's function, and what `_in_bytes` needs for the same."""
    indent = int(shape[6:]) if shape.startswith("indent") else None
    separators = _SEPARATORS[shape if indent is None else "colon"]
    encode = json.JSONEncoder(ensure_ascii=False, indent=indent, separators=separators).encode
    if indent is None and shape:
        return encode, 0, separators[0].encode()  # no text has a line end of its own
    return encode, indent, b""


def _likely(text: str) -> str:
    """Returns the style that a text has in all likelihood."""
    spaced = text.startswith(("{", "[{")) and '": ' in text[:_BEGINNING]
    shape = _indented(text) if "\n" in text else "spaced" if spaced else ""
    return f"{shape} ascii".lstrip() if text.isascii() and _BEYOND_ASCII.search(text) else shape


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


# --- The layout of a cassette's text ---------------------------------------------------------------------


WIDTH = 110
SPARE = 1024
"""A recorder that keeps all headers of an interaction spends about twice as much on them as we do on our list."""

_spaced_out = json.JSONEncoder(ensure_ascii=False).encode
_quoted = json.encoder.encode_basestring
_SHORT = 100  # characters of a text that `json` writes as quickly


def _spaced(value: Any) -> str:
    """Returns the JSON text with spaces, as `json` writes it; of a text, which is most of a cassette, in a tenth of the time."""
    if isinstance(value, str):
        if len(value) < _SHORT:
            return _quoted(value)
        with suppress(ValueError):  # half a surrogate
            return to_json(value).decode()
    if type(value) is list and {*map(type, value)} == {str}:  # the values of a header
        return f"[{', '.join(map(_spaced, value))}]"
    return _spaced_out(value)


@lru_cache(maxsize=1024)
def _label(name: str) -> str:
    return _spaced(name) + ": "


def layout(value: Any) -> str:
    """Returns the text with a newline at its end."""
    return layout_bytes(value, "surrogatepass").decode(errors="surrogatepass")


def layout_bytes(value: Any, errors: str = "strict") -> bytes:
    """Returns the text in UTF-8. `errors` says what happens to half a surrogate, as in `str.encode`."""
    text: list[Piece] = []
    _add(text, value, "", WIDTH, inf)
    text.append("\n")
    return b"".join(_in_utf8(text, errors))


def laid_item(value: Form, level: int) -> Laid:
    """Returns the text of an item of a list that has a line for each item. It does not fit on a line. `level` is that of the item."""
    text: list[Piece] = []
    indent = "  " * level
    _spread(text, value, indent, inf)
    return Laid(_in_utf8(text, "strict"))


def laid_body(form: Spelled, level: int) -> LaidBody:
    """Returns the text of a body as the field of an object. `level` is that of the fields."""
    text: list[Piece] = []
    indent = "  " * level
    _add_body(text, form, indent, WIDTH - len(indent) - len(_label("body")) - 1)
    return LaidBody(_in_utf8(text, "strict"), form.text, form.plain, form["json"])


def _in_utf8(text: Sequence[Any], errors: str) -> list[bytes]:
    pieces: list[bytes] = []
    groups: Iterator[tuple[type, Iterator[Any]]] = groupby(text, type)
    for kind, group in groups:
        pieces += group if kind is bytes else ("".join(group).encode(errors=errors),)
    return pieces


@dataclass(slots=True)
class Laid:
    """The text of a value with its layout, in pieces that are joined once, because they are large."""

    pieces: list[bytes]

    @property
    def text(self) -> bytes:
        """The whole text, which is written as it is."""
        return b"".join(self.pieces)


@dataclass(slots=True)
class LaidBody(Laid):
    """The text of a compact body with its layout, the body itself, the same in ASCII, and its value."""

    source: bytes
    plain: str
    value: Any


Piece = str | bytes
"""Bodies are bytes already, and large. All else is short text."""


class _TooMuchIndentation(Exception):
    pass


def _add(text: list[Piece], value: Any, indent: str, room: int, spare: float) -> float:
    """Adds the pieces of a value. Returns the remaining bytes for indentation."""
    if isinstance(value, Laid):
        text += value.pieces
        return spare
    if not value or not isinstance(value, dict | list) or _cost(value, room) <= room:
        text.append(_spaced(value))
        return spare
    if _numbers(value):
        text.append(compact(value))  # numbers such as an embedding, which people do not read
        return spare
    return _spread(text, value, indent, spare)


def _spread(text: list[Piece], value: Any, indent: str, spare: float) -> float:
    """Adds an object or a list with a line for each item. Returns the remaining bytes for indentation."""
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    spare -= len(value) * (len(inner) + 2) - 1 + len(indent) + 2
    if spare < 0:
        raise _TooMuchIndentation
    text.append(opening)
    separator = f"\n{inner}"
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        label = "" if key is None else _label(key)
        text.append(separator + label)
        separator = f",\n{inner}"
        if type(item) is str:
            text.append(_spaced(item))
        elif key == "body" and isinstance(item, dict):
            _add_body(text, item, inner, WIDTH - len(inner) - len(label) - 1)
        else:
            spare = _add(text, item, inner, WIDTH - len(inner) - len(label) - 1, spare)
    text.append(f"\n{indent}{closing}")
    return spare


def _add_body(text: list[Piece], form: dict[str, Any], indent: str, room: int) -> None:
    """Adds a body: densely, if indentation takes too much."""
    before = len(text)
    try:
        _add(text, form, indent, room, SPARE)
    except _TooMuchIndentation:
        text[before:] = _dense(form)


def _dense(form: dict[str, Any]) -> Iterator[Piece]:
    known, separator = form.text if isinstance(form, Spelled) else b"", "{"
    for key, value in form.items():
        yield f"{separator}{_label(key)}"
        yield from _lines(value, known or _written(value))
        known, separator = b"", ", "  # it is that of the first field
    yield "}"


def _written(value: Any) -> bytes:
    """Returns the compact text of a value. Texts have no numbers, which need a look."""
    with suppress(ValueError):  # half a surrogate
        return (
            to_json(value) if isinstance(value, list) and {*map(type, value)} == {str} else _in_bytes(value)
        )
    return _plainest(value).encode(errors="surrogatepass")


def _lines(value: Any, text: bytes) -> Iterator[Piece]:
    """Yields the compact text of a value with a line for each item of a list, or for each object in the lists of another value."""
    if isinstance(value, list) and not _numbers(value):
        yield "[\n"
        yield from _items(value, text)
        yield "\n]"
        return
    in_a_string = any(b'},{"' + after in text for after in _AFTER) or text.endswith(b'},{"')
    yield text if in_a_string else text.replace(b'},{"', b'},\n{"')


_AFTER = (b",", b":", b"]", b"}")


def _items(values: list[Any], text: bytes) -> Iterator[Piece]:
    """Yields the items on lines. If there are as many marks as items, each mark is between two of them, unless a text ends with `",` or is `,`."""
    kinds = {*map(type, values)}
    mark = b'","' if kinds == {str} else b"},{"
    clear = b'",","' not in text if kinds == {str} else kinds == {dict}
    lines = text[1:-1].replace(mark, mark.replace(b",", b",\n")) if clear else b""
    if len(lines) == len(text) - 2 + len(values) - 1:
        yield lines
    else:
        yield ",\n".join(map(compact, values))


def _numbers(value: Any) -> bool:
    """Tells whether a value is a list of numbers, or a list of such lists."""
    return (isinstance(value, list) and not (value and type(value[0]) is str)) and all(
        _numbers(item) if isinstance(item, list) else type(item) in (int, float) for item in value
    )


def _cost(value: Any, room: int) -> int:
    """Returns the approximate length of a value on one line. It stops counting after `room`."""
    items: Iterable[Any]
    if isinstance(value, dict):
        if isinstance(value.get("body"), Laid):
            return room + 1
        total, items = 2 + 4 * len(value) + sum(map(len, value)), value.values()
    elif isinstance(value, list):
        total, items = 2 + 4 * len(value), value
    else:
        if isinstance(value, Laid):
            return sum(map(len, value.pieces))
        return len(str(value)) + 2 * isinstance(value, str)
    for item in items:
        if total > room:
            break
        kind = type(item)
        if kind is str:
            total += len(item) + 2
        elif kind is int:
            total += len(str(item))
        elif kind is list and len(item) == 1 and type(item[0]) is str:
            total += len(item[0]) + 8
        else:
            total += _cost(item, room - total)
    return total
