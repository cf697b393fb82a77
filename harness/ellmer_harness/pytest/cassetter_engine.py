"""Replays and records cassetter's cassettes with this package's engine. A suite that uses cassetter needs one line and no other change.

```python
pytest_plugins = ["ellmer_harness.pytest.cassetter_engine"]  # or: pytest -p ellmer_harness.pytest.cassetter_engine
```

cassetter keeps the marks, the configuration, the modes, the matching, the filters and hooks, and the files: YAML and TOML, with
HTTP, WebSockets and gRPC. This engine intercepts the clients and replays the recordings. Without pytest, `install()`
does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pytest

try:
    import cassetter.config
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "this engine replays suites of cassetter, and needs it: pip install cassetter"
    ) from error
from cassetter.cassette import Cassette, NoMatchError
from cassetter.compare import body_to_bytes
from cassetter.intercept._registry import _INTERCEPTOR_MAP
from cassetter.intercept._shared import apply_before_record_request
from cassetter.pytest_plugin import fixtures
from vcr.request import Request

from ..cassette.miss_explanation import changes
from ..cassette.request_key import Match, RequestKey
from ..errors import Miss
from ..exchange.messages import Exchange, Sent
from ..exchange.reply import Reply
from ..faults import Fault
from ..interception import client_patching, network_guard
from ..interception.open_cassettes import RequestInFlight
from ..secrets.redaction import Scrub
from .cassetter_conversations import Conversation
from .engine_cassette import EngineCassette, counted, inject_into
from .recorded_headers import fitting, phrase_of, plain_value

_NAMES = {"pyreqwest.request": "pyreqwest", "urllib3_future": "urllib3"}
_BY_DEFAULT = frozenset({"httpx", "httpx2", "urllib3", "aiohttp"})
_ONLY_IF_NAMED = frozenset({"websockets", "grpc"})


class NotRecorded(NoMatchError, Miss):  # type: ignore[misc]  # cassetter is not installed where types are checked
    """A request that cassetter's cassette does not hold and may not record: cassetter's exception, and a miss."""


class CassetterCassette(EngineCassette):
    """A cassette of cassetter in the form that the intercepted clients ask.

    Args:
        cassette: cassetter's cassette, loaded.
        intercept: The clients to intercept, by cassetter's names. `None` means all clients of HTTP.
    """

    offline = False
    miss = NotRecorded
    late: ClassVar[dict[int, RequestInFlight]] = {}

    def __init__(self, cassette: Cassette, intercept: Sequence[str] | None = None) -> None:
        super().__init__(Path(cassette.path))
        self.cassette = cassette
        self.intercept = None if intercept is None else {*intercept}
        self.scrub, self.match = Scrub.of(None), Match()
        self.any_message = "body" not in cassette.match_config.match_on

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """Looks up a request as cassetter does. Raises cassetter's exception if it may not be sent."""
        name = _client(http)
        url = str(request.url)
        sent = Sent(
            request.method, url, {key: ", ".join(each) for key, each in _headers(request).items()}, body
        )
        take = RequestInFlight(http, request, Exchange(sent), self._done, self.clock)
        take.miss, take.whole = self.missed, name not in _ONLY_IF_NAMED
        with self._lock:
            self.sent.append(sent)
            if not self._intercepts(name) or self.cassette.should_bypass(url):
                self.passed += 1
            elif name == "grpc":
                self._call(take, body)
            elif name == "websockets":
                self._conversation(take)
            else:
                self._exchange(take, body)
        return take

    def _intercepts(self, name: str) -> bool:
        if self.intercept is None:
            return name not in _ONLY_IF_NAMED
        return name in self.intercept or (name == "urllib3" and "requests" in self.intercept)

    def _exchange(self, take: RequestInFlight, body: bytes) -> None:
        """Looks up a request of HTTP."""
        request = take.request
        raw = apply_before_record_request(
            self.cassette, request.method, str(request.url), _headers(request), body
        )
        if raw is None:
            self.passed += 1
            return
        if self._kept(take.exchange.sent):
            self._play(take, lambda: Reply(200))
            return
        asked = raw.method, raw.uri, raw.headers, raw.body
        expected = self._found(lambda: self.cassette.match(*asked), partial(self._differences, *asked))
        if expected is not None and not self.cassette.verifies:
            self._play(take, lambda: _reply(expected[1], request.method, body_to_bytes))
            return
        order = self.cassette.reserve_record_order()
        self._pending[id(take)] = take, lambda done: self._record(done, asked, order, expected)

    def _record(self, take: RequestInFlight, asked: Any, order: int, expected: Any) -> None:
        it = take.exchange
        headers: dict[str, list[str]] = {}
        for name, value in it.headers:
            headers.setdefault(name, []).append(value)
        method, uri, sent, body = asked
        self.cassette.record(
            method, uri, sent, body, it.status, headers, it.body, order=order, expected=expected
        )

    def _call(self, take: RequestInFlight, body: bytes) -> None:
        """Looks up a call of gRPC."""
        from .cassetter_calls import Call  # noqa: PLC0415  # it needs grpcio

        call = Call.of(take.request, body)
        found = self._found(lambda: call.look_up(self.cassette))
        if found is not None and not self.cassette.verifies:
            take.reply = call.reply(*found)
            self.played += 1
        else:
            self._pending[id(take)] = take, partial(call.record, self.cassette, found and found[0])

    def _conversation(self, take: RequestInFlight) -> None:
        """Looks up a conversation over WebSockets."""
        conversation = Conversation(str(take.request.url), _headers(take.request))
        expected = self._found(lambda: self.cassette.play_ws(conversation.url))
        if expected is not None and not self.cassette.verifies:
            take.reply = conversation.reply(expected)
            self.played += 1
        else:
            self._pending[id(take)] = take, partial(conversation.record, self.cassette, expected)

    def _differences(self, method: str, url: str, headers: dict[str, list[str]], body: bytes | None) -> str:
        """Returns the differences from the most similar recording, `""` if there is none."""
        recorded = [each.request for each in self.cassette.interactions]
        if not recorded:
            return ""
        near = max(recorded, key=lambda it: (it.method == method, SequenceMatcher(None, it.uri, url).ratio()))
        then = _key(near.method, near.uri, near.headers, body_to_bytes(near.body))
        lines = islice(changes(then, _key(method, url, headers, body or b"")), _SHOWN)
        return "\n  ".join(["\n\nRecorded [-so-], now {+so+}:", *lines])

    def _found(self, look_up: Callable[[], Any], explained: Callable[[], str] = str) -> Any:
        """Returns what cassetter finds, `None` to send the request. Raises cassetter's exception for a miss."""
        try:
            return look_up()
        except NoMatchError as miss:
            if self.cassette.can_record:
                return None
            raise self.missed(f"{miss}{explained()}") from None

    def holds(self, request: Any, body: bytes) -> bool:  # noqa: ARG002  # cassetter tells only by playing
        """Returns True if the cassette cannot record, so that a transport of the program's own is looked up, too."""
        return not self.cassette.can_record

    def takes(self, protocol: str) -> bool:
        """Tells whether the cassette's configuration names a protocol."""
        return self._intercepts(protocol) and protocol != "mcp"

    def _done(self, take: RequestInFlight) -> None:
        with self._lock:
            _, record = self._pending.pop(id(take), (None, None))
            if record is None or not take.exchange.status or take.exchange.failure:
                return
            record(take)
            self.recorded += not self.cassette.verifies
            if self.late.pop(id(take), None) and self not in _WRAPPERS:
                self.cassette.save()
                COUNTS["recorded"] += not self.cassette.verifies


def _client(http: Any) -> str:
    """Returns cassetter's name of the client library."""
    name = str(getattr(http, "client", None) or http.__name__)
    return _NAMES.get(name, name)


def _headers(request: Any) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in request.headers.raw:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


_SHOWN = 5


def _key(method: str, url: str, headers: dict[str, list[str]], body: bytes) -> RequestKey:
    kind = {name: values[0] for name, values in headers.items() if name == "content-type" and values}
    return RequestKey(Match(), Request(method, url, body, kind))


def _reply(response: Any, method: str, bytes_of: Callable[[Any], bytes]) -> Reply:
    """Returns the answer to replay, with headers that fit its body: cassetter decompresses and reformats bodies."""
    pairs = [(name, plain_value(value)) for name, values in response.headers.items() for value in values]
    body = bytes_of(response.body)
    if method.upper() != "HEAD" and response.status not in {204, 304}:
        pairs = fitting(pairs, body)
    headers: dict[str, list[str]] = {}
    for name, value in pairs:
        headers.setdefault(name, []).append(value)
    status = {"code": response.status, "message": phrase_of(response.status)}
    return Reply.recorded({"status": status, "headers": headers, "body": {"string": body}})


# --- In place of cassetter's patches ---------------------------------------------------------------------


_OPEN: dict[int, ExitStack] = {}
_WRAPPERS: list[CassetterCassette] = []
_ORIGINALS: list[tuple[Any, str, Any]] = []
_INTERCEPT: ContextVar[Sequence[str] | None] = ContextVar("intercept", default=None)
COUNTS = {"cassettes": 0, "played": 0, "recorded": 0, "passed": 0}
"""What the engine has done in this process: cassettes that were opened, and requests."""


def install() -> None:
    """Makes this engine replay and record every cassette that cassetter opens from now on.

    Examples:
        >>> install()
        >>> with cassetter.use_cassette("weather.yaml", record_mode="none"):
        ...     httpx.get("https://api.example.com/weather")
    """
    if _ORIGINALS:
        return
    COUNTS.update(dict.fromkeys(COUNTS, 0))
    for owner in (cassetter.config, fixtures):
        _replace(owner, "resolve_interceptors", _resolve)
        _replace(owner, "acquire_patches", lambda _: None)
        _replace(owner, "release_patches", lambda _: None)
        _replace(owner, "push_fallback_cassette", _opening(owner.push_fallback_cassette))
        _replace(owner, "pop_fallback_cassette", _closing(owner.pop_fallback_cassette))


def uninstall() -> None:
    """Reverts `install`."""
    for take in [*CassetterCassette.late.values()]:
        take.closed()
    while _ORIGINALS:
        setattr(*_ORIGINALS.pop())


def _replace(owner: Any, name: str, new: Any) -> None:
    _ORIGINALS.append((owner, name, getattr(owner, name)))
    setattr(owner, name, new)


def _resolve(names: Sequence[str] | None = None) -> list[Any]:
    """Keeps the names of the clients, instead of cassetter's classes that patch them."""
    for name in names or ():
        if name not in _INTERCEPTOR_MAP:
            raise ValueError(f"unknown interceptor: {name!r}")
    _INTERCEPT.set(names)
    return []


def _opening(real: Any) -> Any:
    def push(cassette: Cassette) -> None:
        real(cassette)
        wrapper = CassetterCassette(cassette, _INTERCEPT.get())
        before = client_patching.open_(wrapper)
        stack = _OPEN[id(cassette)] = ExitStack()
        stack.callback(_close, wrapper, before)
        stack.enter_context(network_guard.guarded(wrapper))
        _WRAPPERS.append(wrapper)

    return push


def _close(wrapper: CassetterCassette, before: Any) -> None:
    client_patching.close(wrapper, before)
    wrapper.finish()
    _WRAPPERS.remove(wrapper)
    COUNTS["cassettes"] += 1
    for name in ("played", "recorded", "passed"):
        COUNTS[name] += getattr(wrapper, name)


def _closing(real: Any) -> Any:
    def pop(cassette: Cassette) -> None:
        real(cassette)
        with _OPEN.pop(id(cassette), ExitStack()):
            pass

    return pop


def wrapper_of(cassette: Cassette) -> CassetterCassette | None:
    """Returns the engine's state of an open cassette of cassetter, or `None` if this engine does not replay it."""
    return next((wrapper for wrapper in _WRAPPERS if wrapper.cassette is cassette), None)


def inject(cassette: Cassette, *faults: Fault | tuple[Fault, ...]) -> None:
    """Applies faults to the next requests of HTTP that an open cassette answers. A retry gets the recorded answer.

    Args:
        cassette: cassetter's cassette.
        faults: Faults of `ellmer_harness.faults`, one per request in order; a tuple of faults applies to one request together.

    Examples:
        >>> with cassetter.use_cassette("weather.yaml") as cassette:
        ...     inject(cassette, Status(429), Reset(after_bytes=100))
    """
    inject_into(wrapper_of(cassette), faults)


# --- The plugin ------------------------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001  # its name says which hook it is
    """Replays cassetter's cassettes from now on."""
    install()


def pytest_unconfigure() -> None:
    """Restores cassetter."""
    uninstall()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tells how much this engine has replayed."""
    if COUNTS["cassettes"]:
        terminalreporter.write_line(f"cassetter's cassettes, by ellmer_harness: {counted(COUNTS)}")
