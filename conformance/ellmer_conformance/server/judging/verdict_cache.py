"""Reuses verdicts: most requests resemble an earlier one.

A request that differs from an earlier one only in its plain words has the same verdicts. A request that continues a
conversation is recognized by its bytes, only its new part is parsed, and a window of the conversation decides.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from ellmer_core.base.budget import memory_of

from ...contract import readers
from ...contract.observed.exchange import Item, Json, Request
from ...contract.readers.json_access import reading_once
from ...contract.rule import Verdict
from ...contract.scope import api_version

# --- requests that differ in nothing but plain words -----------------------------------------------------


#: Words that a rule may look for in a text. `json` counts only if it is not a key.
_JSON, _JSON_KEY = b"json", b'"json":'
_TELLING = tuple(b"redacted scrubbed omitted truncated filtered placeholder ...".split())
# A text that no rule looks at. A quote within a JSON string has a backslash before it, so the pattern matches only a
# key with its value.
_WORDS = rb"""[A-Za-z0-9](?:[A-Za-z0-9 ,.?!'()+*:;-]{0,398}[A-Za-z0-9.?!')])?"""
_PLAIN = b': ?"%b"' % _WORDS
_KEYS = [
    (key, b'"%s":"x"' % key, re.compile(b'"%s"' % key + _PLAIN))
    for key in (b"content", b"text", b"output", b"thinking")
]


def without_words(body: bytes) -> bytes:
    """Returns a body without its plain texts. A text that may matter to a rule is left unchanged."""
    low = body.lower()
    if _JSON in low and low.count(_JSON) > low.count(_JSON_KEY):
        return body
    for word in _TELLING:
        if word in low:
            return body
    for key, instead, words in _KEYS:
        if key in body:
            body = words.sub(instead, body)
    return body


_ARGUMENTS = re.compile(
    rb'"(?:input|args|arguments|response)": ?\{[^{}\[\]]*\}'
)  # an object without others in it
_VALUE = re.compile(_PLAIN)
_IN_JSON_TEXT = re.compile(rb'\\": ?\\"%b\\"' % _WORDS)
_ID = re.compile(rb'"(?:id|call_id|tool_call_id|tool_use_id|toolUseId)": ?"([A-Za-z0-9_-]{8,64})"')
_LETTER_AND_DIGIT = re.compile(rb"(?=.*[A-Za-z]).*[0-9]")
_HEX = 32  # digits that an id of OpenAI's begins with
_KINDS = bytes.maketrans(
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0" * 10 + b"a" * 6 + b"g" * 20 + b"A" * 6 + b"G" * 20,
)


def without_ids(body: bytes) -> bytes:
    """Returns a form that similar bodies share: numbers replace the ids of calls, and `x` replaces plain texts and arguments."""
    bare = without_words(body)
    if bare is not body:
        bare = _IN_JSON_TEXT.sub(rb'\\":\\"x\\"', bare)
        bare = _ARGUMENTS.sub(lambda found: _VALUE.sub(b':"x"', found[0]), bare)
    for number, id in enumerate(dict.fromkeys(_ID.findall(bare))):
        if _LETTER_AND_DIGIT.match(id):
            bare = bare.replace(id, b"%b#%d#" % (_form(id), number))
    return bare


def _form(id: bytes) -> bytes:
    """Returns what rules may look for in an id: its prefix, its length, and the kinds of its characters."""
    prefix, mark, rest = id.partition(b"_") if b"_" in id else (b"", b"", id)
    start, end = (bytes(sorted({*part.translate(_KINDS)})) for part in (rest[:_HEX], rest[_HEX:]))
    return b"%b%b%b.%b.%d" % (prefix, mark, start, end, len(id))


# --- the verdicts on requests that break no rule ---------------------------------------------------------


_KEPT = 1024
_LONGEST = 262_144  # bytes; the verdicts on longer bodies are not stored
_ALL_BODIES = 32 * 1024 * 1024  # bytes of all bodies whose verdicts are stored

Judge = Callable[[Request], tuple[Verdict, ...]]


class Judged(NamedTuple):
    """The verdicts on a request, whether no rule is broken, and the number of turns."""

    verdicts: Sequence[Verdict]
    fine: bool
    turn: int


class DeferredVerdicts(Sequence[Verdict]):
    """The verdicts on a request that breaks no rule. They are computed when they are read."""

    fine = True

    def __init__(self, request: Request, judge: Judge) -> None:
        self._request, self._judge = request, judge

    @cached_property
    def _found(self) -> Sequence[Verdict]:
        return judged(self._request, self._judge).verdicts

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)


class VerdictCache:
    """The verdicts on requests that break no rule, found by the request without its plain words."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], Judged] = {}
        self._size, self._lock = 0, Lock()

    def judged(
        self,
        request: Request,
        body: bytes,
        judge: Judge,
        bare: Callable[[bytes], bytes] = without_words,
    ) -> Judged:
        """Returns the verdicts of the rules, or the stored ones of a request with an equal `bare` body."""
        if len(body) > _LONGEST:
            return judged(request, judge)
        scope = request.wire, request.provider, request.model, request.when, api_version(request)
        key = (*scope, request.stream, request.headers.get("anthropic-beta", ""), bare(body))
        found = self._found.get(key)
        if found is None:
            found = judged(request, judge)
            if found.fine:
                self._keep(key, found)
        return found

    def _keep(self, key: tuple[Any, ...], found: Judged) -> None:
        *_, body = key
        with self._lock:
            if key not in self._found:
                self._found[key] = found
                self._size += len(body)
            while len(self._found) > _KEPT or self._size > _ALL_BODIES:
                *_, oldest = dropped = next(iter(self._found))
                del self._found[dropped]
                self._size -= len(oldest)


def judged(request: Request, judge: Judge) -> Judged:
    """Returns the verdicts of the rules on a new request."""
    with reading_once():
        verdicts = judge(request)
        return Judged(verdicts, not any(verdict.violations for verdict in verdicts), _turn(request))


def _turn(request: Request) -> int:
    return max([0, *(item.turn for item in readers.read(request))])


# --- requests that continue a conversation ---------------------------------------------------------------


T = TypeVar("T")

_LISTS = ("messages", "contents", "input")
_ENDS = re.compile(rb"\]\s*\}\s*\Z")
_CONVERSATIONS = 256
_BYTES = 64 * 1024 * 1024  # of memory, of all of them
_PROBE = 7_770_777
_TRIES = 4
_BLANK = b" \t\r\n"


class MessagesPosition(NamedTuple):
    """The position of the messages in a body: the name of their list, and the bytes before and after its end."""

    name: str
    before: bytes
    after: bytes


class Continued(NamedTuple, Generic[T]):
    """A body that continues a known conversation: the facts about it, the new messages, and their bytes."""

    facts: T
    place: MessagesPosition
    value: Json
    new: list[Any]
    text: bytes


class _Known(NamedTuple, Generic[T]):
    place: MessagesPosition
    value: Json
    facts: T


class Beginnings(Generic[T]):
    """The latest beginnings of bodies, each with a value. None of them begins another one. Those of one `kind` are sorted, so
    that a body is compared with one of them only.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[object, bytes], T] = {}
        self._sorted: dict[object, list[bytes]] = {}
        self._bytes = 0
        self._lock = Lock()

    def of(self, kind: object, body: bytes) -> tuple[bytes, T] | None:
        """Returns the beginning that a body has, with its value, if any."""
        with self._lock:
            alike = self._sorted.get(kind)
            place = bisect_right(alike, body) if alike else 0
            if alike and place and body.startswith(start := alike[place - 1]):
                return start, self._found[kind, start]
        return None

    def keep(self, kind: object, start: bytes, value: T) -> None:
        """Stores a beginning. It replaces a shorter one that it begins with."""
        with self._lock:
            alike = self._sorted.setdefault(kind, [])
            place = bisect_right(alike, start)
            while place and start.startswith(alike[place - 1]):
                self._forget(kind, alike[place - 1])
                place -= 1
            self._sorted.setdefault(kind, alike).insert(place, start)
            self._found[kind, start] = value
            self._bytes += memory_of(start)
            while len(self._found) > _CONVERSATIONS or self._bytes > _BYTES:
                self._forget(*next(iter(self._found)))

    def drop(self, kind: object, body: bytes) -> None:
        """Removes the beginning that a body has."""
        found = self.of(kind, body)
        with self._lock:
            if found and (kind, found[0]) in self._found:
                self._forget(kind, found[0])

    def _forget(self, kind: object, start: bytes) -> None:
        del self._found[kind, start]
        self._bytes -= memory_of(start)
        alike = self._sorted[kind]
        del alike[bisect_left(alike, start)]
        if not alike:
            del self._sorted[kind]


class KnownConversations(Generic[T]):
    """The latest conversations, with the facts about each."""

    def __init__(self) -> None:
        self._found: Beginnings[_Known[T]] = Beginnings()

    def find(self, kind: object, body: bytes) -> Continued[T] | None:
        """Returns the known conversation that a body continues, if any. Only conversations of one `kind` are
        compared.
        """
        known = self._found.of(kind, body)
        if known is None:
            return None
        (name, before, after), value, facts = known[1]
        if len(body) <= len(before) + len(after) or not body.endswith(after):
            return None
        text = body[len(before) : len(body) - len(after)]
        new = _elements(text)
        if not new:
            return None
        whole = {**value, name: [*value[name], *new]}
        return Continued(facts, MessagesPosition(name, before + text, after), whole, new, text)

    def keep(self, kind: object, place: MessagesPosition, value: Json, facts: T) -> None:
        """Stores a conversation. It replaces a shorter one that it continues."""
        self._found.keep(kind, place.before, _Known(place, value, facts))

    def drop(self, kind: object, body: bytes) -> None:
        """Removes the conversation that a body continues."""
        self._found.drop(kind, body)


def likely_start(body: bytes, value: Json) -> bytes:
    """Returns the bytes before the likely end of the messages in a body, or an empty text."""
    name = next((name for name in _LISTS if isinstance(value.get(name), list)), None)
    if name is None:
        return b""
    keys = [*value]
    behind = keys[keys.index(name) + 1 :]
    key = b'"%b"' % behind[0].encode("utf-8", "replace") if behind else b"}"
    return body[: max(0, body.rfind(b"]", 0, max(0, body.rfind(key))))].rstrip(_BLANK)


def place_of(body: bytes, value: Json) -> MessagesPosition | None:
    """Returns the position of the messages in a body, if it is certain: a probe that is inserted there becomes one of
    them.
    """
    name = next((name for name in _LISTS if isinstance(value.get(name), list) and value[name]), None)
    if name is None:
        return None
    for end in _ends(body, [*value], name):
        before = body[:end].rstrip(_BLANK)
        after = body[len(before) :]
        try:
            probed = readers.parsed(b"%b,%d%b" % (before, _PROBE, after))
        except (ValueError, RecursionError):
            continue
        if isinstance(probed, dict) and probed.get(name) == [*value[name], _PROBE]:
            return MessagesPosition(name, before, after)
    return None


def _ends(body: bytes, keys: list[str], name: str) -> Iterator[int]:
    """Yields the possible positions of the end of the list, the last one first."""
    behind = keys[keys.index(name) + 1 :]
    if not behind:
        yield from (match.start() for match in _ENDS.finditer(body))
        return
    key = re.compile(rb'\]\s*,\s*"%b"\s*:' % re.escape(behind[0].encode("utf-8", "replace")))
    yield from [match.start() for match in key.finditer(body)][: -_TRIES - 1 : -1]


def _elements(text: bytes) -> list[Any]:
    """Returns the elements that a text appends to a list. The result is empty if the text is not JSON."""
    if not text.lstrip(_BLANK).startswith(b","):
        return []
    try:
        found = readers.parsed(b"[[%b]]" % text.lstrip(_BLANK)[1:])  # the same depth as in a body
    except (ValueError, RecursionError):
        return []
    inner: list[Any] = found[0] if len(found) == 1 else []
    return inner


# --- the part of a conversation that decides about its next request --------------------------------------


_ANY_ID = re.compile(rb'"(?:id|[A-Za-z_]*_id|[A-Za-z]*Id)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_NAME = re.compile(rb'"name"\s*:\s*"((?:[^"\\]|\\.)*)"')
_DOCUMENT = b'"document"'  # the name of a document must be unique
_CACHED = re.compile(rb"cache_control|cachePoint")  # the number of marks is limited
_HIDDEN = re.compile(rb"\\u00[2-7]")  # an escape that may hide a key


class Units(NamedTuple):
    """The division of the first `size` messages into units.

    `lead` is the number of messages before the first question. `start` is the first message of the last unit, and
    `question` is the first message of the question that this unit belongs to; both are -1 if there is none. `open`
    counts the calls without a result.
    """

    size: int = 0
    lead: int = -1
    start: int = -1
    question: int = -1
    open: int = 0
    answered: bool = False  # the last message has results

    def followed_by(self, messages: Iterable[Sequence[Item]]) -> Units:
        """Returns the division of the conversation with more messages."""
        units = self
        for message in messages:
            units = units._with(message)
        return units

    def _with(self, message: Sequence[Item]) -> Units:
        calls = sum(item.kind == "call" for item in message)
        results = sum(item.kind == "result" for item in message)
        role = next((item.role for item in message), "system")
        size, lead, start, question, open, answered = self
        if not (open or results):
            if role == "user":
                lead, start, question = (lead if lead >= 0 else size), size, size
            elif role == "assistant" and answered and question >= 0:
                start = size
        return Units(size + 1, lead, start, question, max(0, open + calls - results), results > 0)

    def window(self, count: int) -> Sequence[int] | None:
        """Returns the indexes of the messages to judge, for a conversation of `count` messages that continues this
        one. `None` means all messages.
        """
        if self.question < 0:
            return None
        lead = range(min(self.lead, self.question))
        places = [*lead, *([self.question] if self.question < self.start else []), *range(self.start, count)]
        return places if len(places) < count else None


class Marks(NamedTuple):
    """The parts of a conversation that must be unique or are limited in number."""

    names: frozenset[bytes]
    cached: bool

    def allow(self, new: Marks) -> bool:
        """Tells whether no new mark repeats an existing one."""
        return not (self.cached and new.cached) and self.names.isdisjoint(new.names)

    def joined(self, new: Marks) -> Marks:
        """Returns the marks of a piece and of another one together."""
        return Marks(self.names | new.names, self.cached or new.cached)


def marks(text: bytes) -> Marks | None:
    """Returns the ids and names in a piece of a request, or `None` if an escape may hide one."""
    names = frozenset(_ANY_ID.findall(text) + (_NAME.findall(text) if _DOCUMENT in text else []))
    if _HIDDEN.search(text) or any(b"\\" in name or not name.isascii() for name in names):
        return None
    return Marks(names, _CACHED.search(text) is not None)


def by_message(items: Iterable[Item], count: int) -> list[list[Item]]:
    """Returns the items of each of the given messages."""
    messages: list[list[Item]] = [[] for _ in range(count)]
    for item in items:
        if 0 <= item.turn < count:
            messages[item.turn].append(item)
    return messages
