"""The keys that a request sends, replaced in all that comes back: error bodies, headers, events, answers.

A provider or a gateway may quote a key, and its words end up in exceptions, logs, traces, records and saved chats. So the
key is replaced before anything else reads the answer: as it is, and in its encoded forms. In errors, `keys_in_errors` also finds
parts and masked forms of it. A stream may bring a key in pieces: an event that ends with the beginning of a key is held back until the
text goes on.

An answer is read as its letters and digits in lower case, of which few are compared: any form of a key has one of them.
"""

from __future__ import annotations

import logging
import re
import sys
from base64 import b32encode, b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from ..base.budget import CLIENT_ERROR
from ..errors import chained, forget_locals
from .key_forms import HIDDEN, readable, written_forms

BEGINNING = 4  # characters of a key at the end of an event, after which the next one is waited for
GRAM = 5  # letters of a form that are searched in answers
LONGEST = 8  # bytes that a form has at most for each character of a key

_LOWER = bytes(range(256)).lower()
#: Of a text in bytes only its letters and digits are compared, in lower case: so most ways to write a key are the same. `\\x73` has an x.
_DELETED = bytes(code for code in range(128) if not chr(code).isalnum()) + b"xX"

_COMMON = 4096  # bytes of a chunk that is compared with others

LEAST = 8  # characters of a key that is replaced in errors; shorter ones are words of the language
LEAST_IN_ANSWERS = 16  # characters of a key that is replaced in answers, too; and it has a digit

_SECRET = re.compile(r"auth|key|token|secret|password|cookie|credential", re.IGNORECASE)
_ESCAPED_IN_JSON = re.compile(rb"\\u00[2-7]")
_ERRORS = frozenset({"error", "errors", ":exception"})
_ERROR = CLIENT_ERROR.unpacked
_OTHER_FIELDS = (
    "object",
    "reason",
    "obj",
    "strerror",
    "filename",
    "filename2",
)  # of UnicodeError, AttributeError and OSError
_TEXTS = {str, bytes, bytearray, list, dict, tuple, set, frozenset}  # what may have a text


class SentKeys:
    """The keys in the headers of one request, and those that signed it."""

    def __init__(self, headers: Mapping[str, str], secrets: Iterable[str] = ()) -> None:
        values = tuple([value for name, value in headers.items() if is_secret(name)])
        self._keys, self._answered = _keys_of(values, tuple(secrets))
        if self._keys:
            _sent[self._keys] = None
            if len(_sent) > _KNOWN:
                _sent.pop(next(iter(_sent)), None)
        self._forms = all_forms(self._answered)
        self._tail = b""
        self._usual = _Usual()
        self._quoted = self._suspected = False
        self._held: list[Any] = []  # the events since one that ends with the beginning of a key
        self._open: dict[tuple[Any, ...], _Open] = {}  # by the place of the text in its event
        self._holding: set[tuple[Any, ...]] = set()  # places of which characters are held back

    def hidden_in_headers(self, headers: dict[str, str], *, failed: bool) -> dict[str, str]:
        """Returns the headers of an answer without the keys. `failed` is whether it is an error."""
        together = "\n".join([*headers, *headers.values()])
        if not failed and not self._forms.in_answer(together.encode()):
            return headers
        if self.hidden_in_error(together) == together:
            return headers
        return {self.hidden_in_error(name): self.hidden_in_error(value) for name, value in headers.items()}

    def hide_in_exception(self, error: BaseException | None) -> None:
        """Replaces the keys in an exception, and in those that it followed: clients quote what they cannot read. Their
        variables, which trackers of errors show, are cleared.
        """
        if error is not None and self._keys:
            for each in chained(error):
                self._hide_in_fields(each)
            forget_locals(error)

    def _hide_in_fields(self, error: BaseException) -> None:
        """Replaces the keys in the texts of one exception, its notes, what it could not read, and the headers of its request."""
        error.args = tuple(map(self._hidden_in_value, error.args))
        for name in (*vars(error), *_OTHER_FIELDS):
            value = getattr(error, name, None)
            if type(value) in _TEXTS:
                setattr(error, name, self._hidden_in_value(value))
            elif name in {"request", "_request"}:
                self._hide_in_request(value)

    def _hide_in_request(self, request: Any) -> None:
        """Replaces the keys in the headers and the address of a request that failed, which httpx's exceptions have."""
        headers: Any = getattr(request, "headers", {})
        for name in [name for name in headers if is_secret(name)]:
            headers[name] = HIDDEN
        where = str(getattr(request, "url", ""))
        if (shown := self.hidden_in_error(where)) != where:
            request.url = type(request.url)(shown)

    def _hidden_in_value(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return self.hidden_in_body(value[:_ERROR], failed=True)
        return self._hidden_in_error_event(value) if type(value) in _TEXTS else value

    def hidden_in_body(self, body: bytes, *, failed: bool) -> bytes:
        """Returns a whole body without the keys. `failed` is whether it is an error's."""
        quoted = failed or (self._answered and (_ESCAPED_IN_JSON.search(body) or self._forms.in_answer(body)))
        if not quoted:
            return body
        text = body.decode("utf-8", "surrogateescape")
        shown = self.hidden_in_error(text) if failed else self._hidden(text)
        return body if shown == text else shown.encode("utf-8", "surrogateescape")

    def hidden_in_events(self, chunk: bytes, events: list[Any], *, last: bool = False) -> list[Any]:
        """Returns the events of a stream without the keys. This chunk completes the last of them. After the `last` events,
        none is held back.
        """
        if not self._keys:
            return events
        if self._answered:
            begun = self._looked_at(chunk)
            if begun or self._suspected or self._open or self._held:
                self._suspected = begun or not events
                events = self._with_whole_keys(events, last=last)
        if self._quoted:
            return [self._hidden_in_event(event) for event in events]
        for event in events:
            if isinstance(event, dict) and not _ERRORS.isdisjoint(event):
                return [*map(self._hidden_in_event, events)]
        return events

    def _looked_at(self, chunk: bytes) -> bool:
        """Notes whether the last bytes of a stream quote a key, and returns whether a text may end with the beginning of one."""
        forms, usual, window = self._forms, self._usual, self._tail + chunk
        self._tail = b"" if window.endswith(b"\n") else window[1 - forms.longest :]  # no form has a line end
        begin, end = usual.differs(window)
        if forms.hints.search(window, begin - forms.most, end + forms.most) is None:  # as nearly all chunks
            if not usual.known and not self._tail and len(window) == len(chunk):  # it is no piece of a line
                usual.add(chunk, forms)
            if end - begin >= usual.room and not self._quoted:
                self._quoted = forms.in_answer(window, ends=False)
            return False
        if _ESCAPED_IN_JSON.search(window):  # what these letters are, only the events say
            self._quoted = True
            return True
        self._quoted = self._quoted or forms.in_answer(window)
        return any(map(window.__contains__, forms.beginnings))

    def _with_whole_keys(self, events: list[Any], *, last: bool) -> list[Any]:
        """Returns the events without those that are held back. The beginning of a key is moved to the event where the text goes on."""
        found: list[Any] = []
        for event in events:
            for place, (holder, name, text) in _texts(event).items():
                self._read(place, holder, name, text)
            self._held.append(event)
            if not self._holding:
                found += self._held
                self._held = []
        if last:
            for each in self._open.values():
                self._release(each, each.text)
            found, self._held, self._open, self._holding = [*found, *self._held], [], {}, set()
        return found

    def _release(self, before: _Open, text: str) -> None:
        """Hides a beginning that does not become a key, if it is long."""
        if before.held and self._forms.tells(text):
            before.holder[before.name] = (
                before.holder[before.name].removesuffix(text[-before.held :]) + HIDDEN
            )

    def _read(self, place: tuple[Any, ...], holder: Any, name: Any, text: str) -> None:
        """Reads the next piece of a text. With the pieces before, it may be a key, or the beginning of one."""
        before = self._open.pop(place, _NOTHING)
        self._holding.discard(place)
        whole = before.text + text
        key = self._key_across(whole, len(before.text))
        start = key[0] if key else len(whole) - self._beginning(whole)
        released = len(before.text) - before.held
        cut = max(start, released)
        if before.text and cut < len(before.text):
            before.holder[before.name] = before.holder[before.name].removesuffix(before.text[cut:])
            text = whole[cut:]
        elif before.text:
            self._release(before, before.text)
        if key:
            text = HIDDEN + whole[key[1] :]
            holder[name] = text
            return self._read(place, holder, name, text)
        holder[name] = text
        if start < len(whole):
            length = len(whole) - start
            held = length - max(released - start, 0) if length >= BEGINNING else 0
            self._open[place] = _Open(whole[start:], held, holder, name)
            if held:
                self._holding.add(place)
        return None

    def _key_across(self, text: str, border: int) -> tuple[int, int] | None:
        """Returns where a key is that begins before the border and ends behind it."""
        for form in self._forms.split if border else ():
            start = text.find(form, max(border - len(form) + 1, 0), border + len(form) - 1)
            if start >= 0:
                return start, start + len(form)
        return None

    def _beginning(self, text: str) -> int:
        """Returns how many characters at the end of a text begin a key."""
        begins = prefixes(self._forms.split)
        return next(
            (
                size
                for size in range(min(len(text), self._forms.longest - 1), 0, -1)
                if text[-size:] in begins
            ),
            0,
        )

    def _hidden_in_event(self, event: Any) -> Any:
        if isinstance(event, dict) and not _ERRORS.isdisjoint(event):
            return self._hidden_in_error_event(event)
        return _replaced(event, self._hidden_in_text) if self._quoted else event

    def _hidden_in_error_event(self, event: Any) -> Any:
        """Returns an error without the keys, and without texts that no client reads. It may have any number of short texts, which are looked
        at together first, and each once.
        """
        event = _shortened(event)
        together = "\n".join(_all_texts(event))
        return (
            event
            if self.hidden_in_error(together) == together
            else _replaced(event, cache(self.hidden_in_error))
        )

    def hidden_in_error(self, text: str) -> str:
        """Returns a text of an error without the keys, their parts, their masked forms, and other encodings."""
        if not self._keys:
            return text
        from .keys_in_errors import hidden_traces  # noqa: PLC0415 - few answers are errors, and few have a key

        return hidden_traces(text, self._keys)

    def hidden_in_value(self, value: Any, *, failed: bool) -> Any:
        """Returns a JSON value without the keys. `failed` is whether it is an error."""
        if not self._keys:
            return value
        return self._hidden_in_error_event(value) if failed else _replaced(value, self._hidden_in_text)

    def _hidden_in_text(self, text: str) -> str:
        if not self._forms.in_answer(text.encode("utf-8", "replace")):
            return text  # another text of the same chunk quotes a key
        return self._hidden(text)

    def _hidden(self, text: str) -> str:
        from .keys_in_errors import hidden_in_answer  # noqa: PLC0415 - as above

        return hidden_in_answer(text, self._answered)


class _Usual:
    """What the chunks of a stream have in common, in which nothing was found: their first bytes and their last ones. So only what
    differs is searched, which is a fifth of most chunks. What differs in fewer than `room` bytes completes no form.
    """

    first: bytes = b""
    last: bytes = b""
    begins, ends = (
        sys.maxsize,
        0,
    )  # so many bytes from the beginning and from the end; at first, no chunk has them
    known = False
    room = 0

    def differs(self, chunk: bytes) -> tuple[int, int]:
        """Returns the place of the part of a chunk that differs."""
        begin, end = self.begins, len(chunk) - self.ends
        self.known = begin <= end and chunk.startswith(self.first) and chunk.endswith(self.last)
        return (begin, end) if self.known else (0, len(chunk))

    def add(self, chunk: bytes, forms: Forms) -> None:
        """Notes that nothing was found in a chunk."""
        if len(chunk) > _COMMON:
            return
        first, last = (chunk, chunk) if self.begins == sys.maxsize else (self.first, self.last)
        self.first = first[: _same(first, chunk)]
        self.last = last[len(last) - _same(last[::-1], chunk[::-1]) :]
        self.begins, self.ends = len(self.first), len(self.last)
        ends = [part.translate(_LOWER, _DELETED) for part in (self.first, self.last)]
        self.room = (
            forms.room if forms.grams.isdisjoint((ends[0][-GRAM:], ends[1][:GRAM])) else 0
        )  # else a form may have more of them


def _same(one: bytes, other: bytes) -> int:
    """Returns how many first bytes of two texts are the same."""
    places = range(min(len(one), len(other)))
    return next((at for at in places if one[at] != other[at]), len(places))


class _Open(NamedTuple):
    """The end of a text that may be the beginning of a key, how many of its characters are held back, and where these are."""

    text: str
    held: int
    holder: Any
    name: Any


_NOTHING = _Open("", 0, None, None)


#: Tells whether what has this name, such as a header, is a secret.
is_secret = lru_cache(256)(_SECRET.search)


@lru_cache(64)
def _keys_of(values: Iterable[str], secrets: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the keys in headers and beside them, and the keys that are also replaced in answers."""
    found = [*secrets, *(key for value in values for key in keys_in(value))]
    keys = tuple(sorted({key for key in found if len(key) >= LEAST}, key=len, reverse=True))
    return keys, tuple(key for key in keys if len(key) >= LEAST_IN_ANSWERS and re.search(r"\d", key))


def keys_in(value: str) -> Iterator[str]:
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


# --- Events --------------------------------------------------------------------------------------------


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


def _all_texts(value: Any) -> Iterator[str]:
    """Yields the texts of a JSON value, and the names of its fields."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case bytes() | bytearray() as data:
                yield data.decode("latin-1")
            case list() | tuple() | set() | frozenset() as items:
                left += items
            case dict(fields):
                yield from fields
                left += fields.values()


def _replaced(value: Any, replace: Any) -> Any:
    """Returns a JSON value with another form of each of its texts."""
    match value:
        case str():
            return replace(value)
        case bytes() | bytearray():
            return type(value)(replace(value.decode("latin-1")).encode("latin-1", "replace"))
        case list() | tuple() | set() | frozenset():
            kind = next(each for each in (list, tuple, set, frozenset) if isinstance(value, each))
            return kind([_replaced(item, replace) for item in value])
        case dict():
            return {_replaced(name, replace): _replaced(item, replace) for name, item in value.items()}
    return value


def _shortened(error: Any) -> Any:
    """Returns an error with its texts cut at the limit for errors, because all of them are searched for keys."""
    left = _ERROR

    def kept(text: str) -> str:
        nonlocal left
        text = text[: max(left, 0)]
        left -= len(text)
        return text

    return error if sum(map(len, _all_texts(error))) <= _ERROR else _replaced(error, kept)


# --- Logs of HTTP clients ------------------------------------------------------------------------------------


#: The keys of requests. HTTP clients log what a server says, and hpack logs what is sent.
_sent: dict[tuple[str, ...], None] = {}
_KNOWN = 64
_OFTEN = 500  # characters of a line that may be the same as an earlier one: httpcore logs the same few for each request
_CLIENTS = ("httpx", "httpx2", "hpack.hpack", "hpack.table")
_MCP = (
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.client.client",
    "mcp.shared.jsonrpc_dispatcher",
    "client",
)
_PARTS_OF_CLIENTS = ("connection", "http11", "http2", "proxy", "socks")


def _hide_in_record(record: logging.LogRecord) -> bool:
    """Replaces the keys in what an HTTP client or the SDK of MCP logs."""
    if record.exc_info:
        _hide_in_traceback(record)
    text = record.getMessage()
    hidden = _often_hidden if len(text) <= _OFTEN else _hidden_in_log
    shown = hidden(text, tuple(_sent))
    if shown != text:
        record.msg, record.args = shown, ()
    return True


def _hide_in_traceback(record: logging.LogRecord) -> None:
    """Replaces the keys in a logged exception. If it quotes one, only its text is left of it."""
    text = logging.Formatter().formatException(record.exc_info)  # type: ignore[arg-type]  # it is not empty
    shown = _hidden_in_log(text, tuple(_sent))
    if shown != text:
        record.exc_info, record.exc_text = None, shown


def _hidden_in_log(text: str, sent: tuple[tuple[str, ...], ...]) -> str:
    """Returns a line of a log without the keys."""
    from .keys_in_errors import hidden_traces  # noqa: PLC0415 - few programs log what clients do

    return hidden_traces(text, dict.fromkeys(chain.from_iterable(sent))) if sent else text


_often_hidden = lru_cache(256)(_hidden_in_log)


for _name in (*_CLIENTS, *_MCP, *(f"httpcore{v}.{part}" for v in ("", "2") for part in _PARTS_OF_CLIENTS)):
    logging.getLogger(_name).addFilter(_hide_in_record)


# --- The forms of a key --------------------------------------------------------------------------------------


class Forms(NamedTuple):
    """The texts that show that an answer may contain one of several keys."""

    letters: tuple[bytes, ...]  # the letters and digits of all forms
    grams: frozenset[bytes]  # all short texts in them
    step: int  # between the places of an answer that are looked at: a form that is there has a gram at one of them
    shown: tuple[bytes, ...]  # the ends of the keys
    longest: int
    split: tuple[str, ...]  # forms that are found in pieces, too
    beginnings: tuple[bytes, ...]  # how one of their first pieces ends in JSON
    hints: re.Pattern[bytes]  # finds a beginning, an end or an escaped letter
    most: int  # the bytes of the longest hint
    room: int  # the letters that the shortest form has beside a part of a gram before them, and one behind

    def in_answer(self, data: bytes, *, ends: bool = True) -> bool:
        """Tells whether an answer may have a key: an end of one (unless `ends` were looked for), or the letters of a form."""
        if not self.letters:
            return False
        if ends and any(map(data.__contains__, self.shown)):
            return True
        letters = data.translate(_LOWER, _DELETED)
        near = not self.grams.isdisjoint(
            [letters[at : at + GRAM] for at in range(0, len(letters), self.step)]
        )
        return near and any(form in letters for form in self.letters)

    def tells(self, beginning: str) -> bool:
        """Tells whether the beginning of a form has four characters of a key's secret at least."""
        return len(beginning) >= 16 or beginning.lower().startswith(
            tuple(end.decode().lower() for end in self.shown)
        )


@lru_cache(64)
def all_forms(keys: tuple[str, ...]) -> Forms:
    split = tuple(form for key in keys for form in (key, key.upper(), key.lower(), *_encoded(key.encode())))
    starts = (key[:size].encode() for key in keys for size in range(1, BEGINNING))
    beginnings = {form[:BEGINNING].encode() for form in split}
    beginnings |= {start + end for start in starts for end in (b'"}', b'",')}
    letters = tuple({form.translate(_LOWER, _DELETED) for key in keys for form in _forms(key)})
    shown = tuple(
        end.encode() for key in keys for end in (key[: len(readable(key)) + BEGINNING], key[-BEGINNING:])
    )
    hints, shortest = sorted({*beginnings, *shown}), min(map(len, letters), default=0)
    return Forms(
        letters,
        frozenset(form[at : at + GRAM] for form in letters for at in range(len(form) - GRAM + 1)),
        max(shortest - GRAM + 1, 1),
        shown,
        max((len(key) * LONGEST for key in keys), default=0),
        split,
        tuple(sorted(beginnings)),
        re.compile(b"|".join([_ESCAPED_IN_JSON.pattern, *map(re.escape, hints)])),
        max(map(len, [rb"\u0020", *hints])),
        shortest - 2 * (GRAM - 1),
    )


def _forms(key: str) -> Iterator[bytes]:
    """Yields the ways to write a key, which differ in more than marks between the letters."""
    data = key.encode()
    yield from map(str.encode, written_forms(key))
    for spelled in ("{:02x}", "0{:02x}", "u00{:02x}", "u{:02x}", "{:03o}", "0{:03o}", "{}", "{:08b}"):
        yield "".join(spelled.format(code) for code in data).encode()
    yield re.sub(rb"[^\w.-]", lambda found: b"u00%02x" % ord(found[0]), data)
    for form in (*_encoded(data), *_within(data, b32encode, 5)):
        yield form.encode()


def _encoded(data: bytes) -> Iterator[str]:
    """Yields data in hexadecimal and in Base64."""
    yield from (data.hex(), data.hex().upper())
    for encode_ in (b64encode, urlsafe_b64encode):
        yield from _within(data, encode_, 6)


def _within(data: bytes, encode_: Callable[[bytes], bytes], bits: int) -> Iterator[str]:
    """Yields the constant parts of the encoded data when they are inside other encoded data. Each letter has `bits` bits."""
    for before in range(bits // 2 if bits == 6 else bits):
        text = encode_(b"\0" * before + data).decode().rstrip("=")
        yield text[-(-8 * before // bits) : 8 * (before + len(data)) // bits]


@lru_cache(8)
def prefixes(forms: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form[:size] for form in forms for size in range(1, len(form)))
