"""Converts neutral values to each provider's replies, refusals and failures, in its own bytes.

There is one module for each wire format, with the same sections: *answers*, *failures*, *refusals*. A provider that
differs is a subclass in its own file. All results are pure functions of a `Ticket`: ids, times and headers come from
the case and the position in the conversation, so that a second recording has the same bytes.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha512
from typing import Any, ClassVar, Literal, NamedTuple
from zlib import crc32

import orjson

from ellmer_core.base.budget import remembered

from ...contract.observed.exchange import Json, Request
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, FailureKind, Refuse, Run, Said, Say, Search, Stop, Think
from ..http.messages import Headers

__all__ = [
    "ALNUM",
    "EXTRAS",
    "HEX",
    "NOISE",
    "WRONG_KEY",
    "WRONG_MODEL",
    "ChatApi",
    "FailureKind",
    "Frame",
    "Kind",
    "Ticket",
    "arguments",
    "arguments_text",
    "chosen_candidates",
    "compact",
    "compact_bytes",
    "log_probabilities",
    "of_tokens",
    "padding",
    "pretty",
    "slices",
    "sse",
    "utf8",
    "words",
]


#: The contents besides texts, reasoning and calls, which only some formats have.
EXTRAS = ("citations", "search", "code", "image", "audio", "refusal", "choices")

Kind = Literal["open", "text", "thinking", "call", "arguments", "close", "end"]

#: Any key is taken, save this one: to see what a client makes of the provider's 401.
WRONG_KEY = "wrong-key"

#: Every model answers except this one, and except those with names that mean "unknown".
WRONG_MODEL = "wrong-model"
_NOBODY_HAS = re.compile(
    r"do(es)?-?not-?exist|non-?exist|no-such|not-found|(wrong|invalid|bad)[-_ ]model", re.IGNORECASE
)

HEX = "0123456789abcdef"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NOISE = "tE2vJ9Rr04kpJWJckZ7pYv3YI2E"  # of which paddings are made


class Frame(NamedTuple):
    """One event of a stream in its final bytes. `kind` says which part of the answer it carries."""

    kind: Kind
    data: bytes


class Ticket(NamedTuple):
    """A request and its position: the `number`-th answered one of its conversation, from 0.

    `salt` distinguishes positions that have no conversation.
    """

    request: Request
    case: str
    number: int
    salt: str = ""

    @property
    def seed(self) -> str:
        """The seed of all random-looking values in the reply."""
        request, case, number, salt = self
        return f"{request.wire}/{request.provider}/{case}/{number}{salt}"

    @property
    def created(self) -> int:
        """The Unix time in seconds: three seconds between answers, on a day of the case's own."""
        return _day(self.case) + 3 * self.number

    def moment(self, form: str) -> str:
        """Returns the time as text, by a format of `strftime`."""
        return datetime.fromtimestamp(self.created, UTC).strftime(form)

    def token(self, label: str, length: int, alphabet: str = ALNUM) -> str:
        """Returns `length` (at most 64) characters that look random."""
        request, case, number, salt = self  # the seed, without a call: each reply has some tokens
        seed = f"{request.wire}/{request.provider}/{case}/{number}{salt}/{label}"
        digest = sha512(seed.encode()).digest()[:length]
        return str(digest.translate(_table(alphabet)), "ascii")

    def uuid(self, label: str) -> str:
        """Returns random-looking characters in the form of a UUID."""
        digits = self.token(label, 32, HEX)
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@remembered(1024)
def _day(case: str) -> int:
    """Returns the beginning of a case's day in Unix time."""
    return 1_767_225_600 + 86_400 * (int.from_bytes(sha512(case.encode()).digest()[:2], "big") % 90)


@cache
def _table(alphabet: str) -> bytes:
    """Returns a table of a letter for each byte."""
    return "".join(alphabet[byte % len(alphabet)] for byte in range(256)).encode("ascii")


class ChatApi(ABC):
    """The api of one provider, which writes one reply."""

    wire: ClassVar[str]
    provider: ClassVar[str]
    stops: ClassVar[Mapping[Stop, str]]  # the stop reasons, in their words
    arguments_key: ClassVar[bytes]  # the bytes before the first call's arguments in a whole reply
    failures: ClassVar[Mapping[FailureKind, Refusal]]  # the provider's own troubles: status and words
    retry: ClassVar[Mapping[FailureKind, Headers]] = {}  # what their headers say of when to come back
    unknown_model: ClassVar[Refusal]  # the error for an unknown model
    carries: ClassVar[frozenset[str]] = frozenset()  # the `EXTRAS` that its answers have a place for

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

    def missing(self, answer: Answer) -> list[str]:
        """Returns the contents of an answer that the format has no place for."""
        if not answer.others and all(
            isinstance(part, Call | Think) or _is_plain(part) for part in answer.parts
        ):
            return []
        return [extra for extra in EXTRAS if extra in extras_of(answer) - self.carries]

    @abstractmethod
    def body(self, answer: Answer) -> bytes:
        """Returns the whole reply without a stream."""

    @abstractmethod
    def frames(self, answer: Answer) -> Iterator[Frame]:
        """Yields the reply as a stream, with its end marker."""

    def unended(self, answer: Answer) -> list[Frame]:
        """Returns the stream without its end marker and stop reason."""
        return [frame for frame in self.frames(answer) if frame.kind != "end"]

    @abstractmethod
    def headers(self, *, stream: bool) -> Headers:
        """Returns the response headers, with the content type first."""

    # failures ---------------------------------------------------------------------------------------------

    @abstractmethod
    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields the rest of a stream if the provider fails after the frames `before`."""

    def error_body(self, kind: FailureKind, body: bytes) -> bytes:  # noqa: ARG002 - Gemini uses it
        """Returns the body of an error with what the provider says of this kind of failure beside its words."""
        return body

    # refusals (the error bodies around them are the rule books') ------------------------------------------

    @abstractmethod
    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        """Returns the error for a client without a valid key, or `None`."""

    @abstractmethod
    def no_json(self, detail: str) -> Refusal:
        """Returns the error for a body that is not JSON."""

    @abstractmethod
    def no_such(self, method: str, path: str) -> Refusal:
        """Returns the error for an unknown path or a wrong method."""

    def no_model(self, name: str, method: str = "generateContent") -> Refusal | None:
        """Returns the error for an unknown model, or `None`. `method` is the requested operation."""
        if not _NOBODY_HAS.search(name):
            return None
        path = "projects/" + self.ticket.request.url.partition("/projects/")[2].partition(":")[0]
        return self.unknown_model.filled({"model": name, "method": method, "path": path})

    def too_large(self) -> Refusal:
        """Returns the error for a body that is larger than any provider accepts."""
        return Refusal("Request exceeds the maximum size", 413, "request_too_large")

    def forged(self, *, strict: bool) -> Refusal | None:
        """Returns the provider's error for a changed signature or signed text, or `None`.

        If it is not `strict`, foreign signatures pass, because real ones cannot be checked.
        """
        del strict
        return None


# what an answer holds ------------------------------------------------------------------------------------


def _is_plain(part: Said) -> bool:
    return isinstance(part, Say) and not part.sources


def extras_of(answer: Answer) -> frozenset[str]:
    """Returns which `EXTRAS` an answer has."""
    kinds = {"search": Search, "code": Run}
    found = {name for name, kind in kinds.items() if any(isinstance(part, kind) for part in answer.parts)}
    found |= {"image" if each.type.startswith("image/") else "audio" for each in answer.shown}
    found |= {"citations" for part in answer.parts if isinstance(part, Say) and part.sources}
    found |= {name for name, has in (("refusal", answer.refusal), ("choices", answer.others)) if has}
    return frozenset(found).union(*map(extras_of, answer.others))


# what a call holds --------------------------------------------------------------------------------------


def arguments_text(call: Call) -> str:
    """Returns the arguments as the JSON text that a model writes."""
    return compact(call.arguments) if call.text is None else call.text


def arguments(call: Call) -> Mapping[str, Any]:
    """Returns the arguments as an object. If their text is not JSON, it is the script's object."""
    try:
        found = json.loads(call.text or "")
    except ValueError:
        return call.arguments
    return found if isinstance(found, dict) else call.arguments


# pieces ---------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\s*\S+(?:\s+$)?|\s+")


def words(part: Say | Think | Refuse) -> Sequence[str]:
    """Returns the pieces in which a stream sends text: those of the script, or two words at a time."""
    if isinstance(part, Say) and part.pieces:
        return part.pieces
    found = _WORD.findall(part.text)
    return ["".join(found[i : i + 2]) for i in range(0, len(found), 2)]


def slices(text: str) -> Iterator[str]:
    """Yields the pieces in which a stream sends arguments. They end inside keys and values, never inside a character."""
    start, turn = 0, 0
    while start < len(text):
        size = (2, 5, 3, 8, 4)[turn % 5]
        yield text[start : start + size]
        start, turn = start + size, turn + 1


def padding(text: str, letters: str) -> str:
    """Returns a random-looking number of letters, at least two. It is the same for the same text."""
    return letters[: 2 + crc32(utf8(text)) % (len(letters) - 1)]


# bytes ----------------------------------------------------------------------------------------------------

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def compact(value: Any) -> str:
    """Returns JSON without spaces."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return _compact(value)


def compact_bytes(value: Any) -> bytes:
    """Returns JSON without spaces, as UTF-8."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return utf8(_compact(value))


def pretty(value: Any) -> bytes:
    """Returns JSON with an indentation of two and a line end."""
    try:
        return orjson.dumps(value, option=_PRETTY)
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return utf8(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def sse(data: str, event: str = "") -> bytes:
    """Returns a server-sent event."""
    return utf8(f"event: {event}\ndata: {data}\n\n" if event else f"data: {data}\n\n")


def utf8(text: str) -> bytes:
    """Returns JSON text as UTF-8. A lone surrogate, which may come from the request, becomes an escape."""
    return text.encode("utf-8", "backslashreplace")


# --- log probabilities -----------------------------------------------------------------------------------


def log_probabilities(text: str, alternatives: int = 0) -> list[Json]:
    """Returns each token of a text with its log probability, and the requested number of `alternatives`."""
    return [_token(piece, alternatives) for piece in words(Say(text))]


def chosen_candidates(text: str, alternatives: int = 0) -> Json:
    """Returns the log probabilities of a text in the form of Gemini."""
    pieces = words(Say(text))
    return {
        "topCandidates": [
            {"candidates": [_candidate(*each) for each in _ranked(piece, alternatives)]} for piece in pieces
        ],
        "chosenCandidates": [_candidate(piece, 0.0) for piece in pieces],
    }


def of_tokens(text: str) -> list[Json]:
    """Returns the log probabilities of a text in the form of Cohere."""
    return [{"text": piece, "token_ids": [_id(piece)], "logprobs": [0]} for piece in words(Say(text))]


def _ranked(piece: str, alternatives: int) -> list[tuple[str, float]]:
    """Returns a token and the next likely ones."""
    return [(piece if not rank else f"{piece}{rank}", -9.0 * rank) for rank in range(alternatives)]


def _candidate(token: str, probability: float) -> Json:
    return {"token": token, "tokenId": _id(token), "logProbability": probability}


def _id(token: str) -> int:
    return crc32(token.encode()) % 200_000


def _token(piece: str, alternatives: int) -> Json:
    others = [_probability(*each) for each in _ranked(piece, alternatives)]
    return {**_probability(piece, 0.0), "top_logprobs": others}


def _probability(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
