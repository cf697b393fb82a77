"""Looks for secrets in a cassette, by value, by pattern and by name. Findings name the place, not the secret.

A finding has a fingerprint, eight hex digits of a hash, which can be used to accept it.

The content of an encoded string is searched like the string itself, some layers deep: URL-encoding, escapes, JSON in a
string, base64 at any offset, gzip. Equal strings are searched once, and all in one call, because conversations repeat
themselves and each call is expensive. All tokens are decoded at once for the same reason: most long words of a
conversation are random ids, which decode to unreadable bytes at each of the four offsets.
"""

from __future__ import annotations

import html
import json
import re
import zlib
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from itertools import accumulate, chain
from typing import Any, NamedTuple, get_args
from urllib.parse import unquote

from pydantic_core import from_json

from ellmer_core.base.budget import RECORDING, has_more_values
from ellmer_core.base.forks import cached_property

from ..format.compression import archived_part, undo, unzipped_part
from ..format.json_text import Laid, LaidBody, compact, in_ascii, searcher
from ..format.uniform_events import Uniform
from .evidence import Evidence, evidence, evidence_of_login
from .json_strings import (
    FLAT,
    NUMBERS,
    Location,
    has_only_numbers,
    in_binary,
    only,
    parsed,
    places,
    pointer,
    readable,
    strings,
)
from .multi_word_search import Spans, all_spans
from .named_credentials import (
    NAMED,
    credential,
    is_of_a_visitor,
    kind,
    literals,
    named,
    without_visitors,
)
from .quick_search import (
    ENTITY,
    LAYERS,
    has_key,
    has_name,
    has_nothing,
    layers,
    unquoted,
    utf8,
    without_controls,
)
from .random_values import LEAST, drawn
from .redaction import MASK, has_escaped_letters, letter_by_letter, spellings
from .service_keys import has_rules, keys, maintained, runs
from .tables import in_inserts, in_tables

# --- Findings --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """`where` is a JSON pointer or a file name, `what` the kind of secret, and `evidence` why it is taken for one."""

    where: str
    what: str
    fingerprint: str
    evidence: Evidence = "form"

    def __str__(self) -> str:
        return f"{self.where}: {self.what} (fingerprint {self.fingerprint})"


def scan(value: Any, secrets: Iterable[tuple[str, str]] = (), where: str = "") -> Iterator[Finding]:
    """Yields the findings in a JSON value or in bytes. `secrets` are (value, name) pairs to look for."""
    yield from _findings(search(value, _labelled(secrets), where))


def _findings(hits: Iterable[Hit]) -> Iterator[Finding]:
    """Yields one finding for a secret at a place, however many rules know it: that with the best evidence."""
    found: dict[tuple[str, str], Finding] = {}
    for hit in _told_once(hits):
        mark = fingerprint(hit.secret)
        for at in hit.pointers:
            known = found.get((at, mark))
            if not known or _EVIDENCE.index(hit.evidence) < _EVIDENCE.index(known.evidence):
                found[at, mark] = Finding(at, hit.what, mark, hit.evidence)
    yield from found.values()


_EVIDENCE = get_args(Evidence)
_APART = re.compile(r"[\s;,]+")


def _told_once(hits: Iterable[Hit]) -> list[Hit]:
    """Returns the hits without those that have only the secrets of others at the same place, and their names or schemes: `Bearer KEY`."""
    every = [*hits]
    secrets = defaultdict[str, set[str]](set)
    for hit in every:
        for at in hit.pointers:
            secrets[at].add(hit.secret)
    return [hit for hit in every if not (hit.what == NAMED and _repeats(hit, secrets))]


def _repeats(hit: Hit, secrets: Mapping[str, set[str]]) -> bool:
    pieces = [
        piece
        for word in _APART.split(hit.secret)
        for piece in (word, word.partition("=")[2], word.partition("/")[0])
    ]
    others = set(pieces).intersection(*(secrets[at] for at in hit.pointers)) - {hit.secret}
    rest = hit.secret
    for other in sorted(others, key=len, reverse=True):
        rest = rest.replace(other, "")
    return bool(others) and not credential("secret", rest)


def _labelled(secrets: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(secret, f"the value of {name}") for secret, name in secrets]


def scan_written(
    value: Any, laid: Laid, secrets: Sequence[tuple[str, str]] = (), where: str = ""
) -> Iterator[Finding]:
    """Yields what `scan` finds in a JSON value that is about to be written. The value is searched only if its text may hold a secret.

    Args:
        value: The value. Streams in it may be a `Uniform`.
        laid: The JSON of the value.
        secrets: (value, name) pairs to look for.
        where: The place of the value in the cassette.
    """
    bodies = {side: value.get(side, {}).get("body") for side in ("request", "response")}
    large = {side: body for side, body in bodies.items() if isinstance(body, LaidBody)}
    rest = {
        **value,
        **{side: {**value[side], "body": None} for side in large},
    }  # large bodies are searched alone
    said = compact(rest).encode(errors="surrogatepass") if large else laid.text
    for body in bodies.values():
        if isinstance(body, Uniform):
            said = body.shortened(said)
    if may_hold(said, secrets) or any(may_hold(body.source, secrets, body.plain) for body in large.values()):
        yield from scan(from_json(laid.text), secrets, where)
        return
    for side, body in bodies.items():
        if isinstance(body, LaidBody):
            body = {"json": body.value}  # noqa: PLW2901  # what it is written from
        if isinstance(body, Uniform) or (isinstance(body, dict) and _may_be_events(body)):
            yield from _findings(_over_events({"body": body}, f"{where}/{side}", _labelled(secrets)))


def may_hold(text: bytes, secrets: Iterable[tuple[str, str]] = (), plain: str = "") -> bool:
    """Tells whether `scan` may find something in a value with this JSON text. Values that are split over events are not searched.

    Args:
        text: The JSON of the value.
        secrets: (value, name) pairs to look for.
        plain: The text in ASCII, as `in_ascii` returns it. Default: `""`, it is made.
    """
    if has_rules():
        return True
    values = [secret for secret, _ in secrets]
    forms = {form for value in values for form in spellings(value)}
    if any(utf8(form) in text for form in forms):
        return True
    if not all(map(str.isascii, values)) and any(mark in text for mark in (b"\\\\", b"%", b"&")):
        return True  # below, no letters beyond ASCII are left
    encoded = [value.encode("utf-8", "replace") for value in values]
    return any(_holds(layer, forms, encoded) for layer in layers(plain or in_ascii(text)))


def _holds(text: str, forms: Iterable[str], encoded: Sequence[bytes]) -> bool:
    """Tells whether there may be a secret in one layer of a JSON text. Keys and base64 are long words, and most words are short."""
    if any(form in text for form in forms):
        return True
    if _is_none_base64()(text) and has_nothing(text):
        return False
    text = without_controls(text)
    if has_name(text):
        return True
    words = b"\n".join(dict.fromkeys(runs(text.encode("ascii"), _IN_WORD, LEAST)))
    return bool(words) and (has_key(words.decode("ascii")) or _encodes(words, encoded))


def _encodes(words: bytes, secrets: Sequence[bytes]) -> bool:
    """Tells whether there may be base64 in words that a search decodes."""
    if _is_none_base64()(words.decode("ascii")):
        return False
    found = dict.fromkeys(runs(words, _IN_TOKEN, _LEAST_TOKEN))
    tokens = [word.decode() for word in found if not _HEX_BYTES.fullmatch(word)]
    return any(True for _ in worth_decoding(tokens, secrets))


@cache
def _is_none_base64() -> Callable[[str], bool]:
    """Returns a function that tells whether a text has no base64: each word is short, a number or an id."""
    part, between = (
        f"(?:{_HEX.pattern}|[A-Za-z0-9+/_-]{{0,{_LEAST_TOKEN - 1}}})",
        r"[\x00-\x7f--[A-Za-z0-9+/_-]]",
    )
    return searcher(rf"\A(?:{part}{between})*{part}\z")


def masks(value: Any, accepted: Collection[str] = ()) -> dict[str, str]:
    """Returns the values to mask, each with its replacement, so that `scan` finds only accepted values. They
    are the secrets and the base64 that contains one.
    """
    found = _told_once(search(value))
    left = {hit.holder or hit.secret for hit in found if fingerprint(hit.secret) not in accepted}
    return dict.fromkeys(sorted(left, key=len, reverse=True), MASK)


def fingerprint(secret: str) -> str:
    """Returns eight hex digits that identify a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]


# --- The search, layer by layer --------------------------------------------------------------------------


_SEPARATOR = b"\n\0\n"
_LONGEST_FORM = 100_000
_IN_WORD = bytes(code < 128 and (chr(code).isalnum() or chr(code) in "_.+/=~:-") for code in range(256))
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}+={0,2}")
_HEX = re.compile(r"(?:[a-z]{2,9}_)?[0-9a-fA-F-]+")  # an id, with what it is an id of: `msg_…`
_HEX_BYTES = re.compile(_HEX.pattern.encode())
_LEAST_TOKEN = 24  # characters of base64
_IN_TOKEN = bytes(code < 128 and (chr(code).isalnum() or chr(code) in "+/_-") for code in range(256))
_FORM = re.compile(r"[\w.%+*\[\]~-]+=[^\s&=]*(&[^\s&=]+=[^\s&=]*)*")
_JSON = frozenset("[{ \t\r\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000")  # and the spaces before it
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_HEX_TEXT = re.compile(r"(?:[2-7][0-9a-fA-F]|0[9aAdD]){16,}")  # printable characters, two digits each


class Hit(NamedTuple):
    """`holder` is the base64 that hides the secret, or `""`."""

    pointers: Sequence[str]
    what: str
    secret: str
    holder: str
    evidence: Evidence = "form"


def _nowhere(_: str) -> Sequence[_Part]:
    return ()


@dataclass(eq=False, slots=True)
class _Part:
    """A text to search. It is in the value at `at`, or it is encoded in `token` of one of the parts `among`."""

    text: str
    key: str = ""
    at: Callable[[], dict[tuple[str, str], list[Location]]] | None = None
    among: Callable[[str], Sequence[_Part]] = _nowhere
    token: str = ""
    holder: str = ""

    def places(self) -> list[str]:
        """Returns the places of the part in the value."""
        found = (
            map(pointer, self.at()[self.key, self.text])
            if self.at
            else (place for part in self.among(self.token) for place in part.places())
        )
        return list(dict.fromkeys(found))


def search(
    value: Any, secrets: Sequence[tuple[str, str]] = (), where: str = "", *, rules: bool = True
) -> Iterator[Hit]:
    """Yields all hits. `secrets` are values to look for, each with its kind. With `rules`, the maintained rule
    set is used, too.
    """
    yield from _over_events(value, where, secrets)
    at, known = cache(lambda: places(value, where)), _known(tuple(secrets))
    parts = [
        _Part(text, key, at)
        for key, text in strings(value)
        if text and not ("nel." in text and _REPORTS.match(text)) and not _is_challenge(text)
    ]
    for layer in range(LAYERS):
        if parts:
            texts = [part.text.encode("utf-8", "replace") for part in parts]
            whole = _SEPARATOR.join(texts)
            words = [*_words(whole)]
            found = [(secret, what) for what, secret in keys(words)]
            for hit in _by_value(parts, whole, known.in_each_spelling):
                yield hit._replace(secret=known.value_of[hit.secret])
            for each in (found, maintained(whole) if rules else ()):
                yield from _by_value(parts, whole, [*dict.fromkeys(each)])
            yield from _by_name(parts, whole, texts)
            parts = _unwrapped(parts, words, secrets, first=layer == 0)


#: A header that says where browsers report errors, such as `report-to`. What is signed in its URL opens nothing.
_REPORTS = re.compile(r"[^\s]{0,90}https://(?:\w+\.)?nel\.\w+\.com/reports?\b\S{0,600}$")


_CHALLENGE = re.compile(r"[A-Za-z][\w-]{0,30} realm=")
_ANSWERS = ("username", "response", "oauth_", "password")


def _is_challenge(text: str) -> bool:
    """Tells whether a text is a `WWW-Authenticate` header. Its ids and nonces are made for whoever asks."""
    return bool(_CHALLENGE.match(text)) and not any(each in text for each in _ANSWERS)


def _by_value(parts: Sequence[_Part], whole: bytes, secrets: Sequence[tuple[str, str]]) -> Iterator[Hit]:
    if len(secrets) > _MANY:
        known = _Known(secrets)
        for part in parts:
            for secret, what in known.present(part.text):
                yield Hit(part.places(), what, secret, part.holder)
        return
    for secret, what in secrets:
        if secret.encode("utf-8", "replace") in whole:
            yield from (
                Hit(part.places(), what, secret, part.holder, _evidence_beside(what, secret, part.text))
                for part in parts
                if secret in part.text
            )


def _evidence_beside(what: str, secret: str, text: str) -> Evidence:
    """Returns what tells that a text has a secret. In a signed link, the id of a key and its token are of who signed it."""
    of_a_link = "AWS" in what and any(f"{name}={secret}" in text for name in ("Credential", "KeyId", "Token"))
    return "place" if of_a_link else "form"


_MANY = 200  # values, of which each is searched in all texts; more are searched at once


class _Known:
    """Values to look for, each with its kind. What is needed to find them is made once, however many texts are searched."""

    def __init__(self, values: Sequence[tuple[str, str]]) -> None:
        self.values = values

    @cached_property
    def _kinds(self) -> dict[str, list[str]]:
        kinds = defaultdict[str, list[str]](list)
        for secret, what in self.values:
            kinds[secret].append(what)
        return kinds

    @cached_property
    def _spans(self) -> Callable[[str], Spans]:
        return all_spans(self._kinds)

    def present(self, text: str) -> list[tuple[str, str]]:
        """Returns the values that are in a text, with their kinds. Of many that begin at one place, it is the longest one."""
        if len(self.values) <= _MANY:
            return [(secret, what) for secret, what in self.values if secret in text]
        found = dict.fromkeys(text[start:end] for start, end in self._spans(text))
        return [(secret, what) for secret in found for what in self._kinds[secret]]

    def in_any_form(self, text: str) -> list[tuple[str, str]]:
        """Returns the forms of values that are in a text, with the kinds of the values."""
        if not self.values:
            return []
        return (self._spelled_by_letter if has_escaped_letters(text) else self._spelled).present(text)

    @cached_property
    def in_each_spelling(self) -> list[tuple[str, str]]:
        """The values in all spellings."""
        forms = [(form, what) for secret, what in self.values for form in spellings(secret)]
        return [*dict.fromkeys(forms)]

    @cached_property
    def value_of(self) -> dict[str, str]:
        """The value that each spelling is of."""
        return {form: secret for secret, _ in self.values for form in spellings(secret)}

    @cached_property
    def _spelled(self) -> _Known:
        """The values in all spellings, and in Base64 if nothing else is encoded with them."""
        encoded = [(b64encode(utf8(secret)).decode().rstrip("="), what) for secret, what in self.values]
        return _Known([*self.in_each_spelling, *encoded])

    @cached_property
    def _spelled_by_letter(self) -> _Known:
        """The same, and the values with each letter escaped."""
        letters = [(form, what) for secret, what in self.values for form in letter_by_letter(secret)]
        return _Known([*self._spelled.values, *letters])


@lru_cache(maxsize=4)
def _known(values: tuple[tuple[str, str], ...]) -> _Known:
    return _Known(values)


def _by_name(parts: Sequence[_Part], whole: bytes, texts: Sequence[bytes]) -> Iterator[Hit]:
    starts = [0, *accumulate(len(text) + len(_SEPARATOR) for text in texts)]
    # One character a byte: much faster than letters of all alphabets, and places are the same in both.
    text = whole.decode("latin-1")
    for what, found, at, name in named(text, whole.lower().decode("latin-1")):
        part = parts[bisect_right(starts, at) - 1]
        if is_of_a_visitor(f"{name}={found}") and any("cookie" in each.lower() for each in part.places()):
            continue
        secret = found.encode("latin-1").decode("utf-8", "replace")
        of_form = evidence_of_login(found, text[max(0, at - 90) : at]) if what in _LOGINS else "form"
        yield Hit(part.places(), what, secret, part.holder, evidence(name, secret) if name else of_form)
    for part in parts:
        if part.key and credential(kind(part.key), _of_users(part)) and not _names_a_thing(part):
            secret = _without_scheme(part.text)
            yield Hit(part.places(), NAMED, secret, part.holder, evidence(part.key, secret))
        # Most texts have no literals and no lines.
        for name, secret in literals(part.text) if ":" in part.text and '"' in part.text else ():
            yield Hit(part.places(), NAMED, secret, part.holder, evidence(name, secret))
        for secret in in_tables(part.text) if "\n" in part.text else ():
            yield Hit(part.places(), NAMED, secret, part.holder, "place")
        for secret in in_inserts(part.text) if "(" in part.text and "'" in part.text else ():
            yield Hit(part.places(), NAMED, secret, part.holder, "place")


_LOGINS = ("a login", "a password in a URL")


def _without_scheme(text: str) -> str:
    """Returns the key of a header such as `token KEY`, or the whole text if it is none."""
    scheme, _, rest = text.partition(" ")
    return rest if scheme.isalpha() and drawn(rest) else text


def _of_users(part: _Part) -> str:
    """Returns the text under a name, without the cookies that every visitor gets."""
    return without_visitors(part.text) if "cookie" in part.key.lower() else part.text


def _names_a_thing(part: _Part) -> bool:
    """Tells whether a text repeats its name (`"resetPassword": "ResetPassword"`), or is the `…-session-id` of an answer, with an id that no
    request has as this header, or its `x-app-key`. They only number the session, and name the application.
    """
    if _LETTERS_ONLY.sub("", part.text).lower() == _LETTERS_ONLY.sub("", part.key).lower():
        return True
    name = part.key.lower().removeprefix("x-")
    if name in ("app-key", "session-id"):
        beside = "/response/"
    elif name.endswith(("session-id", "-sessionid")):
        beside = "/response/headers/"
    else:
        return False
    named = name == "app-key" or _SESSION_NUMBER.fullmatch(part.text)
    return bool(named) and all(beside in place for place in part.places())


_SESSION_NUMBER = re.compile(rf"{_HEX.pattern}(?:_[0-9a-fA-F]+)?")


_LETTERS_ONLY = re.compile(r"[^A-Za-z]")


def _words(text: bytes) -> dict[str, None]:
    """Returns the distinct long words in order."""
    return dict.fromkeys(word.decode("ascii") for word in runs(text, _IN_WORD, LEAST))


def _unwrapped(
    parts: Sequence[_Part], words: Sequence[str], secrets: Sequence[tuple[str, str]], *, first: bool
) -> list[_Part]:
    """Returns the next layer: the texts that are encoded in the parts."""
    found: dict[tuple[str, str], _Part] = {}
    for part in parts:
        for key, text in _plain(part.text, first=first) if _may_hide(part.text) else ():
            found.setdefault((key, text), _Part(text, key, among=_only_in(part), holder=part.holder))
    found_tokens = dict.fromkeys(token for word in words for token in _BASE64.findall(word))
    tokens = [token for token in found_tokens if not _HEX.fullmatch(token)]
    among = _holders(parts)
    known = _known(tuple(secrets))
    for token in filter(_HEX_TEXT.fullmatch, found_tokens):
        text = bytes.fromhex(token[: len(token) // 2 * 2]).decode("ascii", "replace")
        found.setdefault((token, text), _Part(text, among=among, token=token, holder=token))
    for token in worth_decoding(tokens, [secret.encode() for secret, _ in secrets]):
        for key, text in _decoded(token, known):
            found.setdefault((token, text), _Part(text, key, among=among, token=token, holder=token))
    return [*found.values()]


def _only_in(part: _Part) -> Callable[[str], Sequence[_Part]]:
    return lambda _: (part,)


def _holders(parts: Sequence[_Part]) -> Callable[[str], Sequence[_Part]]:
    """Returns a function that returns the parts with a token. They are sorted by it when it is called first."""

    @cache
    def sorted_by_token() -> dict[str, list[_Part]]:
        found = defaultdict[str, list[_Part]](list)
        for part in parts:
            words = _words(part.text.encode("utf-8", "replace"))
            for token in dict.fromkeys(token for word in words for token in _BASE64.findall(word)):
                found[token].append(part)
        return found

    return lambda token: sorted_by_token().get(token, ())


def _may_hide(text: str) -> bool:
    """Tells whether a text begins like JSON, or has a mark of another encoding."""
    return text[:1] in _JSON or any(mark in text for mark in "%\\+&")


def _plain(text: str, *, first: bool) -> Iterator[tuple[str, str]]:
    """Yields the name and text of the content of a string, one layer below: JSON, URL-encoding, escapes."""
    if len(text) < 8:
        return
    if (value := parsed(text.strip() if first else text)) is not None:
        yield from strings(value)
        return
    if "%" in text and (plain := unquoted(text)) != text:
        yield "", plain
    if "\\" in text:
        yield "", _ESCAPE.sub(_letter, text)
    if ENTITY.search(text):
        yield "", html.unescape(text)
    if "+" in text and "=" in text and len(text) < _LONGEST_FORM and _FORM.fullmatch(text):
        yield "", unquote(text.replace("+", " "))


def _letter(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else escape[3]


_RATIO = 100
_PACKED = (b"\x1f\x8b", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"\x28\xb5", b"PK")  # gzip, zlib, zstd, ZIP


def _decoded(token: str, known: _Known) -> Iterator[tuple[str, str]]:
    """Yields the texts that may be encoded in a token, with their names if they have one."""
    whole_token = plain(token)
    for offset in range(4):
        part = whole_token[offset:]
        whole = len(part) // 4 * 4
        data = b64decode(part[:whole] + (part[whole:] + "==")[:4] * (len(part) % 4 > 1))
        if data[:2] in _PACKED:
            yield from (("", text) for text in readable(_unpacked(data)))
        texts = [*readable(data)]
        yield from in_binary(data)
        yield from (("", text) for text in texts)
        yield from (("", secret) for secret, _ in known.present(data.decode("utf-8", "replace")))
        if offset == 0 and len(texts) == 1 and len(texts[0]) >= len(data) // 2:
            return  # this is how it was meant


def _unpacked(data: bytes) -> bytes:
    """Returns what gzip, zlib or zstd contains, some layers deep, up to a hundred times its size: more is a bomb and no text."""
    most = _RATIO * len(data)
    for _ in range(LAYERS):
        if data[:2] in _PACKED:
            data = _once_unpacked(data, most) or data
    return data


def _once_unpacked(data: bytes, most: int) -> bytes:
    with suppress(Exception):  # the codec's own error, or a bomb
        if data.startswith(b"\x1f\x8b"):
            return unzipped_part(data, most)
        if data.startswith(b"PK"):
            return archived_part(data, most)
        return (
            undo(data, "zstd")
            if data.startswith(b"\x28\xb5")
            else zlib.decompressobj(15).decompress(data, most)
        )
    return b""


# --- Keys that are split over several events of a stream -----------------------------------------------------


_DEEPEST = 40
_EVENTS = ("sse", "ndjson", "eventstream")
#: Bodies that may be a stream all the same: its lines end with CR, it is not UTF-8, or it was cut within a letter.
_UNREAD = ("text", "base64")
_EVENTS_IN = frozenset((*_EVENTS, *_UNREAD, "reads"))
_LINE_ENDS = bytes.maketrans(b"\r\x1e", b"\n\n")  # a sequence of JSON texts has a separator before each
_LINE = re.compile(rb"^\{.*\}[ \t]*$", re.MULTILINE)
_EVENT = re.compile(rb"(?:^data:[^\n]*\n?)+", re.MULTILINE)
_DATA = re.compile(rb"^data:[ \t]*([^\n]*)", re.MULTILINE)


def _may_be_events(body: dict[str, Any]) -> bool:
    return not _EVENTS_IN.isdisjoint(body) or isinstance(body.get("json"), list)


def _over_events(value: Any, where: str, secrets: Sequence[tuple[str, str]]) -> Iterator[Hit]:
    """Yields the keys that no event has as a whole: the texts of the events' equal fields are joined first. Values are looked for in
    each spelling, because no part of one is decoded.
    """
    known = _known(tuple(secrets))
    for place, events in _streams(value, where):
        is_array = place[1] == "json"  # of anything: only values that are known are no chance
        if is_array and not known.values:
            continue
        if isinstance(events, Uniform):
            if not _may_be_split(events.samples, known):
                continue
            events = events.form()["sse"]  # noqa: PLW2901  # its events from here on
        at = pointer(place)
        split = dict(_columns(events, ""))
        wholes = {path: "".join(texts) for path, texts in split.items()}
        whole = _SEPARATOR.join(each.encode("utf-8", "replace") for each in wholes.values())
        found = keys(_words(whole)) if not is_array and has_key(in_ascii(whole)) else ()
        keys_found = _Known([(secret, what) for what, secret in found])
        for path, texts in split.items():
            wanted = [*keys_found.present(wholes[path]), *known.in_any_form(wholes[path])]
            for secret, what in dict.fromkeys(wanted):
                if not any(secret in text for text in texts):
                    yield Hit([f"{at}{path}"], f"{what}, over several events", secret, "")
        if not is_array:
            yield from _named_over_events(at, split, wholes)


def _named_over_events(
    at: str, split: Mapping[str, Sequence[str]], wholes: Mapping[str, str]
) -> Iterator[Hit]:
    """Yields the credentials with a name, such as those in the arguments of a tool, that no event has as a whole."""
    if not has_name(in_ascii(utf8(compact([*wholes.values()])))):
        return
    for path, texts in split.items():
        data = wholes[path].encode("utf-8", "replace")
        for what, found, _, name in named(data.decode("latin-1"), data.lower().decode("latin-1")):
            secret = found.encode("latin-1").decode("utf-8", "replace")
            if not any(secret in text for text in texts):
                why = evidence(name, secret) if name else "form"
                yield Hit([f"{at}{path}"], f"{what}, over several events", secret, "", why)


def _may_be_split(events: Sequence[Any], known: _Known) -> bool:
    """Tells whether the joined texts of events may hold a key, a credential with a name, or a secret."""
    split = dict(_columns(events, ""))
    wholes = {path: "".join(texts) for path, texts in split.items()}
    return (
        has_key(in_ascii(_SEPARATOR.join(each.encode("utf-8", "replace") for each in wholes.values())))
        or any(known.in_any_form(each) for each in wholes.values())
        or any(True for _ in _named_over_events("", split, wholes))
    )


def _streams(value: Any, where: str) -> Iterator[tuple[Location, list[Any] | Uniform]]:
    """Yields the events of each stream: of a cassette's own form, and of bodies in bytes."""
    left: list[tuple[Location, Any]] = [((where, None), value)]
    while left:
        at, item = left.pop()
        if isinstance(item, dict):
            for name, inner in item.items():
                if (name in _EVENTS or name == "json") and isinstance(inner, list):
                    yield (at, name), inner
                elif isinstance(inner, Uniform):
                    yield ((at, name), "sse"), inner
                elif name in _UNREAD and (found := _unread(name, inner)):
                    yield (at, name), found
                elif type(inner) not in FLAT:
                    left.append(((at, name), inner))
        elif isinstance(item, list | tuple):
            left += [((at, n), inner) for n, inner in enumerate(item) if type(inner) not in FLAT]
        elif isinstance(item, bytes) and (found := _data_of(item)):
            yield at, found


def _unread(kind: str, body: Any) -> list[Any]:
    """Returns the data of a stream that is written as text or in Base64, or nothing."""
    text = body if isinstance(body, str) else "".join(each for each in body or () if isinstance(each, str))
    if kind == "text":
        return _data_of(utf8(text)) if "{" in text else []
    try:
        return _data_of(b64decode(text))
    except ValueError:
        return []


def _data_of(body: bytes) -> list[Any]:
    """Returns the data of the events of a stream, or the items of a JSON array, or nothing if there are not two."""
    if body[:64].lstrip()[:1] == b"[":
        with suppress(ValueError, RecursionError):
            text = body.decode("utf-8", "replace").lstrip()
            found = [] if has_more_values(text, RECORDING.values) else json.JSONDecoder().raw_decode(text)[0]
            return found if len(found) > 1 else []
    lines = body.translate(_LINE_ENDS)
    if b"data:" in lines and len(events := [*_EVENT.finditer(lines)]) > 1:
        texts = [b"\n".join(_DATA.findall(event[0])) for event in events]
    else:
        texts = _LINE.findall(lines) if b"\n{" in lines else []  # one line is no stream
    return [_json_or_text(each.decode("utf-8", "replace")) for each in texts] if len(texts) > 1 else []


def _json_or_text(text: str) -> Any:
    value = parsed(text)
    return text if value is None else value


def _columns(values: Sequence[Any], path: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the texts that the events have at each place, in order, if they differ."""
    if path.count("/") > _DEEPEST:
        return
    kinds = {*map(type, values)}
    if NUMBERS.issuperset(kinds):
        return
    texts, objects, lists = (only(kind, values, kinds) for kind in (str, dict, list))
    if texts and texts.count(texts[0]) < len(texts):
        yield path, texts  # nothing is split over equal texts
    if len(objects) > 1:
        for name, inner in _fields(objects):
            yield from _columns(inner, f"{path}/{name}")
    if lists and {*map(len, lists)} == {1}:
        yield from _columns([*chain.from_iterable(lists)], f"{path}/0")
        return
    lists = [items for items in lists if items and not has_only_numbers(items)]
    number = 0
    while len(lists) > 1:
        yield from _columns([items[number] for items in lists], f"{path}/{number}")
        number += 1
        lists = [items for items in lists if len(items) > number]


def _fields(objects: Sequence[dict[str, Any]]) -> Iterable[tuple[str, Sequence[Any]]]:
    """Returns the values of each name, in order. Most events have the same names."""
    names = {*map(tuple, objects)}
    if len(names) == 1:
        return zip(names.pop(), zip(*map(dict.values, objects), strict=True), strict=True)
    fields = defaultdict[str, list[Any]](list)
    for name, inner in chain.from_iterable(map(dict.items, objects)):
        fields[name].append(inner)
    return fields.items()


# --- Tokens that may be base64 of readable text ----------------------------------------------------------


_BETWEEN = "AAAA"  # three zero bytes
_READABLE_RUN = re.compile(
    rb"[\x20-\x7e\t\r\n]{14,}"
)  # two less than are searched: the end of a token is left out
_LETTER = rb"[\x01-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_TEXT = re.compile(rb"\0\0\0(?:%s)+(?:[\xc2-\xf4][\x80-\xbf]{0,2})?(?=\0\0\0)" % _LETTER)
_GZIP = re.compile(
    rb"\0\0\0(?:\x1f\x8b|x[\x01\x5e\x9c\xda]|\x28\xb5\x2f\xfd|PK\x03\x04)"
)  # and zlib, zstd, ZIP


def plain(token: str) -> str:
    """Returns the token in the standard alphabet, without padding."""
    return token.rstrip("=").replace("-", "+").replace("_", "/")


def worth_decoding(tokens: Sequence[str], secrets: Iterable[bytes]) -> Iterator[str]:
    """Returns the tokens that may hold text, printable characters, a known value or gzip. The order is kept,
    and some false positives are included.
    """
    begun = [secret[:-2] for secret in secrets]  # the end of a token is left out here, too
    if not all(map(_enough, begun)):
        return iter(tokens)
    words = [plain(token) for token in tokens]
    found = set[int]()
    for offset in range(4):
        parts = [word[offset : offset + (len(word) - offset) // 4 * 4] for word in words]
        starts = [*accumulate((len(part) // 4 * 3 + 3 for part in parts), initial=3)]
        data = b64decode(_BETWEEN + _BETWEEN.join(parts) + _BETWEEN)
        found.update(bisect_right(starts, at) - 1 for at in _readable_places(data, begun))
    return (tokens[number] for number in sorted(found))


def _enough(begun: bytes) -> bool:
    return len(begun) > 2


def _readable_places(data: bytes, secrets: Iterable[bytes]) -> Iterator[int]:
    yield from (match.start() for match in _READABLE_RUN.finditer(data))
    for pattern in (_TEXT, _GZIP):
        yield from (match.start() + 3 for match in pattern.finditer(data))
    secrets = [*secrets]
    if len(secrets) > _MANY:
        found = all_spans(secret.decode("latin-1") for secret in secrets)
        yield from (start for start, _ in found(data.decode("latin-1")))
        return
    for secret in secrets:
        at = data.find(secret)
        while at >= 0:
            yield at
            at = data.find(secret, at + 1)
