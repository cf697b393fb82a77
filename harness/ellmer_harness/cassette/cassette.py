"""A cassette while it is in use: `with use_cassette("tests/cassettes/chat.json") as cassette: …`.

The same context manager serves blocking and async code. At the end, a recording is judged, scanned and saved.
A replay is checked: everything recorded was used, no request was missing, and something was intercepted.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from copy import copy
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from ..errors import CassetteError, HarnessError, Miss, NotIntercepted
from ..exchange.messages import Exchange, Headers, Sent
from ..exchange.reply import Reply, framed
from ..faults import Schedule
from ..faults.status_and_connection_faults import override
from ..interception import client_patching, network_guard
from ..interception.clients import httpx_transports
from ..interception.open_cassettes import RequestInFlight
from ..secrets.redaction import masked
from ..store.concurrent_cassette_merging import writers
from ..store.local_copies import Shared
from .cassette_state import CassetteState, hint_of_vcrpy
from .request_key import RequestKey
from .run_verdict import Verdict, hold_to_account, verdict
from .verify_mode import LiveCheck

if TYPE_CHECKING:
    from .cassette_index import CassetteIndex
    from .partial_replay import Part, PartialReplay

# --- The cassette -------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Cassette(CassetteState):
    """A cassette in use: a context manager for blocking and async code, and a decorator. `use_cassette` is another name of it.

    While it is open, requests of httpx, httpx2, urllib3 (so requests and boto3), aiohttp, http.client (so urllib.request), tornado, niquests, curl_cffi, pyreqwest and grpcio are recorded or replayed. `sent` is
    the list of the requests of this run (`Sent`), `exchanges` the list of requests with their answers (`Exchange`).

    Args:
        path: The cassette's file, for example `tests/cassettes/chat.json`. Recordings of other tools (YAML, HAR) are replayed, too.
        mode: `replay` never uses the network. `record` records if there is no cassette, and replays otherwise. `rewrite`
            records again, and replaces the file if the run succeeded; with `allow_unused`, the interactions of other tests
            stay. `update` replays recorded requests, records changed ones in their place, and drops those that are no longer
            sent. `append` replays recorded requests and records new ones. `verify` replays, sends each request to the real
            server, too, and fails if its answers have other fields. `live` uses no cassette. Default: the option
            `--cassette-mode` of pytest, else the environment variable CASSETTE_MODE, else `replay`.
        routes: Where requests go while recording: `{"https://api.example.com": "http://127.0.0.1:8123"}`. The client and the
            cassette keep the original URL. Default: requests go where the client sends them.
        recorded_from: The name of the server that answers while recording. If all requests ask this machine, the default is
            `this machine`, else `live`. A server in `routes` counts as the host that was asked. With any name but `live`,
            the cassette has no date and no versions, and is not saved if `judge` finds a fault.
        judge: A function that receives the list of requests (`Sent`) before a recording is saved and returns a list of
            sentences: what is wrong with them. Default: no check.
        store: Where the cassette is shared with other machines: a folder, `redis://…`, `s3://…` or a `Store`; `""` for no store.
            Default: the environment variable CASSETTE_STORE, else no store.
        root: The folder that keys in the store are relative to. Default: the current folder.
        scrub: A `Scrub` that says what may be written. It replaces `secrets` and `keep_headers`. Default:
            `Scrub.of(secrets, keep_headers)`.
        secrets: `{"NAME": "value"}`: the cassette has `<NAME>` instead of the value, and a request that contains the
            value matches it. Keys, tokens and passwords of the environment are always treated so. Default: no others.
        not_secret: Fingerprints of findings (eight hex digits, from the error message) that are not secrets. Default:
            none.
        mask: Whether secrets that are found while recording are replaced by placeholders instead of raising `SecretFound`.
            A value that the server generated becomes `REDACTED_1` everywhere. Default: False.
        keep_headers: Patterns of further header names to write, of requests and answers (`"x-trace-*"`). Credentials
            are never written. Default: none.
        match: A `Match` that says when two requests are the same. Default: method, URL, body and relevant headers are equal.
        normalize: A function that receives each request (`Sent`) before it is compared or written, and returns the one
            to use. It is for values that differ in every run. Default: `None`, requests stay as they are.
        before_save: A function that receives each new interaction as vcrpy's dictionary, bodies as bytes. It returns
            the dictionary to write, or None to leave the interaction out. Default: `None`, interactions stay as they
            are.
        on_repeat: What a request gets once all its recordings were used: `error` (a `Miss`, the default), `last` (the last one
            again) or `cycle` (the first one again).
        replay: Which part of the cassette is replayed; the other requests are sent. `model` replays the model and runs the tools:
            MCP servers, and the requests of tools. Where a tool's result differs, the run continues with the recorded answer
            (`cassette.divergences`); any other difference is a `Miss`. Your own `Part` replays another part. Default: the option `--cassette-replay` of
            pytest, else the environment variable CASSETTE_REPLAY, else `all`.
        diverged: What happens if a tool returns another result, with `replay="model"`: `ignore`, `warn` (the first difference is reported), or `error`
            (`Diverged` is raised if the model's recorded answer no longer fits). Default: the environment variable CASSETTE_DIVERGED,
            else `warn`.
        metadata: A dictionary that is written into the cassette's metadata. Default: none.
        blobs: The folder of binary bodies. Default: `blobs` beside the cassette.
        faults: Faults of `ellmer_harness.faults`, one per request in order; a tuple of faults applies to one request
            together. Default: none.
        framing: How bodies are split into chunks: words such as `every-byte`, `events`, `whole`, `split:N`, `random:SEED`,
            `crlf`, `lf`, or a function of the reply. Default: as they were recorded.
        delays: `real` sleeps the recorded gaps between chunks, `virtual` adds them up on `clock`. Default: the gaps are ignored.
        virtual_sleep: Names of modules whose `time.sleep`, `asyncio.sleep` and `anyio.sleep` use `clock` instead of
            waiting; `cassette.slept` lists these pauses in seconds. Default: none.
        allow_unused: Whether recorded interactions may stay unused. Default: False (`Unused` is raised).
        allow_idle: Whether the run may send no request at all. Default: False (`NotIntercepted` is raised).
        allow_hosts: Names of hosts that requests and sockets may reach while the cassette is open. Default: none.
        accept_encoding: The `accept-encoding` header to send while recording, so that bodies are readable. None keeps the
            client's. Default: `identity`.
        patchers: Has no effect any more, because every client that vcrpy's patchers recorded is recorded without them.
            Default: none.
        run: The id of a test run. With it, `rewrite` of a cassette that several tests share keeps what the other tests
            of the same run recorded. Default: `""`, no run.
        rerecord: The command that records this cassette again, for error messages. Default: the command of the running
            test, or none outside of pytest.
        clock: The clock: `Clock(today=…)` fixes the date. Virtual pauses are added to it. Default: today's date.
        max_age: The age in days from which a recording is stale. Default: no limit.
        policies: Functions that receive a `Recording` and return a sentence if it is stale, else None. Default: none.
        stale: What happens to a stale recording: `ignore`, `warn` or `error` (`Stale` is raised). Default: the environment
            variable CASSETTE_STALE, else `warn`.

    Raises:
        CassetteError: If the file cannot be read, or `mode` is unknown.
        Miss: If a request was not recorded; again at the end, if the code caught it.
        Unused: At the end, if a recorded interaction was not requested.
        Diverged: At the end, if a tool's result differs, the recorded answer no longer fits, and `diverged` is `error`.
        NotIntercepted: At the end, if no request passed through the recorder.
        SecretFound: At the end of a recording, if there is a secret in it; nothing was written.

    Examples:
        >>> with use_cassette("weather.json") as cassette:
        ...     httpx.get("https://api.example.com/weather").json()
        {'temperature': 21}
        >>> cassette.sent[0].url, cassette.exchanges[0].status
        ('https://api.example.com/weather', 200)
    """

    __signature__: ClassVar[inspect.Signature]

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Names what a user of vcrpy may write: `@use_cassette` without a path, and options of vcrpy."""
        if (args and inspect.isroutine(args[0])) or not (args or "path" in options):
            raise TypeError("use_cassette() needs the path of the cassette: @use_cassette('name.json')")
        for hint in filter(None, map(hint_of_vcrpy, options)):
            raise TypeError(f"use_cassette(): {hint.strip()}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._stack = ExitStack()
        self._recording: ModuleType
        self._schedule = Schedule(self.faults)
        self._pending: dict[int, tuple[RequestInFlight, int]] = {}

    def __repr__(self) -> str:
        return f"<Cassette {self.name} ({self.mode}): {len(self.sent)} sent>"

    def __call__(self, function: F) -> F:
        """Decorates a function; each call opens the cassette again."""
        return decorated(function, lambda: replace(self))

    def __enter__(self) -> Self:
        self._recording = _recording()
        with suppress(FileNotFoundError):  # the current folder may have been deleted
            self.folder = self.folder.absolute()  # the program may change it before the end
        if self.shared and self.mode != "live":
            self.before = self._fetched(self.shared)
        exists = self.mode != "live" and self.file.exists()
        self.absent = self.mode != "live" and not exists
        adds = self.mode in ("append", "update") or (
            self.mode == "record" and exists and self._is_of_this_run()
        )
        self.replays = adds or self.mode in ("replay", "verify") or (self.mode == "record" and exists)
        self.records = adds or self.mode == "rewrite" or (self.mode == "record" and not exists)
        self.live_check = LiveCheck(self.target) if self.mode == "verify" else None
        self.partial = _partial(self.replay) if self.only_plays else None
        with ExitStack() as stack:
            if self.mode != "live":
                self.index = stack.enter_context(self._recording.opened(self))
                self.masking = self._recording.Masking() if self.mask and self.records else None
            stack.enter_context(self.clock.in_place_of_sleep(self.virtual_sleep))
            before = client_patching.open_(self)
            stack.callback(lambda: client_patching.close(self, before))
            stack.enter_context(network_guard.guarded(self))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    @property
    def verdict(self) -> Verdict:
        """The `Verdict` on this run, up to now."""
        return verdict(self)

    @property
    def slept(self) -> list[float]:
        """Seconds of each pause that a client made on the virtual clock."""
        return self.clock.slept

    def close(self, error: BaseException | None = None) -> None:
        """Ends the run, as leaving the `with` block does: saves a recording, or checks that everything recorded was used.

        Args:
            error: The exception that the run failed with; None if it succeeded. A failed run does not replace the file.
                Default: `None`.

        Raises:
            HarnessError: One of its subclasses, if the run did not do what its cassette says.
            Miss: If a request was not recorded.

        Examples:
            >>> cassette = use_cassette("weather.json").__enter__()
            >>> answer = httpx.get("https://api.example.com/weather")
            >>> cassette.close()
        """
        self._stack.close()
        self.failed = error is not None
        pending = [take for take, _ in self._pending.values()]
        for take in pending:
            take.closed()
        if self.misses and not _within(self.misses[0], error):
            raise self.misses[0] from error
        if self.records and self.index is not None:
            self._save(pending, error)
        if self.live_check is not None and error is None:
            self.live_check.close(self.name)
        if error is None:
            hold_to_account(self)

    def _save(self, pending: list[RequestInFlight], error: BaseException | None) -> None:
        try:
            if error is None:
                self._check_answers(pending)
            self._recording.save(self, error)
        except BaseException:  # nothing was recorded
            self.failed = True
            raise

    def close_quietly(self) -> None:
        """Ends the run without saving or checking anything.

        Examples:
            >>> cassette = use_cassette("weather.json").__enter__()
            >>> cassette.close_quietly()
        """
        self._stack.close()

    def replace(
        self,
        when: str | Callable[[Sent], bool] = "*",
        *,
        status: int | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        times: int | None = None,
    ) -> None:
        """Replaces answers from now on, in this run only.

        Args:
            when: A pattern of the URL (`*` stands for anything), or a function that receives a `Sent` and returns True for the
                requests to answer. Default: every request.
            status: The HTTP status. Default: the recorded one, or 200 if the request was not recorded.
            body: Bytes, text, or a value to send as JSON. Default: the recorded body.
            headers: Headers to set; the others stay as recorded. Default: none.
            times: How many requests are answered so. Default: all.

        Examples:
            >>> with use_cassette("weather.json") as cassette:
            ...     cassette.replace("*/weather", body={"temperature": -5})
            ...     httpx.get("https://api.example.com/weather").json()
            {'temperature': -5}
        """
        self._schedule.prefer(override(when, status, body, headers, times))

    def _check_answers(self, pending: list[RequestInFlight]) -> None:
        """Raises `NotIntercepted` if the answer to a request did not pass through the recorder."""
        lost = [take.exchange.sent for take in pending if not take.exchange.answered]
        if lost:
            raise NotIntercepted(
                f"{len(lost)} of {len(self.sent)} requests to cassette {self.name} have no recorded answer; nothing was saved:\n  "
                + "\n  ".join(f"{sent.method} {sent.url}" for sent in lost[:10])
                + "\nRead each answer before the cassette is closed. If they were read, this version of the client is not supported."
            )

    def _is_of_this_run(self) -> bool:
        """Tells whether another test of this run has recorded the cassette; this one then adds to it."""
        tests = writers(self.file, self.run) if self.run and not self.shared else []
        return any(not self.writer or test != self.writer for test in tests)

    def _fetched(self, shared: Shared) -> bytes | None:
        """Returns the cassette from the store. A recording needs the store."""
        if self.mode == "rewrite":
            return shared.look(self.path)
        return shared.fetch(self.path, offline=self.mode not in ("append", "update"))

    # What intercepted clients call for each request.

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """Finds the answer to a request that a client is about to send, or adds a place for its recording.

        Args:
            http: The client library of the request (its exceptions and classes).
            request: The client's own request object.
            body: The bytes of its body.

        Returns:
            The request in flight; it has the recorded reply, if there is one.

        Raises:
            Miss: If the request was not recorded, and this mode does not record.
        """
        headers = httpx_transports.lowered(request.headers.raw)
        clean = self._clean(request, headers, body)
        sent = Sent(request.method, clean.uri, {n: masked(n, v) for n, v in headers}, body)
        take = RequestInFlight(http, request, Exchange(sent), self._done, self.clock, miss=self.missed)
        self.sent.append(sent)
        self.exchanges.append(take.exchange)
        try:
            if self.index is not None:
                self._place(take, clean, self.index)
        except CassetteError as error:  # a client would take it for trouble on the line, and try again
            told = str(error) if self.absent else f"cassette {self.name}: {error}"
            raise self.missed(told) from (None if self.absent else error)
        return take

    def holds(self, request: Any, body: bytes) -> bool:
        """Tells whether the cassette has an answer for a request, used or not.

        Args:
            request: The client's own request object.
            body: The bytes of its body.
        """
        if self.index is None:
            return False
        headers = httpx_transports.lowered(request.headers.raw)
        ask = self.index.ask(self._clean(request, headers, body))
        return self.index.find(ask) is not None or bool(self.index.played(ask))

    def may_answer(self, url: str) -> bool:
        """Tells whether requests to an address may be answered from the cassette.

        Args:
            url: The address.

        Examples:
            >>> with use_cassette("weather.json") as cassette:
            ...     answer = httpx.get("https://api.example.com/weather")
            ...     cassette.may_answer("https://api.example.com/weather")
            True
        """
        if self.partial is None:
            return self.replays
        return self.partial.part.replays(Sent("POST", url, {}, b""))

    def routed(self, http: Any, request: Any) -> Any:
        """Returns the request that is really sent while recording. `routes` may change its host.

        Args:
            http: The client library of the request.
            request: The client's own request object.
        """
        return routed(http, request, self.routes or {}, self.accept_encoding)

    def target(self, url: str) -> str:
        """Returns the URL that a request really goes to while recording.

        Args:
            url: The URL that the client asked for.

        Examples:
            >>> with use_cassette("weather.json", routes={"https://api.example.com": "http://127.0.0.1:8123"}) as cassette:
            ...     answer = httpx.get("https://api.example.com/weather")
            ...     cassette.target("https://api.example.com/weather")
            'http://127.0.0.1:8123/weather'
        """
        return target(url, self.routes or {})

    def _clean(self, request: Any, headers: Headers, body: bytes) -> Any:
        """Returns the request in the form of the lookup."""
        return self._recording.recorded_request(
            self.scrub, request.method, str(request.url), headers, body, normalize=self.normalize
        )

    def _place(self, take: RequestInFlight, clean: Any, index: CassetteIndex) -> None:
        """Finds the answer in the index, or adds a place for it there."""
        if self.partial is not None and not self.partial.replays(clean):
            return
        if self.absent and self.only_plays:
            raise CassetteError(self.none)
        ask = index.ask(clean)
        if self.replays and self._play(take, ask, index):
            take.exchange.played = True
            if take.place is not None:
                self.order.append(take.place)
        elif self.only_plays and index.is_about_session(clean):
            take.reply = Reply(405, "Method Not Allowed")
        elif self.records:
            self.workers.note()
            place = index.place(clean)
            self.order.append(place)
            self._pending[id(take)] = take, place
        else:
            raise self.miss(ask, index)

    def _play(self, take: RequestInFlight, ask: RequestKey, index: CassetteIndex) -> bool:
        """Sets the reply of a request in flight. Returns False if there is none."""
        faults, reply = self._schedule.next(take.exchange.sent), Reply(200)
        if not any(fault.answers for fault in faults):
            take.place = index.take(ask, self.partial.find if self.partial else None)
            if take.place is None and not any(fault.alone for fault in faults):
                return False
        if take.place is not None:
            if not self.match.body:
                self.loosely_matched.append((len(self.sent), ask.request, index.data[take.place][0]))
            reply = Reply.recorded(index.response(take.place), timed=self.delays is not None)
            if b'"jsonrpc"' in take.exchange.sent.body:
                reply = _renumbered(reply, index.data[take.place][0].body, take.exchange.sent.body)
            if self.partial is not None:
                self.partial.note(ask, index.keys[take.place], take.place, reply)
            reply = framed(reply, self.framing) if self.framing else reply
        if self.live_check is not None and take.place is not None:
            told = f"{take.exchange.sent.method} {take.exchange.sent.url}"
            self.live_check.ask(told, take.request, take.exchange.sent.body, reply)
        for fault in faults:
            reply = fault.change(reply)
        take.listens = reply.ended == "closed" and index.is_about_session(ask.request)
        take.reply, take.spends = reply, all(fault.spends for fault in faults)
        return True

    def _done(self, take: RequestInFlight) -> None:
        if take.place is not None and self.index is not None:
            recorded_to_fail = "error" in self.index.response(take.place)
            if not take.spends or (take.exchange.failure and not recorded_to_fail):
                self.index.give_back(take.place)
        _, place = self._pending.pop(id(take), (None, None))
        if place is not None and self.index is not None and take.exchange.answered:
            live = self.recorded_from == "live"
            answer = self._recording.recorded_response(
                self.scrub, take.seen(), live=live, masking=self.masking
            )
            self.index.answer(place, answer)


# Without them, the parameters would be those that are written at __new__().
_initial = inspect.signature(Cassette.__init__)
_this, *_given = _initial.parameters.values()
Cassette.__signature__ = _initial.replace(parameters=_given)
vars(Cassette.__new__)["__signature__"] = _initial.replace(parameters=[_this.replace(name="cls"), *_given])
use_cassette = Cassette


def _within(miss: Miss, error: BaseException | None) -> bool:
    """Tells whether the run failed with this miss, alone or in an exception group."""
    if isinstance(error, BaseExceptionGroup):
        return any(_within(miss, inner) for inner in error.exceptions)
    return error is miss


def _recording() -> ModuleType:
    """Imports vcrpy at the first cassette and not before, because vcrpy imports every HTTP client that it
    knows.
    """
    try:
        from . import cassette_file  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        raise HarnessError(f'{error}. Cassettes need vcrpy: pip install "ellmer-core[harness]"') from error
    return cassette_file


def _partial(replay: str | Part | None) -> PartialReplay | None:
    """Returns the part that is replayed, or None for the whole cassette."""
    named = replay or os.environ.get("CASSETTE_REPLAY") or "all"
    if named == "all":
        return None
    from .partial_replay import PartialReplay, part_of  # noqa: PLC0415  # few replays are partial

    return PartialReplay(part_of(named))


def _renumbered(reply: Reply, recorded: bytes, asked: bytes) -> Reply:
    from ..exchange.json_rpc import renumbered  # noqa: PLC0415  # few clients speak JSON-RPC

    return renumbered(reply, recorded or b"", asked)


# --- Routes of requests while recording: the client and the cassette keep the original URL --------------


def routed(http: Any, request: Any, routes: Mapping[str, str], accept_encoding: str | None) -> Any:
    """Returns the request to send, with our accept-encoding. The longest matching route changes its host."""
    asked = str(request.url)
    url = target(asked, routes)
    if url == asked and accept_encoding is None:
        return request
    headers = http.Headers(request.headers)
    if url != asked:
        headers["x-forwarded-host"] = request.url.netloc.decode()
        headers["host"] = http.URL(url).netloc.decode()
    if accept_encoding is not None:
        headers["accept-encoding"] = accept_encoding
    if url == asked:
        same = copy(request)
        same.headers, same.stream, same.extensions = headers, request.stream, request.extensions
        return same
    return http.Request(
        request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
    )


def target(url: str, routes: Mapping[str, str]) -> str:
    """Returns the URL, with its beginning replaced by a matching route. The client has sent a name and password in it as a header."""
    scheme, _, rest = url.partition("://")
    before, at, after = rest.partition("@")
    plain = url if not at or _END_OF_HOST.search(before) else f"{scheme}://{after}"
    for origin in sorted(routes, key=len, reverse=True):
        prefix = origin.rstrip("/")
        if plain.startswith(prefix) and plain[len(prefix) :][:1] in ("", "/", "?", "#"):
            return routes[origin].rstrip("/") + plain[len(prefix) :]
    return url


_END_OF_HOST = re.compile("[/?#]")


# --- The decorator: each call of a function has its own cassette ----------------------------------------


F = TypeVar("F", bound=Callable[..., Any])
Opened = Callable[[], AbstractContextManager[Any]]


def decorated(function: F, opened: Opened) -> F:
    """Wraps a function, blocking or async, generator or not, so that each call runs inside `opened`."""
    around: Any = _plain
    if inspect.isclass(function):
        raise TypeError(
            f"a cassette decorates functions, and {function.__name__} is a class: mark it with pytest.mark.cassette"
        )
    if inspect.iscoroutinefunction(function):
        around = _coroutine
    elif inspect.isasyncgenfunction(function):
        around = _async_generator
    elif inspect.isgeneratorfunction(function):
        around = _generator
    wrapped: Any = functools.wraps(function)(around(function, opened))
    return cast("F", wrapped)


def _plain(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with opened():
            return function(*args, **kwargs)

    return run


def _coroutine(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        with opened():
            return await function(*args, **kwargs)

    return run


def _generator(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with opened():
            return (yield from function(*args, **kwargs))

    return run


def _async_generator(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with opened():
            async for item in function(*args, **kwargs):
                yield item

    return run
