"""Protects a suite that uses vcrpy or pytest-recording: one line in a conftest keeps secrets out of its
recordings.

```python
pytest_plugins = ["ellmer_harness.pytest.vcr"]  # or: pytest -p ellmer_harness.pytest.vcr
```

vcrpy's options, matchers, hooks, serializers, marks and fixtures stay the same. Data is searched before vcrpy
writes it. Headers and parameters whose names suggest a credential are masked. Any other secret raises
`SecretFound`, and nothing is written.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import vcr.cassette
from vcr.cassette import Cassette, CassetteContextDecorator
from vcr.request import Request

from ..errors import SecretFound
from ..format.compression import is_coded, undo
from ..secrets.cassette_scan import scan
from ..secrets.named_credentials import is_of_a_visitor
from ..secrets.redaction import MASK, Scrub, clean_url, is_secret_name, masked

Json = dict[str, Any]


_ORIGINAL = "_ellmer_harness_original"
_REFUSED = "_ellmer_harness_refused"
_OPEN = "_ellmer_harness_open"


def guard_vcrpy() -> None:
    """Searches what vcrpy saves from now on, however the cassette is opened: `vcr.VCR(…)`, `vcr.use_cassette` or `Cassette.use`."""
    _wrap(Cassette, "_save", _searching)
    _wrap(CassetteContextDecorator, "__enter__", _remembering)
    _wrap(CassetteContextDecorator, "__exit__", _raising)
    _wrap(vcr.cassette, "requests_match", _masked_alike)


def release_vcrpy() -> None:
    """Reverts `guard_vcrpy`."""
    for owner, name in (
        (Cassette, "_save"),
        *((CassetteContextDecorator, each) for each in ("__enter__", "__exit__")),
        (vcr.cassette, "requests_match"),
    ):
        setattr(owner, name, getattr(getattr(owner, name), _ORIGINAL, getattr(owner, name)))


def _wrap(owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    real = getattr(getattr(owner, name), _ORIGINAL, getattr(owner, name))
    wrapped = functools.wraps(real)(wrapper(real))
    setattr(wrapped, _ORIGINAL, real)
    setattr(owner, name, wrapped)


class _Searched:
    """Searches what a persister of vcrpy is about to write: after all hooks, with the metadata.

    Only the last interactions, as many as were recorded, are searched. The others were in the file before.
    """

    def __init__(self, persister: Any, recorded: int) -> None:
        self._persister, self._recorded = persister, recorded

    def save_cassette(self, path: Any, content: Json, *rest: Any, **named: Any) -> None:
        """Passes the content on. Raises `SecretFound` if there is a secret in it."""
        interactions = [*zip(content["requests"], content["responses"], strict=True)]
        new = interactions[max(0, len(interactions) - self._recorded) :]
        if (refused := _refusal(str(path), new, content.get("metadata"))) is not None:
            raise refused
        self._persister.save_cassette(path, content, *rest, **named)


def _searching(real: Any) -> Any:
    def save(cassette: Any, force: bool = False) -> None:
        if force or cassette.dirty:
            for place in range(cassette._loaded_count, len(cassette.data)):  # noqa: SLF001  # vcrpy tells it nowhere else
                cassette.data[place] = _without_credentials(*cassette.data[place])
        refused, persister = None, cassette._persister  # noqa: SLF001  # likewise
        cassette._persister = _Searched(persister, len(cassette.data) - cassette._loaded_count)  # noqa: SLF001  # likewise
        try:
            real(cassette, force)
        except SecretFound as error:
            refused = error
        finally:
            cassette._persister = persister  # noqa: SLF001  # likewise
        setattr(cassette, _REFUSED, refused)
        if refused is not None and not getattr(cassette, _OPEN, False):
            raise refused

    return save


def _remembering(real: Any) -> Any:
    def enter(context: Any) -> Any:
        cassette = context.__dict__[_OPEN] = real(context)
        setattr(cassette, _OPEN, True)
        return cassette

    return enter


def _raising(real: Any) -> Any:
    """Raises what was found after vcrpy has removed its patches, because an error while it saves would leave them."""

    def leave(context: Any, *exc_info: object) -> None:
        cassette = context.__dict__.pop(_OPEN, None)
        try:
            real(context, *exc_info)
        finally:
            setattr(cassette, _OPEN, False)
        if (refused := getattr(cassette, _REFUSED, None)) is not None:
            raise refused

    return leave


def _masked_alike(real: Any) -> Any:
    """Finds a recording whose credentials are masked for a request that has them."""

    def matches(request: Request, recorded: Request, matchers: Any) -> bool:
        if real(request, recorded, matchers):
            return True
        return MASK in recorded.uri and bool(real(_masked_request(request), recorded, matchers))

    return matches


def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001  # its name says which hook it is
    """Guards vcrpy, and so pytest-recording, for this run."""
    guard_vcrpy()


def pytest_unconfigure() -> None:
    """Restores vcrpy."""
    release_vcrpy()


def _without_credentials(request: Request, response: Json) -> tuple[Request, Json]:
    """Returns the exchange with masked credentials, as our own cassettes have it."""
    request = _masked_request(_whole(request))
    headers = {name: [*_masked_values(name, values)] for name, values in response.get("headers", {}).items()}
    return request, {**response, "headers": headers}


def _masked_request(request: Request) -> Request:
    """Returns a request with masked headers and parameters."""
    headers = {
        name: masked(name, str(value)) if is_secret_name(name) else value
        for name, value in request.headers.items()
    }
    return Request(request.method, clean_url(request.uri), request.body, headers)


def _whole(request: Request) -> Request:
    """Returns the request with the bytes of its body: vcrpy would pickle an iterator into the file."""
    if isinstance(request.body, bytes | None):
        return request
    body = b"".join(part if isinstance(part, bytes) else str(part).encode() for part in request.body)
    return Request(request.method, request.uri, body, request.headers)


def _masked_values(name: str, values: Any) -> Iterator[Any]:
    for value in values if isinstance(values, list) else [values]:
        if name.lower() == "set-cookie" and is_of_a_visitor(str(value)):
            continue
        if name.lower() == "set-cookie":
            cookie, equals, rest = str(value).partition("=")
            yield cookie + equals + masked("cookie", "x") + ";" * (";" in rest) + rest.partition(";")[2]
        else:
            yield masked(name, value) if isinstance(value, str) else value


def _refusal(path: str, recorded: list[tuple[Request, Json]], metadata: Any) -> SecretFound | None:
    secrets = [(value, name) for value, name in Scrub.of(None).values.items()]
    plain = [{"request": _asked(request), "response": _answered(response)} for request, response in recorded]
    found = [*scan({"interactions": plain, "metadata": metadata or {}}, secrets)]
    if not found:
        return None
    return SecretFound(
        f"nothing was written to {path}: there are secrets in what was recorded\n  "
        + "\n  ".join(map(str, found[:20]))
        + "\nTake them out with vcrpy's filter_post_data_parameters, before_record_request or before_record_response."
    )


def _asked(request: Request) -> Json:
    headers = dict(request.headers)
    return {"uri": request.uri, "headers": headers, "body": _plain(request.body, headers)}


def _answered(response: Json) -> Json:
    """Returns an answer, with the text of a compressed body."""
    body = response.get("body")
    text = body.get("string") if isinstance(body, dict) else body
    return {**response, "body": _plain(text, response.get("headers") or {})}


def _plain(body: Any, headers: Json) -> Any:
    """Returns a body without its content-encoding."""
    found = (value for name, value in headers.items() if name.lower() == "content-encoding")
    coded = next(found, "")
    encoding = ", ".join(coded) if isinstance(coded, list) else str(coded)
    if isinstance(body, bytes) and is_coded(body, encoding):
        with suppress(Exception):  # the codec's own error, or a bomb: the bytes are searched as they are
            return undo(body, encoding)
    return body
