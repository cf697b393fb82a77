"""The errors of the harness, and their order.

```
HarnessError
├── CassetteError       the file: missing, truncated, corrupt, of a later version
│   └── StoreError      its shared store: unavailable, or changed by another process
├── Refused             the judge found a fault in the recording
├── SecretFound         the recording contains a secret
├── Stale               the recording is too old, and the options make this an error
├── Drift               the live answers have other fields than the recorded ones
├── Diverged            a tool's result differs, and the model's recorded answer no longer fits
├── Unused              a recorded interaction was not requested
└── NotIntercepted      no request of the run passed through the recorder
BaseException
└── Miss                a request that is not in the cassette
    └── Blocked         a socket that the cassette does not control; a ConnectionError, too
```

A `Miss` is not an `Exception`, because client libraries catch exceptions, retry, and report a connection
error. If the code catches it anyway, it is raised again when the cassette closes.
"""

from __future__ import annotations

__all__ = [
    "Blocked",
    "CassetteError",
    "Diverged",
    "Drift",
    "HarnessError",
    "Miss",
    "NotIntercepted",
    "Refused",
    "SecretFound",
    "Stale",
    "StoreError",
    "Unused",
]


class HarnessError(Exception):
    """Base class of the errors below; `Miss` and `Blocked` are not part of it.

    Examples:
        >>> issubclass(Unused, HarnessError), issubclass(Miss, HarnessError)
        (True, False)
    """


class CassetteError(HarnessError):
    """The cassette file cannot be used: it is missing, truncated, corrupt or of a later version. Nothing was overwritten.

    Examples:
        >>> _ = Path("broken.json").write_text("{")
        >>> try:
        ...     with use_cassette("broken.json"):
        ...         pass
        ... except CassetteError:
        ...     print("The file is damaged.")
        The file is damaged.
    """


class StoreError(CassetteError):
    """A shared store is unavailable, holds a partial object, or was changed by another process.

    Examples:
        >>> from ellmer_harness.store import open_store
        >>> try:
        ...     open_store("nothing://bucket")
        ... except StoreError:
        ...     print("There is no such kind of store.")
        There is no such kind of store.
    """


class Stale(HarnessError):
    """The recording is too old, and `--cassette-stale=error` or CASSETTE_STALE makes this an error. Record it again.

    Examples:
        >>> with use_cassette("weather.json", max_age=30, stale="error"):  # doctest: +SKIP
        ...     httpx.get("https://api.example.com/weather")
    """


class Refused(HarnessError):
    """The judge found a fault in a recording; nothing was saved. The message has the judge's sentences.

    Examples:
        >>> def judge(requests):
        ...     return ["The model is missing."]
        >>> with use_cassette("chat.json", mode="record", judge=judge):  # doctest: +SKIP
        ...     httpx.post("http://127.0.0.1:8087/v1/chat/completions", json={})
    """


class SecretFound(HarnessError):
    """The data to write contains a secret; nothing was saved.

    Name the secret in `secrets=`, replace all findings with `mask=True`, or accept a false finding with `not_secret=`.

    Examples:
        >>> with use_cassette("login.json", mode="record"):  # doctest: +SKIP
        ...     httpx.post("https://api.example.com/login", json={"token": "ghp_…"})
    """


class Drift(HarnessError):
    """In mode `verify`: a live answer has other fields, or another status, than the recorded one.

    Examples:
        >>> with use_cassette("weather.json", mode="verify"):  # doctest: +SKIP
        ...     httpx.get("https://api.example.com/weather")
    """


class Diverged(HarnessError):
    """With `replay="model"`: a tool's result is not the recorded one, and the recorded answer no longer fits.

    Examples:
        >>> with use_cassette("agent.json", replay="model", diverged="error"):  # doctest: +SKIP
        ...     run_the_agent()
    """


class Unused(HarnessError):
    """The run did not request every recorded interaction.

    Record again if the code now sends fewer requests, or pass `allow_unused=True`.

    Examples:
        >>> try:
        ...     with use_cassette("stream.json", allow_idle=True):
        ...         pass
        ... except Unused:
        ...     print("A recorded interaction was not requested.")
        A recorded interaction was not requested.
    """


class NotIntercepted(HarnessError):
    """The run ended, and no request passed through the recorder.

    Check that the client is one of those that `Cassette` names, and that the code under test was called. `allow_idle=True`
    allows a run without requests.

    Examples:
        >>> try:
        ...     with use_cassette("weather.json", allow_unused=True):
        ...         pass
        ... except NotIntercepted:
        ...     print("No request was sent.")
        No request was sent.
    """


class Miss(BaseException):
    """A request is not in the cassette. The class is not an `Exception`, so no SDK catches it and retries.

    Examples:
        >>> try:
        ...     with use_cassette("weather.json", allow_unused=True):
        ...         httpx.get("https://api.example.com/forecast")
        ... except Miss:
        ...     print("The request is not in the cassette.")
        The request is not in the cassette.
    """


class Blocked(Miss, ConnectionError):
    """The code opened a socket that the cassette does not control, while the cassette replays.

    It is a `ConnectionError`, too: clients close their sockets, and event loops and pytest's fixtures pass it on, as with
    any failed connection. If the code catches it, it is raised again when the cassette closes.

    Examples:
        >>> import socket
        >>> try:
        ...     with use_cassette("weather.json", allow_unused=True, allow_idle=True):
        ...         socket.create_connection(("192.0.2.1", 80))
        ... except Blocked:
        ...     print("The cassette replays, so no socket is opened.")
        The cassette replays, so no socket is opened.
    """
