"""A cassette while it is in use: `with use_cassette("tests/cassettes/chat.json") as tape: …`.

The same context manager serves blocking and async code. At the end, a recording is judged, scanned and saved.
A replay is checked: everything recorded was used, no request was missing, and something was intercepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import Any, Self

from ..errors import HarnessError, Miss
from ..exchange.messages import Sent
from ..faults.status_and_connection_faults import override
from ..interception import client_patching, network_guard
from ..store.local_copies import Shared
from .decorator import F, decorated
from .request_lookup import RequestLookup
from .run_verdict import Verdict, hold_to_account, verdict
from .verify_mode import LiveCheck

__all__ = ["Tape", "use_cassette"]


@dataclass(eq=False, repr=False)
class Tape(RequestLookup):
    """A cassette in use: a context manager for blocking and async code, and a decorator. `use_cassette` is its usual name.

    While it is open, requests of httpx, httpx2, urllib3 (so requests and boto3), aiohttp and grpcio are recorded or replayed. `sent` is
    the list of the requests of this run (`Sent`), `exchanges` the list of requests with their answers (`Exchange`).

    Args:
        path: The cassette's file, for example `tests/cassettes/chat.json`. Recordings of other tools (YAML, HAR) are replayed, too.
        mode: `replay` never uses the network. `record` records if there is no cassette, and replays otherwise. `rewrite` records
            again and replaces the file if the run succeeded. `append` replays recorded requests and records new ones. `verify`
            replays, sends every request to the real server too, and fails if its answers have other fields. `live` uses no
            cassette. Default: the option `--cassette-mode` of pytest, else the environment variable CASSETTE_MODE, else `replay`.
        routes: Where requests go while recording: `{"https://api.example.com": "http://127.0.0.1:8123"}`. The client and the
            cassette keep the original URL. Default: requests go where the client sends them.
        recorded_from: The name of the server that answers while recording. With any name but `live` (the default), the
            cassette has no date and no versions, and is refused if `judge` finds a fault.
        judge: A function that receives the list of requests (`Sent`) before a recording is saved and returns a list of
            sentences: what is wrong with them. Default: no check.
        store: Where the cassette is shared with other machines: a folder, `redis://…`, `s3://…` or a `Store`; `""` for no store.
            Default: the environment variable CASSETTE_STORE, else no store.
        root: The folder that keys in the store are relative to. Default: the current folder.
        scrub: A `Scrub` that says what may be written. It replaces `secrets` and `keep_headers`.
        secrets: `{"NAME": "value"}`: the cassette has `<NAME>` instead of the value, and a request that contains the value
            matches it. Keys, tokens and passwords of the environment are always treated so.
        not_secret: Fingerprints of findings (eight hex digits, from the error message) that are not secrets.
        mask: Whether secrets that are found while recording are replaced by placeholders instead of raising `SecretFound`.
            A value that the server generated becomes `REDACTED_1` everywhere. Default: False.
        keep_headers: Patterns of further header names to write, of requests and answers (`"x-trace-*"`). Credentials are never
            written.
        match: A `Match` that says when two requests are the same. Default: method, URL, body and relevant headers are equal.
        normalize: A function that receives each request (`Sent`) before it is compared or written, and returns the one to use.
            It is for values that differ in every run.
        before_save: A function that receives each new interaction as vcrpy's dictionary, bodies as bytes. It returns the
            dictionary to write, or None to leave the interaction out.
        on_repeat: What a request gets once all its recordings were played: `error` (a `Miss`, the default), `last` (the last one
            again) or `cycle` (the first one again).
        metadata: A dictionary that is written into the cassette's metadata.
        blobs: The folder of binary bodies. Default: `blobs` beside the cassette.
        faults: Faults of `ellmer_harness.faults`, one per request in order; a tuple of faults applies to one request together.
        framing: How bodies are cut into chunks: words such as `every-byte`, `events`, `whole`, `split:N`, `random:SEED`,
            `crlf`, `lf`, or a function of the reply. Default: as they were recorded.
        delays: `real` sleeps the recorded gaps between chunks, `virtual` adds them up on `clock`. Default: the gaps are ignored.
        virtual_sleep: Names of modules whose `time.sleep`, `asyncio.sleep` and `anyio.sleep` use `clock` instead of waiting;
            `tape.slept` lists these pauses in seconds.
        allow_unused: Whether recorded interactions may stay unused. Default: False (`Unused` is raised).
        allow_idle: Whether the run may send no request at all. Default: False (`NotIntercepted` is raised).
        allow_hosts: Names of hosts that requests and sockets may reach while the cassette is open.
        accept_encoding: The `accept-encoding` header to send while recording, so that bodies are readable. None keeps the
            client's. Default: `identity`.
        patchers: vcrpy's patchers for other clients: `httplib`, `httplib2`, `tornado`.
        run: The id of a test run. With it, `rewrite` of a cassette that several tests share keeps what the other tests of the same
            run recorded.
        rerecord: The command that records this cassette again, for error messages.
        clock: The clock: `Clock(today=…)` fixes the date. Virtual pauses are added to it.
        max_age: The age in days from which a recording is stale. Default: no limit.
        policies: Functions that receive a `Recording` and return a sentence if it is stale, else None.
        stale: What happens to a stale recording: `ignore`, `warn` or `error` (`Stale` is raised). Default: the environment
            variable CASSETTE_STALE, else `warn`.

    Raises:
        CassetteError: If the file cannot be read, or `mode` is unknown.
        Miss: If a request was not recorded; again at the end, if the code caught it.
        Unused: At the end, if a recorded interaction was not requested.
        NotIntercepted: At the end, if no request passed through the recorder.
        SecretFound: At the end of a recording, if there is a secret in it; nothing was written.

    Examples:
        >>> with use_cassette("weather.json") as tape:
        ...     httpx.get("https://api.example.com/weather").json()
        {'temperature': 21}
        >>> tape.sent[0].url, tape.exchanges[0].status
        ('https://api.example.com/weather', 200)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._stack = ExitStack()

    def __repr__(self) -> str:
        return f"<Tape {self.name} ({self.mode}): {len(self.sent)} sent>"

    def __call__(self, function: F) -> F:
        """Decorates a function; each call opens the cassette anew."""
        return decorated(function, lambda: replace(self))

    def __enter__(self) -> Self:
        self._recording = _recording()
        if self.shared and self.mode != "live":
            self.before = self._fetched(self.shared)
        exists = self.mode != "live" and self.file.exists()
        self.absent = self.mode != "live" and not exists
        self.replays = self.mode in ("replay", "append", "verify") or (self.mode == "record" and exists)
        self.records = self.mode in ("rewrite", "append") or (self.mode == "record" and not exists)
        self.live_check = LiveCheck(self.target) if self.mode == "verify" else None
        with ExitStack() as stack:
            if self.mode != "live":
                self.index = stack.enter_context(self._recording.opened(self))
                self.masking = self._recording.Masking() if self.mask and self.records else None
            stack.enter_context(self.clock.in_place_of_sleep(self.virtual_sleep))
            network_guard.watch()
            before = client_patching.open_(self)
            stack.callback(lambda: client_patching.close(self, before))
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

        Raises:
            HarnessError: One of its subclasses, if the run did not do what its cassette says.
            Miss: If a request was not recorded.
        """
        self._stack.close()
        self.failed = error is not None
        for take, _ in [*self._pending.values()]:
            take.closed()
        if self.misses and not _within(self.misses[0], error):
            raise self.misses[0] from error
        if self.records and self.index is not None:
            self._recording.save(self, error)
        if self.live_check is not None and error is None:
            self.live_check.close(self.name)
        if error is None:
            hold_to_account(self)

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
            headers: Headers to set; the others stay as recorded.
            times: How many requests are answered so. Default: all.

        Examples:
            >>> with use_cassette("weather.json") as tape:
            ...     tape.replace("*/weather", body={"temperature": -5})
            ...     httpx.get("https://api.example.com/weather").json()
            {'temperature': -5}
        """
        self._schedule.prefer(override(when, status, body, headers, times))

    def _fetched(self, shared: Shared) -> bytes | None:
        """Returns the cassette from the store. A recording needs the store."""
        if self.mode == "rewrite":
            return shared.look(self.path)
        return shared.fetch(self.path, offline=self.mode != "append")


use_cassette = Tape


def _within(miss: Miss, error: BaseException | None) -> bool:
    """Tells whether the run failed with this miss, alone or in an exception group."""
    if isinstance(error, BaseExceptionGroup):
        return any(_within(miss, one) for one in error.exceptions)
    return error is miss


def _recording() -> ModuleType:
    """Imports vcrpy at the first cassette and not before, because vcrpy imports every HTTP client that it
    knows.
    """
    try:
        from . import cassette_saving  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise HarnessError(f'{error}. Cassettes need vcrpy: pip install "ellmer-core[harness]"') from error
    return cassette_saving
