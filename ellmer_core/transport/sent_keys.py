"""The keys that a request sends, replaced in all that comes back: error bodies, headers, events, answers.

A provider or a gateway may quote a key, and its words end up in exceptions, logs, traces, records and saved chats. So the
key is replaced before anything else reads the answer: as it is, in other case, percent-encoded, escaped in JSON, in Base64, in
hexadecimal; and in errors also long parts of it, its masked forms (`sk-ab***wxyz`), what Base64 has of it, and letters that are escaped
one by one, each in another way (`\\u0073k-%61&#98;`). A stream may bring a key in pieces: an event that ends
with the beginning of a key is held back until the next event.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote

HIDDEN = "[key]"
LEAST = 8  # characters of a key that is replaced in errors; shorter ones are words of the language
LEAST_IN_ANSWERS = 16  # characters of a key that is replaced in answers, too; and it has a digit
PART = 10  # characters of a part of a key that is replaced in errors
BEGINNING = 4  # characters of a key at the end of an event, after which the next one is waited for

_SECRET = re.compile(r"auth|key|token|secret|password|cookie|credential", re.IGNORECASE)
_MASKS = ("*", "•", "…", "...")
_MASKED = re.compile(r"(?<![\w\-])([\w\-]*+)(?:[*•…]++|\.{3,}+)([\w\-]*+)")
_PERCENT, _MARK, _ANY = re.compile("%.."), re.compile(r"[^\w.-]"), re.compile("(?s).")
_WORD = re.compile(r"[\w\-]{4,}")
_ESCAPED = (
    re.compile(  # a letter of ASCII: in JSON, Python, a URL, quoted-printable, HTML; also escaped again
        r"""\\{1,8}(?:u(?:\{0{0,4}|00)|x)(?P<program>[2-7][0-9a-f])\}?|\\{1,8}(?P<slash>/)|(?:%(?:25){0,3}|=)(?P<url>[2-7][0-9a-f])
    |&(?:amp;){0,3}\#(?:x0{0,6}(?P<hex>[2-7][0-9a-f])|0{0,6}(?P<decimal>1[012]\d|[3-9]\d));?""",
        re.IGNORECASE | re.VERBOSE,
    )
)
_ESCAPED_IN_JSON = re.compile(rb"\\u00[2-7]")


class SentKeys:
    """The keys in the headers of one request."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        values = [value for name, value in headers.items() if _SECRET.search(name)]
        keys = {key for value in values for key in _keys_in(value) if len(key) >= LEAST}
        self._keys = sorted(keys, key=len, reverse=True)
        self._answered = [key for key in self._keys if len(key) >= LEAST_IN_ANSWERS and re.search(r"\d", key)]
        self._forms = [form for key in self._answered for form in _forms(key)]
        self._bytes = [form.encode() for form in self._forms]
        self._longest = max(map(len, self._bytes), default=0)
        self._beginnings = {form[:BEGINNING] for form in self._bytes}
        self._tail = b""
        self._quoted = self._begun = False
        self._held: list[Any] = []  # an event that ends with the beginning of a key

    def hidden_in_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Returns the headers of an error without the keys."""
        return {name: self.hidden_in_error(value) for name, value in headers.items()}

    def hidden_in_body(self, body: bytes, *, failed: bool) -> bytes:
        """Returns a whole body without the keys. `failed` is whether it is an error's."""
        escaped = self._bytes and _ESCAPED_IN_JSON.search(body)
        if not failed and not escaped and not any(form in body for form in self._bytes):
            return body
        text = body.decode("utf-8", "surrogateescape")
        shown = self.hidden_in_error(text) if failed else self._hidden(text)
        return body if shown == text else shown.encode("utf-8", "surrogateescape")

    def hidden_in_events(self, chunk: bytes, events: list[Any], *, last: bool = False) -> list[Any]:
        """Returns the events of a stream, of which this chunk completes the last, without the keys. After the `last` events,
        none is held back.
        """
        if self._bytes and not (self._quoted and self._begun):
            window = self._tail + chunk
            self._quoted = self._quoted or any(form in window for form in self._bytes)
            self._begun = self._begun or any(beginning in window for beginning in self._beginnings)
            if _ESCAPED_IN_JSON.search(
                window
            ):  # the letters of a key may be escaped; what they are, the events say
                self._quoted = self._begun = True
            self._tail = window[1 - self._longest :]
        if self._begun:
            events = self._with_whole_keys(events, last=last)
        return [self._hidden_in_event(event) for event in events] if self._keys else events

    def _with_whole_keys(self, events: list[Any], *, last: bool) -> list[Any]:
        """Returns the events after that which was held back. A key that goes on in the next event is moved there."""
        found: list[Any] = []
        for event in events:
            for held in self._held:
                self._move(held, event)
            found += self._held
            self._held = [event] if any(self._begins(text) for _, _, text in _texts(event).values()) else []
            found += [] if self._held else [event]
        if last:
            found, self._held = [*found, *self._held], []
        return found

    def _move(self, held: Any, event: Any) -> None:
        """Moves the beginning of a key to the text of the next event, in the same place, if the key goes on there."""
        texts = _texts(event)
        for path, (holder, name, text) in _texts(held).items():
            if path not in texts:
                continue
            next_holder, next_name, more = texts[path]
            for beginning in self._begins(text):
                whole = beginning + more
                if any(form.startswith(whole) or whole.startswith(form) for form in self._forms):
                    holder[name] = text.removesuffix(beginning)
                    next_holder[next_name] = whole
                    self._quoted = True
                    break

    def _begins(self, text: str) -> list[str]:
        """Returns the ends of a text with which a key begins, the longest first."""
        ends = {
            text[place:]
            for form in self._forms
            for place in range(max(0, len(text) - len(form) + 1), len(text) - BEGINNING + 1)
            if form.startswith(text[place:])
        }
        return sorted(ends, key=len, reverse=True)

    def _hidden_in_event(self, event: Any) -> Any:
        if isinstance(event, dict) and event.keys() & {"error", "errors", ":exception"}:
            return _replaced(event, self.hidden_in_error)
        return _replaced(event, self._hidden) if self._quoted else event

    def hidden_in_error(self, text: str) -> str:
        """Returns a text of an error without the keys, their parts and their masked forms."""
        text = _without_escaped(text, self._keys, parts=True)
        for key in self._keys:
            for form in _forms(key):
                text = text.replace(form, HIDDEN)
            if any(mask in text for mask in _MASKS):
                text = _MASKED.sub(partial(_unmasked, key=key), text)
            text = _WORD.sub(partial(_without_end, key=key), _without_parts(text, key))
        return _PACKED.sub(lambda found: HIDDEN if _packs(found[0], self._keys) else found[0], text)

    def _hidden(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return _without_escaped(text, self._answered, parts=False)


def _keys_in(value: str) -> Iterator[str]:
    """Yields the keys in a header: `Bearer KEY`, `Basic …`, or the key alone. A signature is not a key."""
    scheme, _, key = value.partition(" ")
    if not key:
        yield value
    elif scheme.lower() == "basic":
        yield key
        try:
            yield from b64decode(key, validate=True).decode().split(":", 1)
        except ValueError:
            return
    elif not scheme.startswith("AWS4"):
        yield key


@lru_cache(256)
def _forms(key: str) -> tuple[str, ...]:
    """Returns the key in the forms in which it may be quoted, the longest first."""
    data = key.encode()
    percent = quote(key, safe="")
    forms = {
        *(key, key.upper(), key.lower(), key.replace("/", "\\/"), data.hex(), data.hex().upper()),
        *(percent, _PERCENT.sub(lambda found: found[0].lower(), percent), quote(percent, safe="")),
        *(pattern.sub(lambda found: f"\\u{ord(found[0]):04x}", key) for pattern in (_ANY, _MARK)),
    }
    forms |= {form.replace("\\", "\\\\") for form in forms}  # in JSON inside of JSON
    for encode in (b64encode, urlsafe_b64encode):
        for place in range(3):  # within other bytes, Base64 has three forms
            text = encode(b"\0" * place + data).decode().rstrip("=")
            forms.add(text[(0, 2, 3)[place] : len(text) - ((place + len(data)) % 3 != 0)])
    return tuple(sorted(forms, key=len, reverse=True))


def _unmasked(found: re.Match[str], key: str) -> str:
    start, end = found.groups()
    shown = (len(start) >= 3 and key.startswith(start)) or (len(end) >= 3 and key.endswith(end))
    return HIDDEN if shown else found[0]


def _without_end(found: re.Match[str], key: str) -> str:
    """Hides the end of a key ("the key that ends in 7f3A") if it is neither a number nor a plain word."""
    word = found[0]
    return HIDDEN if not word.isdigit() and not _plain(word) and key.endswith(word) else word


def _plain(text: str) -> bool:
    """Tells whether a text can be a part of a word, which errors have for other reasons than a key."""
    return text.isalpha() and (text.islower() or text.isupper())


@lru_cache(64)
def _parts(key: str) -> frozenset[str]:
    parts = (key[place : place + PART] for place in range(len(key) - PART + 1))
    return frozenset(part for part in parts if not _plain(part))


def _without_parts(text: str, key: str) -> str:
    """Returns the text without the parts of the key, in linear time."""
    parts = _parts(key)
    places = [place for place in range(len(text) - PART + 1) if text[place : place + PART] in parts]
    pieces: list[str] = []
    end = 0
    for place in places:
        if place > end or not pieces:
            pieces += [text[end:place], HIDDEN]
        end = place + PART
    return "".join([*pieces, text[end:]])


#: Base64 in one or more lines, also with escaped line ends.
_PACKED = re.compile(r"(?<![\w+/-])[\w+/-]{16,}+={0,2}+(?:(?:\r?\n|(?:\\r)?\\n)[\w+/-]++={0,2}+)*+", re.ASCII)
_LINE_END = re.compile(r"\\[rn]|[\r\n=]")


def _packs(text: str, keys: list[str], layers: int = 2) -> bool:
    """Tells whether Base64 has a part of a key in it: cut off, over several lines, percent-encoded before, or encoded twice."""
    letters = _LINE_END.sub("", text).replace("-", "+").replace("_", "/")
    for start in range(4):
        whole = letters[start : start + (len(letters) - start) // 4 * 4]
        inner = b64decode(whole).decode("latin-1")
        plain = _ESCAPED.sub(_letter, inner) if "%" in inner or "\\" in inner else inner
        if any(part in plain for key in keys for part in (key, *_parts(key))):
            return True
        if layers > 1 and any(_packs(found[0], keys, layers - 1) for found in _PACKED.finditer(inner)):
            return True
    return False


def _letter(found: re.Match[str]) -> str:
    if found["slash"]:
        return "/"
    if found["decimal"]:
        return chr(int(found["decimal"]))
    return chr(int(found["program"] or found["url"] or found["hex"], 16))


def _without_escaped(text: str, keys: list[str], *, parts: bool) -> str:
    """Returns the text without keys whose letters are escaped one by one, and with `parts` without their parts."""
    letters = _ESCAPED.sub(_letter, text)
    if letters == text:
        return text
    spans = sorted(span for key in keys for span in _spans(letters, key, parts=parts))
    if not spans:
        return text
    places = _places(text)
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        if places[start] >= end:
            pieces += [text[end : places[start]], HIDDEN]
        end = max(end, places[stop])
    return "".join([*pieces, text[end:]])


def _spans(letters: str, key: str, *, parts: bool) -> Iterator[tuple[int, int]]:
    """Yields the places of a key in a text, and with `parts` those of its parts."""
    yield from (found.span() for found in re.finditer(re.escape(key), letters, re.IGNORECASE))
    if parts:
        known = _parts(key)
        last = len(letters) - PART + 1
        yield from ((at, at + PART) for at in range(last) if letters[at : at + PART] in known)


def _places(text: str) -> list[int]:
    """Returns where each letter of the unescaped text begins in the text, and its end."""
    places: list[int] = []
    end = 0
    for found in _ESCAPED.finditer(text):
        places += [*range(end, found.start()), found.start()]
        end = found.end()
    return [*places, *range(end, len(text) + 1)]


def _texts(event: Any) -> dict[tuple[Any, ...], tuple[Any, Any, str]]:
    """Returns the texts of an event by their places in it, each with its object or list and its name there."""
    found: dict[tuple[Any, ...], tuple[Any, Any, str]] = {}
    left: list[tuple[tuple[Any, ...], Any]] = [((), event)]
    while left:
        path, value = left.pop()
        if not isinstance(value, dict | list):
            continue
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(item, str):
                found[*path, name] = (value, name, item)
            else:
                left.append(((*path, name), item))
    return found


def _replaced(value: Any, replace: Any) -> Any:
    """Returns a JSON value with another form of each of its texts."""
    match value:
        case str():
            return replace(value)
        case list():
            return [_replaced(item, replace) for item in value]
        case dict():
            return {_replaced(name, replace): _replaced(item, replace) for name, item in value.items()}
    return value
