"""Neutral → theirs: each provider's replies, refusals and failures, in its own bytes.

One module per wire format, each with the same sections: *answers*, *failures*, *refusals*. A provider that
differs is a subclass in a file of its own. Everything is a pure function of a `Ticket`: ids, times and
headers come from the case and the place in the conversation, so that recording twice changes nothing.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import sha512
from typing import Any, ClassVar, Literal, NamedTuple
from zlib import crc32

import orjson

from ...contract.exchange import Json, Request
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, FailureKind, Say, Stop, Think
from ..http.reply import Headers

__all__ = [
    "ALNUM",
    "HEX",
    "NOISE",
    "WRONG_KEY",
    "WRONG_MODEL",
    "Dialect",
    "FailureKind",
    "Frame",
    "Kind",
    "Ticket",
    "arguments",
    "arguments_text",
    "compact",
    "padding",
    "pretty",
    "slices",
    "sse",
    "utf8",
    "words",
]

Kind = Literal["open", "text", "thinking", "call", "arguments", "close", "end"]

#: Any key is taken, save this one: to see what a client makes of the provider's 401.
WRONG_KEY = "wrong-key"

#: Any model answers, save this one and those whose names say that nobody has them.
WRONG_MODEL = "wrong-model"
_NOBODY_HAS = re.compile(
    r"do(es)?-?not-?exist|non-?exist|no-such|not-found|(wrong|invalid|bad)[-_ ]model", re.IGNORECASE
)

HEX = "0123456789abcdef"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NOISE = "tE2vJ9Rr04kpJWJckZ7pYv3YI2E"  # of which paddings are made


class Frame(NamedTuple):
    """One event of a stream in its final bytes. `kind` says what would be lost without it."""

    kind: Kind
    data: bytes


class Ticket(NamedTuple):
    """A request and its place: the `number`-th of its conversation that is answered, from 0.

    `salt` tells places apart that have no conversation to be told apart by.
    """

    request: Request
    case: str
    number: int
    salt: str = ""

    @property
    def seed(self) -> str:
        """What everything random-looking in the reply derives from."""
        request, case, number, salt = self
        return f"{request.wire}/{request.vendor}/{case}/{number}{salt}"

    @property
    def created(self) -> int:
        """Unix time in seconds: three seconds from one answer to the next, on a day of the case's own."""
        return _day(self.case) + 3 * self.number

    def moment(self, form: str) -> str:
        """Returns the same time as text, in `strftime`'s terms."""
        return datetime.fromtimestamp(self.created, UTC).strftime(form)

    def token(self, label: str, length: int, alphabet: str = ALNUM) -> str:
        """`length` (at most 64) characters that look random."""
        digest = sha512(f"{self.seed}/{label}".encode()).digest()[:length]
        return str(digest.translate(_table(alphabet)), "ascii")

    def uuid(self, label: str) -> str:
        """Returns the same in the form of a UUID."""
        digits = self.token(label, 32, HEX)
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@lru_cache(1024)
def _day(case: str) -> int:
    """When the day of a case begins: Unix time in seconds."""
    return 1_767_225_600 + 86_400 * (int.from_bytes(sha512(case.encode()).digest()[:2], "big") % 90)


@cache
def _table(alphabet: str) -> bytes:
    """Returns a letter for each byte."""
    return "".join(alphabet[byte % len(alphabet)] for byte in range(256)).encode("ascii")


class Dialect(ABC):
    """One provider's hand, writing one reply."""

    wire: ClassVar[str]
    vendor: ClassVar[str]
    stops: ClassVar[Mapping[Stop, str]]  # the stop reasons, in their words
    arguments_key: ClassVar[bytes]  # what stands before the first call's arguments in a whole reply
    failures: ClassVar[Mapping[FailureKind, Refusal]]  # the provider's own troubles: status and words
    retry: ClassVar[Mapping[FailureKind, Headers]] = {}  # what their headers say of when to come back
    unknown_model: ClassVar[Refusal]  # what they say of a model that they do not know

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket

    @property
    def asked(self) -> Json:
        """The body of the request."""
        return self.ticket.request.body

    @property
    def model(self) -> str:
        """The name of the model that answers."""
        return self.ticket.request.model

    # answers ----------------------------------------------------------------------------------------------

    @abstractmethod
    def body(self, answer: Answer) -> bytes:
        """Returns the whole reply as it is sent without a stream."""

    @abstractmethod
    def frames(self, answer: Answer) -> Iterator[Frame]:
        """Yields the reply as a stream, terminal marker included."""

    def unended(self, answer: Answer) -> list[Frame]:
        """Returns the same without the terminal marker and the stop reason."""
        return [frame for frame in self.frames(answer) if frame.kind != "end"]

    @abstractmethod
    def headers(self, *, stream: bool) -> Headers:
        """Returns the response headers, content type first."""

    # failures ---------------------------------------------------------------------------------------------

    @abstractmethod
    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Returns what comes in a stream instead of its rest when the provider fails after the frames `before`."""

    # refusals (the error bodies around them are the rule books') ------------------------------------------

    @abstractmethod
    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        """Returns why the provider does not let this client in, if it does not."""

    @abstractmethod
    def no_json(self, detail: str) -> Refusal:
        """Returns the body is not JSON."""

    @abstractmethod
    def no_such(self, method: str, path: str) -> Refusal:
        """Nothing is at this path, or not for this method."""

    def no_model(self, name: str, method: str = "generateContent") -> Refusal | None:
        """Returns what is said of a model that nobody has, if it is one. `method` is what it was asked to do."""
        path = "projects/" + self.ticket.request.url.partition("/projects/")[2].partition(":")[0]
        facts = {"model": name, "method": method, "path": path}
        return self.unknown_model.filled(facts) if _NOBODY_HAS.search(name) else None

    def too_large(self) -> Refusal:
        """Returns the body is larger than any provider takes."""
        return Refusal("Request exceeds the maximum size", 413, "request_too_large")

    def forged(self, *, strict: bool) -> Refusal | None:
        """Returns what the provider says of a signature or a signed text that was changed, if one was.

        Not `strict` lets signatures pass that were not issued here: a real one cannot be checked.
        """
        del strict
        return None


# what a call holds --------------------------------------------------------------------------------------


def arguments_text(call: Call) -> str:
    """Returns the arguments as the JSON text that a model writes."""
    return compact(call.arguments) if call.text is None else call.text


def arguments(call: Call) -> Mapping[str, Any]:
    """Returns the arguments as an object; of a text that is none, what the script says instead."""
    try:
        found = json.loads(call.text or "")
    except ValueError:
        return call.arguments
    return found if isinstance(found, dict) else call.arguments


# pieces ---------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\s*\S+(?:\s+$)?|\s+")


def words(part: Say | Think) -> Sequence[str]:
    """Returns the pieces in which a stream sends text: those of the script, else two words at a time."""
    if isinstance(part, Say) and part.pieces:
        return part.pieces
    found = _WORD.findall(part.text)
    return ["".join(found[i : i + 2]) for i in range(0, len(found), 2)]


def slices(text: str) -> Iterator[str]:
    """Yields the pieces in which a stream sends arguments: they end inside keys and values, never inside a
    letter.
    """
    start, turn = 0, 0
    while start < len(text):
        size = (2, 5, 3, 8, 4)[turn % 5]
        yield text[start : start + size]
        start, turn = start + size, turn + 1


def padding(text: str, letters: str) -> str:
    """Returns the first of some letters, at least two, as many as chance has it: the same for the same text."""
    return letters[: 2 + crc32(utf8(text)) % (len(letters) - 1)]


# bytes ----------------------------------------------------------------------------------------------------

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def compact(value: Any) -> str:
    """JSON without a space."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return _compact(value)


def pretty(value: Any) -> bytes:
    """JSON over many lines, indented by two, with a line end."""
    try:
        return orjson.dumps(value, option=_PRETTY)
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return utf8(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def sse(data: str, event: str = "") -> bytes:
    """Returns a server-sent event."""
    return utf8(f"event: {event}\ndata: {data}\n\n" if event else f"data: {data}\n\n")


def utf8(text: str) -> bytes:
    """JSON text as UTF-8; half a surrogate pair, which an echo of a request may hold, becomes an escape."""
    return text.encode("utf-8", "backslashreplace")
