"""Replays and records vcrpy's cassettes with this package's engine. A suite that uses vcrpy needs one line and no other change.

```python
pytest_plugins = ["ellmer_harness.pytest.vcr_engine"]  # or: pytest -p ellmer_harness.pytest.vcr_engine
```

vcrpy keeps the configuration, the matchers, the filters and hooks, the modes, the serializers and the files. This engine
intercepts the clients, finds the recordings and replays them. `--vcr-strict` (or `vcr_strict = true`) makes it stricter than
vcrpy. Without pytest, `install()` does the same.
"""

from __future__ import annotations

import functools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest
from vcr import matchers
from vcr.cassette import Cassette, CassetteContextDecorator
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.filters import decode_response
from vcr.matchers import requests_match
from vcr.patch import PATCHER_NAMES, CassettePatcherBuilder
from vcr.request import Request
from vcr.serializers.compat import convert_body_to_bytes

from ..cassette.miss_explanation import changes
from ..cassette.request_key import Match, RequestKey
from ..errors import Miss, Unused
from ..exchange.messages import Exchange, Sent
from ..exchange.reply import Reply
from ..faults import Fault
from ..interception import client_patching, network_guard
from ..interception.open_cassettes import RequestInFlight
from . import vcr_marks
from .engine_cassette import EngineCassette, counted, inject_into
from .recorded_headers import coded, fitting, phrase_of, plain_value
from .vcr import guard_vcrpy, release_vcrpy

Json = dict[str, Any]

# --- Misses ----------------------------------------------------------------------------------------------


class NotRecorded(CannotOverwriteExistingCassetteException, Miss):  # type: ignore[misc]  # vcrpy has no types
    """A request that vcrpy's cassette does not hold, and may not record: vcrpy's exception, with the differences
    from the nearest recording.
    """

    def __init__(self, *, cassette: Cassette, failed_request: Request) -> None:
        CannotOverwriteExistingCassetteException.__init__(
            self, cassette=cassette, failed_request=failed_request
        )
        if told := _nearest(failed_request, [request for request, _, _ in self.similar_requests]):
            self.args = (f"{self.args[0]}\n\n{told}",)


_SHOWN = 5


def _nearest(asked: Request, similar: Sequence[Request]) -> str:
    """Returns the differences from the first similar request, by JSON pointer; `""` if there are none."""
    if not similar:
        return ""
    lines = list(islice(changes(_key(similar[0]), _key(asked)), _SHOWN))
    return "\n  ".join(["Recorded [-so-], now {+so+}:", *lines]) if lines else ""


def _key(request: Request) -> RequestKey:
    body = request.body if isinstance(request.body, bytes) else str(request.body or "").encode()
    headers = {name: str(value) for name, value in request.headers.items() if name.lower() == "content-type"}
    return RequestKey(Match(), Request(request.method, request.uri, body, headers))


# --- The cassette in use ---------------------------------------------------------------------------------


class VcrpyCassette(EngineCassette):
    """A cassette of vcrpy in the form that the intercepted clients ask.

    Args:
        cassette: vcrpy's cassette, loaded.
        strict: Whether sockets are blocked while nothing can be recorded.
    """

    late: ClassVar[dict[int, RequestInFlight]] = {}

    def __init__(self, cassette: Cassette, *, strict: bool = False) -> None:
        super().__init__(Path(str(cassette.path)))
        self.cassette, self.strict = cassette, strict
        vars(cassette)["_responses"] = _Lookup(cassette)  # vcrpy compares with every recording

    @property
    def offline(self) -> bool:
        """Whether sockets are blocked: only if the cassette is strict, and nothing can be recorded."""
        return self.strict and bool(self.cassette.write_protected)

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """Looks up a request as vcrpy does. Raises vcrpy's exception if it may not be sent."""
        asked = _asked(http, request, body)
        take = RequestInFlight(http, request, Exchange(_sent(asked, body)), self._done, self.clock)
        take.miss, take.whole = self.missed, True
        with self._lock:
            self.sent.append(take.exchange.sent)
            if _client(http) in self.cassette.skip_patchers:
                self.passed += 1
            elif self._kept(take.exchange.sent) or self.cassette.can_play_response_for(asked):
                faulty = self._play(
                    take, lambda: _reply(self.cassette.play_response(asked), http, asked.method)
                )
                _HELD.set(not faulty)
            elif self.cassette.write_protected and self.cassette.filter_request(asked):
                missing = NotRecorded(cassette=self.cassette, failed_request=asked)
                self.misses.append(missing)
                raise missing
            else:
                self._pending[id(take)] = take, asked
                if _client(http) == "aiohttp":
                    _HELD.set(self.cassette.filter_request(asked) is not None)
        return take

    def holds(self, request: Any, body: bytes) -> bool:
        """Tells whether the cassette has an answer for a request."""
        return bool(self.cassette.can_play_response_for(_asked(sys.modules["httpx"], request, body)))

    def takes(self, protocol: str) -> bool:  # noqa: ARG002  # likewise
        """Returns False: vcrpy has HTTP only."""
        return False

    def _done(self, take: RequestInFlight) -> None:
        with self._lock:
            _, asked = self._pending.pop(id(take), (None, None))
            if asked is None or not take.exchange.status or take.exchange.failure:
                return
            before = len(self.cassette)
            self.cassette.append(asked, _answer(take))
            new = len(self.cassette) - before
            self.recorded, self.passed = self.recorded + new, self.passed + (not new)
            if self.late.pop(id(take), None) and wrapper_of(self.cassette) is not self:
                self.cassette._save(force=True)  # noqa: SLF001  # as vcrpy does when it closes the cassette
                COUNTS["recorded"] += new


_KEYS: dict[Any, Callable[[Request], Any]] = {
    matchers.method: lambda request: request.method,
    matchers.uri: matchers._normalized_uri,  # noqa: SLF001  # what vcrpy's `uri` compares
    matchers.scheme: lambda request: request.scheme,
    matchers.host: lambda request: request.host,
    matchers.port: lambda request: request.port,
    matchers.path: lambda request: _NORMALIZED_PATH(request.path),
    matchers.query: lambda request: (*request.query,),
}
"""What vcrpy's own matchers compare, by the matcher: equal values are a match, and no other values are."""
_NORMALIZED_PATH: Callable[[str], str] = getattr(matchers, "_normalized_path", str)  # not in vcrpy 9.3


class _Lookup:
    """Finds the recordings of a request by what the cassette compares as vcrpy does: by default, the method and the URL."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._match_on: Any = cassette._match_on  # noqa: SLF001  # vcrpy tells it nowhere else
        self._keys = [_KEYS[each] for each in self._match_on if each in _KEYS]
        self._places: dict[Any, list[int]] = defaultdict(list)
        self._counted = 0

    def __call__(self, request: Request) -> Iterator[tuple[int, Any]]:
        cassette = self._cassette
        request = cassette.filter_request(request)
        for place in self._candidates(request):
            stored, response = cassette.data[place]
            if requests_match(request, stored, self._match_on):
                yield place, response

    def _candidates(self, request: Request) -> Iterable[int]:
        data = self._cassette.data
        if not self._keys:
            return range(len(data))
        if self._counted > len(data):  # somebody took recordings out
            self._places.clear()
            self._counted = 0
        for place in range(self._counted, len(data)):
            self._places[self._key(data[place][0])].append(place)
        self._counted = len(data)
        return [*self._places.get(self._key(request), ())]

    def _key(self, request: Any) -> Any:
        if not isinstance(request, Request):  # a program may put anything into a cassette
            return request
        return tuple(key(request) for key in self._keys)


# --- Requests and answers, as vcrpy has them -------------------------------------------------------------


_OF_AIOHTTP: ContextVar[Request | None] = ContextVar("of_aiohttp", default=None)
_HELD: ContextVar[bool] = ContextVar("held", default=False)
"""Whether a cassette has played or records the answer that aiohttp is about to return."""
_OF_HTTP_CLIENT: ContextVar[Json | None] = ContextVar("of_http_client", default=None)
_DECODES = {"urllib3", "urllib3_future", "aiohttp", "tornado"}
"""Clients whose answers vcrpy records decompressed."""
_GROUPS = {"http.client": "httplib"}
_CASED = {"urllib3", "aiohttp", "http.client"}


def _client(http: Any) -> str:
    """Returns vcrpy's name of the client library, as `skip_patchers` has it."""
    name = str(getattr(http, "client", None) or http.__name__)
    return _GROUPS.get(name, name)


def _asked(http: Any, request: Any, body: bytes) -> Request:
    """Returns the request as vcrpy makes it of this client's. A missing body and an empty one are not told apart, except for
    httpx.
    """
    name = _client(http)
    if name == "aiohttp" and (first := _OF_AIOHTTP.get()) is not None:
        _OF_AIOHTTP.set(None)  # what follows are redirects
        return first
    if name in {"httpx", "httpx2"}:
        return Request(request.method, str(request.url), body, request.headers)
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in request.headers.raw}
    if name == "httplib" and (original := _OF_HTTP_CLIENT.get()) is not None:
        headers = original
    return Request(request.method, request.url, body or None, headers)


def _sent(asked: Request, body: bytes) -> Sent:
    return Sent(asked.method, asked.uri, {name.lower(): str(it) for name, it in asked.headers.items()}, body)


def _answer(take: RequestInFlight) -> Json:
    """Returns the answer as vcrpy records it with this client."""
    it = take.exchange
    headers: dict[str, list[str]] = {}
    for name, value in take.named:
        headers.setdefault(name, []).append(value)
    body = it.body
    if _client(take.http) in _DECODES:
        with suppress(ValueError, OSError):
            body = it.content
    return {
        "status": {"code": it.status, "message": it.reason},
        "headers": headers,
        "body": {"string": body},
    }


def _reply(response: Json, http: Any, method: str) -> Reply:
    """Returns the answer to replay, with headers that fit its body: recorders decompress bodies and keep the headers."""
    if "status_code" in response:  # of vcrpy before version 6, with httpx
        status, body = {"code": response["status_code"]}, {"string": response["content"]}
        response = decode_response(
            convert_body_to_bytes({"headers": response["headers"], "body": body, "status": status})
        )
    content = (response.get("body") or {}).get("string") or b""
    content = content.encode() if isinstance(content, str) else bytes(content)
    kept = response["headers"]
    listed = {
        name: [plain_value(value) for value in (values if isinstance(values, list) else [values])]
        for name, values in (kept.items() if isinstance(kept, dict) else kept)  # pairs: with tornado
    }
    code = int(response["status"]["code"])
    status = {"code": code, "message": response["status"].get("message") or phrase_of(code)}
    if method.upper() != "HEAD":
        content = coded(
            content,
            ",".join(
                value for name, each in listed.items() for value in each if name.lower() == "content-encoding"
            ),
        )
    reply = Reply.recorded({**response, "status": status, "headers": listed, "body": {"string": content}})
    cased = _client(http) in _CASED | {"httplib", "httpx", "httpx2"}
    pairs = [(name if cased else name.lower(), value) for name, values in listed.items() for value in values]
    bare = method.upper() == "HEAD" or code in {204, 304}
    return replace(reply, headers=pairs if bare else fitting(pairs, content))


# vcrpy records the arguments of a call to aiohttp and http.client, and not what they make of them.


@contextmanager
def _noting_http_client() -> Iterator[None]:
    """Keeps the headers that `http.client` is given."""
    real = HTTPConnection._send_request  # type: ignore[attr-defined]  # noqa: SLF001  # urllib3 has its own `request`

    @functools.wraps(real)
    def send(self: Any, method: str, url: str, body: Any, headers: Any, *rest: Any) -> None:
        headers = {name: value[0] if isinstance(value, list) else value for name, value in headers.items()}
        token = _OF_HTTP_CLIENT.set(dict(headers))
        try:
            real(self, method, url, body, headers, *rest)
        finally:
            _OF_HTTP_CLIENT.reset(token)

    with mock.patch.object(HTTPConnection, "_send_request", send):
        yield


@contextmanager
def _noting_aiohttp() -> Iterator[None]:
    """Keeps what aiohttp is asked for, and reads what is replayed and recorded at once, as vcrpy does."""
    if "aiohttp" not in sys.modules:
        yield
        return
    from vcr.stubs import aiohttp_stubs as stubs  # noqa: PLC0415  # it imports aiohttp

    session = sys.modules["aiohttp"].ClientSession
    real = session._request  # noqa: SLF001  # as vcrpy does

    @functools.wraps(real)
    async def request(self: Any, method: str, url: Any, **options: Any) -> Any:
        _OF_AIOHTTP.set(_of_aiohttp(stubs, self, method, url, options))
        _HELD.set(False)
        try:
            answer = await real(self, method, url, **options)
        finally:
            _OF_AIOHTTP.set(None)
        if _HELD.get():  # programs read what vcrpy plays and records after they have closed it
            answer.content = stubs.MockStream(await answer.read())
        return answer

    with mock.patch.object(session, "_request", request):
        yield


def _of_aiohttp(stubs: Any, session: Any, method: str, url: Any, options: Json) -> Request | None:
    data = options.get("data") if options.get("data") is not None else options.get("json")
    if stubs._is_async_iterator(data):  # noqa: SLF001  # vcrpy's own helpers, here and below
        return None
    headers = session._prepare_headers(options.get("headers"))  # noqa: SLF001 - as vcrpy's own stub does
    if (auth := options.get("auth")) is not None:
        headers["AUTHORIZATION"] = auth.encode()
    params = options.get("params")
    whole = stubs._build_url_with_params(url, params) if params else stubs.URL(url)  # noqa: SLF001 - as vcrpy's own stub does
    header = headers.pop("Cookie", None)
    if cookie := stubs._build_cookie_header(session, options.get("cookies"), header, whole):  # noqa: SLF001 - as vcrpy's own stub does
        headers["Cookie"] = cookie
    return Request(method, str(whole), stubs._recordable_data(data), stubs._serialize_headers(headers))  # noqa: SLF001 - as vcrpy's own stub does


# --- In place of vcrpy's patches -------------------------------------------------------------------------


_WRAPPERS: list[VcrpyCassette] = []
_ORIGINALS: list[tuple[Any, str, Any]] = []
_STRICT = [False]
COUNTS = {"cassettes": 0, "played": 0, "recorded": 0, "passed": 0}
"""What the engine has done in this process: cassettes that were opened, and requests."""


def install(*, strict: bool = False) -> None:
    """Makes this engine replay and record every cassette that vcrpy opens from now on.

    Args:
        strict: Whether secrets are refused, sockets are blocked while nothing can be recorded, misses that the code
            caught are raised again, and unused recordings are an error. Default: False, as in vcrpy.

    Examples:
        >>> install()
        >>> with vcr.use_cassette("weather.yaml", record_mode="none"):
        ...     requests.get("https://api.example.com/weather")
    """
    if _ORIGINALS:
        return
    _STRICT[0] = strict
    COUNTS.update(dict.fromkeys(COUNTS, 0))
    if strict:
        guard_vcrpy()
    _replace(CassettePatcherBuilder, "build", _building)
    _replace(Cassette, "_save", _saving)
    _replace(CassetteContextDecorator, "__exit__", _leaving)


def uninstall() -> None:
    """Reverts `install`."""
    for take in [*VcrpyCassette.late.values()]:
        take.closed()
    while _ORIGINALS:
        setattr(*_ORIGINALS.pop())
    if _STRICT[0]:
        release_vcrpy()


def _replace(owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    real = getattr(owner, name)
    _ORIGINALS.append((owner, name, real))
    setattr(owner, name, functools.wraps(real)(wrapper(real)))


def _building(real: Any) -> Any:
    def build(builder: Any) -> Iterable[AbstractContextManager[Any]]:
        cassette = builder._cassette  # noqa: SLF001  # vcrpy tells it nowhere else
        if set(cassette.skip_patchers) >= set(PATCHER_NAMES):
            return real(builder)  # type: ignore[no-any-return]  # one of our own cassettes
        own = builder._build_patchers_from_mock_triples(cassette.custom_patches)  # noqa: SLF001  # likewise
        return [*own, *_of_tornados_curl(builder), _noting_http_client(), _noting_aiohttp(), _open(cassette)]

    return build


def _of_tornados_curl(builder: Any) -> Iterator[AbstractContextManager[Any]]:
    """Yields vcrpy's own patch for tornado's client of libcurl, which this engine does not intercept."""
    curl = sys.modules.get("tornado.curl_httpclient")
    if curl is not None and "tornado" not in builder._cassette.skip_patchers:  # noqa: SLF001  # vcrpy tells it nowhere else
        yield from (
            patch
            for patch in builder._tornado()  # noqa: SLF001  # likewise
            if patch.getter() is curl.CurlAsyncHTTPClient
        )


@contextmanager
def _open(cassette: Cassette) -> Iterator[None]:
    wrapper = VcrpyCassette(cassette, strict=_STRICT[0])
    _WRAPPERS.append(wrapper)
    before = client_patching.open_(wrapper)
    try:
        with network_guard.guarded(wrapper):
            yield
    finally:
        client_patching.close(wrapper, before)
        wrapper.finish()
        _WRAPPERS.remove(wrapper)
        COUNTS["cassettes"] += 1
        for name in ("played", "recorded", "passed"):
            COUNTS[name] += getattr(wrapper, name)


def wrapper_of(cassette: Cassette | None) -> VcrpyCassette | None:
    """Returns the engine's state of an open cassette of vcrpy, or `None` if this engine does not replay it."""
    return next((wrapper for wrapper in _WRAPPERS if wrapper.cassette is cassette), None)


def inject(cassette: Cassette, *faults: Fault | tuple[Fault, ...]) -> None:
    """Applies faults to the next requests of HTTP that an open cassette answers. A retry gets the recorded answer.

    Args:
        cassette: vcrpy's cassette.
        faults: Faults of `ellmer_harness.faults`, one per request in order; a tuple of faults applies to one request together.

    Examples:
        >>> with vcr.use_cassette("weather.yaml") as cassette:
        ...     inject(cassette, Status(429), Reset(after_bytes=100))
    """
    inject_into(wrapper_of(cassette), faults)


def _saving(real: Any) -> Any:
    def save(cassette: Cassette, force: bool = False) -> None:
        if (wrapper := wrapper_of(cassette)) is not None:
            wrapper.finish()
        real(cassette, force)

    return save


def _leaving(real: Any) -> Any:
    """Raises what a strict run found after vcrpy has saved the cassette and closed it."""

    def leave(context: Any, *exc_info: Any) -> None:
        wrapper = wrapper_of(getattr(context, "_CassetteContextDecorator__cassette", None))
        real(context, *exc_info)
        if wrapper is not None and wrapper.strict and not any(exc_info):
            _hold_to_account(wrapper)

    return leave


def _hold_to_account(wrapper: VcrpyCassette) -> None:
    if wrapper.misses:
        raise wrapper.misses[0]
    data, loaded = wrapper.cassette.data, wrapper.cassette._loaded_count  # noqa: SLF001  # vcrpy tells it nowhere else
    unused = [data[place][0] for place in range(loaded) if not wrapper.cassette.play_counts[place]]
    if unused and wrapper.cassette.write_protected:
        told = "\n  ".join(f"{request.method} {request.uri}" for request in unused[:10])
        raise Unused(f"{len(unused)} of {loaded} recordings in {wrapper.path} were not used:\n  {told}")


# --- The plugin ------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--vcr-strict`, and the options of vcrpy's plugins if none is installed."""
    parser.getgroup("cassettes").addoption(
        "--vcr-strict",
        action="store_true",
        default=False,
        help="vcrpy's cassettes: refuse secrets, block sockets, and fail a test if a miss was "
        "caught or a recording was not used",
    )
    parser.addini(
        "vcr_strict",
        "whether tests with vcrpy's cassettes fail as with --vcr-strict",
        type="bool",
        default=False,
    )
    vcr_marks.add_options(parser)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Replays vcrpy's cassettes from now on, and handles its marks if no other plugin does."""
    install(strict=config.getoption("--vcr-strict") or config.getini("vcr_strict"))
    if not vcr_marks.taken(config):
        config.pluginmanager.register(vcr_marks, "ellmer_harness_vcr_marks")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Adds pytest-recording's hook if it is not installed."""
    if not vcr_marks.installed():
        pluginmanager.add_hookspecs(vcr_marks.Hooks)


def pytest_unconfigure() -> None:
    """Restores vcrpy."""
    uninstall()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tells how much this engine has replayed."""
    if COUNTS["cassettes"]:
        terminalreporter.write_line(f"vcrpy's cassettes, by ellmer_harness: {counted(COUNTS)}")
