"""vcrpy's cassette with an index by key. A lookup takes the same time for any number of recordings.

The n-th request with a key gets the n-th recording with that key. The first unused recording is compared byte
for byte before anything else, so that a run in the recorded order never parses a body. Other runs compute the
keys of recordings in file order, as far as needed.

An exchange is recorded with the allowed headers and without secrets. The lookup uses the same form.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any
from urllib.parse import SplitResult, urlsplit

from vcr.cassette import Cassette
from vcr.request import Request

from ellmer_core.base.forks import cached_property, lock_for_forks

from ..exchange.messages import Headers, Sent
from ..exchange.reply import Reply, chunks, saved
from ..format.serializer import OURS, Serializer
from ..secrets.cassette_scan import masks
from ..secrets.placeholders import Masking
from ..secrets.redaction import Scrub, credential_values
from .request_key import SALT, Likeness, Match, Repeat, RequestKey, is_exact

# --- The recorded form of an exchange --------------------------------------------------------------------


def recorded_request(
    scrub: Scrub,
    method: str,
    url: str,
    headers: Headers,
    body: bytes,
    *,
    normalize: Callable[[Sent], Sent] | None = None,
) -> Request:
    """Returns the request in the recorded form: allowed headers, no secrets, normalized."""
    fields: dict[str, list[str]] = {}
    for name, value in scrub.request(headers):
        fields.setdefault(name, []).append(value)
    joined = {name: ", ".join(values) for name, values in fields.items()}
    sent = Sent(method, scrub.url(url), joined, scrub.body(body))
    sent = normalize(sent) if normalize else sent
    clean = CleanRequest(sent.method, sent.url, sent.body, sent.headers)
    clean.masked_values = credential_values(url, headers)
    return clean


class UnparsedRequest(Request):  # type: ignore[misc]  # vcrpy publishes no types
    """A request whose URL is parsed when somebody asks: vcrpy's own class does so at once, and looks for files."""

    _was_file = _was_iter = False
    uri: str = ""

    @cached_property
    def parsed_uri(self) -> SplitResult:
        """The parsed URL, which vcrpy's matchers expect."""
        return urlsplit(self.uri)


class CleanRequest(UnparsedRequest):
    """A request in the recorded form."""

    def __init__(self, method: str, uri: str, body: bytes, headers: Mapping[str, str]) -> None:
        self.method, self.uri, self.body, self.headers = method, uri, body, dict(headers)


def masked_request(match: Match, request: Request) -> Request:
    """Returns the request as a cassette that was imported with `--mask` has it, where all secrets of a kind
    are equal.
    """
    found = masks({"uri": request.uri, "body": request.body})
    scrub = Scrub(found)
    clean = Request(request.method, scrub.url(request.uri), scrub.body(request.body), request.headers)
    clean.masked_values = hidden_values(match, request, clean)
    return clean


def hidden_values(match: Match, request: Request, clean: Request) -> dict[str, str]:
    """Returns the values behind the masks of a request: `clean` is the request after secrets were found in it."""
    values = dict(getattr(request, "masked_values", None) or {})
    if clean.uri != request.uri:
        values["url"] = request.uri
    if (clean.body or b"") != (request.body or b""):
        content_type = next(
            (value for name, value in request.headers.items() if name.lower() == "content-type"), ""
        )
        values["body"] = match.canonical(request.body, content_type).decode("utf-8", "backslashreplace")
    return values


def recorded_response(
    scrub: Scrub, reply: Reply, *, live: bool, masking: Masking | None = None
) -> dict[str, Any]:
    """Returns the answer in the recorded form: allowed headers, no secrets, correct chunk sizes."""
    sizes, waits = [len(piece.data) for piece in reply.pieces], [piece.wait for piece in reply.pieces]
    whole, headers = reply.body, scrub.response(reply.headers)
    body = scrub.body(whole, sizes, dict(reply.headers).get("content-encoding", ""))
    if masking:
        headers = [pair for pair in headers if pair[0] != "set-cookie"] + [*masking.cookies(reply.headers)]
    if body != whole:
        headers = [(name, str(len(body)) if name == "content-length" else value) for name, value in headers]
    if not live and any(name == "content-length" for name, _ in headers):
        sizes, waits = [len(body)], []  # no stream: where the network cut it is different every time
    return saved(scrub.head(reply), headers, body, chunks(sizes, waits), timed=live)


# --- The index -------------------------------------------------------------------------------------------


Response = dict[str, Any]
Otherwise = Callable[[RequestKey, "CassetteIndex"], int | None]


_LOCK = lock_for_forks()  # of all cassettes: it is held for a short time


class CassetteIndex(Cassette):  # type: ignore[misc]  # vcrpy publishes no types
    """The interactions of one cassette. A new recording has a place from the moment its request is sent."""

    def __init__(self, *args: Any, match: Match, on_repeat: Repeat = "error", **options: Any) -> None:
        super().__init__(*args, **options)
        self.match, self.on_repeat = match, on_repeat
        self.lock = _LOCK
        self._touched: set[int] = set()
        self.keys: list[RequestKey] = []
        self._cursor = 0
        self._waiting: defaultdict[bytes, deque[int]] = defaultdict(deque)
        self._spent: defaultdict[bytes, list[int]] = defaultdict(list)
        self._keyed = 0
        self._masks = False
        self.text = b""
        """The file as it was when it was opened, if this run may write it."""

    @property
    def metadata(self) -> dict[str, Any]:
        """The file's metadata."""
        return dict(self._metadata)

    @property
    def provenance(self) -> dict[str, Any]:
        """Our part of the metadata: the place and date of the recording."""
        return dict(self._metadata.get(OURS) or {})

    @property
    def serializer(self) -> Serializer:
        """The serializer, which knows the blobs."""
        found: Serializer = self._serializer
        return found

    @property
    def loaded(self) -> int:
        """The number of interactions from the file, which come first."""
        return int(self._loaded_count)

    def append(self, request: Request, response: Response) -> None:
        """Adds an interaction of the file, as vcrpy loads it."""
        self.place(request, response)

    def place(self, request: Request, response: Response | None = None) -> int:
        """Adds an interaction and returns its place. Its answer can follow (`self.answer`)."""
        with self.lock:
            self.data.append((request, response))
            self.keys.append(RequestKey(self.match, request))
            self.dirty = True
            return len(self.data) - 1

    def answer(self, place: int, response: Response) -> None:
        """Adds the answer to a request that was placed without one."""
        self.data[place] = (self.data[place][0], response)

    def ask(self, request: Request) -> RequestKey:
        """Returns the lookup key of a scrubbed request."""
        return RequestKey(self.match, masked_request(self.match, request) if self._masks else request)

    def find(self, ask: RequestKey) -> int | None:
        """Returns the place of the recording to replay next for this request."""
        with self.lock:
            while self._cursor < self.loaded and self.play_counts[self._cursor]:
                self._cursor += 1
            if self._cursor < self.loaded and self.keys[self._cursor].same_bytes(ask):
                return self._cursor
            place = self._unplayed(ask)
            return self._behind_masks(ask) if place is None and self._masks else place

    def played(self, ask: RequestKey) -> list[int]:
        """Returns the places of the used recordings of this request."""
        assert self._unplayed(ask) is None
        group = sorted([*self._spent[ask.digest], *self._waiting[ask.digest]])
        return [place for place in group if self.play_counts[place] and self._fits(place, ask)]

    def take(self, ask: RequestKey, otherwise: Otherwise | None = None) -> int | None:
        """Returns the place of the answer to replay, and counts it as used. Without an unused answer, `otherwise` and then
        the `on_repeat` of the index may choose one; else it returns `None`.
        """
        with self.lock:
            place = self.find(ask)
            if place is None and otherwise:
                place = otherwise(ask, self)
            if place is None and self.on_repeat != "error" and (spent := self.played(ask)):
                place = (
                    spent[-1] if self.on_repeat == "last" else min(spent, key=self.play_counts.__getitem__)
                )
            if place is not None:
                self.play_counts[place] += 1
            return place

    def response(self, place: int) -> Response:
        """Returns the answer at a place."""
        found: Response = self.data[place][1]
        return found

    def give_back(self, place: int) -> None:
        """Marks a recording as unused again, because its answer did not arrive. It may be unused at the end."""
        with self.lock:
            self.play_counts[place] -= 1
            self._touched.add(place)
            self._cursor = min(self._cursor, place)
            for digest, spent in self._spent.items():
                if place in spent:
                    spent.remove(place)
                    self._waiting[digest].appendleft(place)

    def unused(self) -> list[Request]:
        """Returns the requests of the file that this run did not send."""
        return [self.data[place][0] for place in self.unused_places()]

    def unused_places(self) -> list[int]:
        """Returns the places of the recordings that this run did not use."""
        left = [n for n in range(self.loaded) if not self.play_counts[n] and n not in self._touched]
        return [n for n in left if not self.is_about_session(self.data[n][0])]

    def is_about_session(self, request: Request) -> bool:
        """Tells whether a request only listens to a server of JSON-RPC, or ends a session with it.

        Whether a client gets to send it depends on time. A server may refuse both (405), and clients go on.
        https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
        """
        return request.method in ("GET", "DELETE") and request.uri in self._of_json_rpc

    @cached_property
    def _of_json_rpc(self) -> set[str]:
        from ..exchange.json_rpc import message_of  # noqa: PLC0415  # few cassettes need it

        loaded = (request for request, _ in self.data[: self.loaded])
        return {each.uri for each in loaded if each.method == "POST" and message_of(each.body or b"")}

    def _load(self) -> None:
        super()._load()
        self._masks = bool(self.provenance.get("masked"))
        if unknown := self.provenance.get("not_compared"):  # its recorder did not keep that
            self.match = self.match.without(unknown)
            self.keys = [RequestKey(self.match, request) for request, _ in self.data]

    def _save(self, force: bool = False) -> None:
        """Does nothing. vcrpy would keep its patches if this raised, so the cassette saves after they are
        removed.
        """

    def _unplayed(self, ask: RequestKey) -> int | None:
        """Returns the first unused recording with the same masked values, else the first one that fits."""
        waiting, spent = self._waiting[ask.digest], self._spent[ask.digest]
        while waiting and self.play_counts[waiting[0]]:
            spent.append(waiting.popleft())
        at = 0
        while at < len(waiting) or self._key_next():
            for place in islice(waiting, at, None):
                if not self.play_counts[place] and self.keys[place].likeness(ask) is Likeness.SAME:
                    return place
            at = len(waiting)
        return next(
            (place for place in waiting if not self.play_counts[place] and self._fits(place, ask)), None
        )

    def _behind_masks(self, ask: RequestKey) -> int | None:
        """Returns the first unused recording in which a word of this request was masked, because it is a secret elsewhere."""
        places = range(self.loaded)
        return next(
            (place for place in places if not self.play_counts[place] and self.keys[place].hides(ask)), None
        )

    def _fits(self, place: int, ask: RequestKey) -> bool:
        """Tells whether a recording may answer a request whose masked values are other ones.

        It may if the program's own credentials have changed: otherwise equal recordings have all the same ones.
        """
        recorded = self.keys[place]
        likeness = recorded.likeness(ask)
        if likeness is not Likeness.OTHER_VALUE:
            return likeness is not Likeness.OTHER
        group = [
            self.keys[each].fingerprints for each in (*self._spent[ask.digest], *self._waiting[ask.digest])
        ]
        places = filter(is_exact, recorded.differing_values(ask))
        return all(len({(each[SALT], each[name]) for each in group if name in each}) == 1 for name in places)

    def _key_next(self) -> bool:
        if self._keyed >= self.loaded:
            return False
        self._waiting[self.keys[self._keyed].digest].append(self._keyed)
        self._keyed += 1
        return True
