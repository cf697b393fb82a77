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
from typing import Any

import pytest
from vcr.cassette import Cassette, CassetteContextDecorator
from vcr.request import Request

from ..errors import SecretFound
from ..secrets.cassette_scan import scan
from ..secrets.named_credentials import is_of_a_visitor
from ..secrets.redaction import Scrub, clean_url, is_secret_name, masked

Json = dict[str, Any]


_ORIGINAL = "_ellmer_harness_original"
_REFUSED = "_ellmer_harness_refused"


def guard_vcrpy() -> None:
    """Searches what vcrpy saves from now on, however the cassette is opened: `vcr.VCR(…)`, `vcr.use_cassette` or `Cassette.use`."""
    _wrap(Cassette, "_save", _searching)
    _wrap(CassetteContextDecorator, "__enter__", _remembering)
    _wrap(CassetteContextDecorator, "__exit__", _raising)


def release_vcrpy() -> None:
    """Reverts `guard_vcrpy`."""
    for owner, name in (
        (Cassette, "_save"),
        *((CassetteContextDecorator, each) for each in ("__enter__", "__exit__")),
    ):
        setattr(owner, name, getattr(getattr(owner, name), _ORIGINAL, getattr(owner, name)))


def _wrap(owner: type, name: str, wrapper: Callable[[Any], Any]) -> None:
    real = getattr(getattr(owner, name), _ORIGINAL, getattr(owner, name))
    wrapped = functools.wraps(real)(wrapper(real))
    setattr(wrapped, _ORIGINAL, real)
    setattr(owner, name, wrapped)


def _searching(real: Any) -> Any:
    def save(cassette: Any, force: bool = False) -> None:
        refused = None
        if force or cassette.dirty:
            recorded = range(cassette._loaded_count, len(cassette.data))  # noqa: SLF001  # vcrpy tells it nowhere else
            for place in recorded:
                cassette.data[place] = _without_credentials(*cassette.data[place])
            refused = _refusal(str(cassette._path), [cassette.data[place] for place in recorded])  # noqa: SLF001  # likewise
        setattr(cassette, _REFUSED, refused)
        if refused is None:
            real(cassette, force)

    return save


def _remembering(real: Any) -> Any:
    def enter(context: Any) -> Any:
        cassette = real(context)
        context.__dict__["_ellmer_harness_cassette"] = cassette
        return cassette

    return enter


def _raising(real: Any) -> Any:
    """Raises what was found after vcrpy has removed its patches, because an error while it saves would leave them."""

    def leave(context: Any, *exc_info: object) -> None:
        real(context, *exc_info)
        cassette = context.__dict__.pop("_ellmer_harness_cassette", None)
        if (refused := getattr(cassette, _REFUSED, None)) is not None:
            raise refused

    return leave


def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001  # its name says which hook it is
    """Guards vcrpy, and so pytest-recording, for this run."""
    guard_vcrpy()


def pytest_unconfigure() -> None:
    """Restores vcrpy."""
    release_vcrpy()


def _without_credentials(request: Request, response: Json) -> tuple[Request, Json]:
    """Returns the exchange with masked credentials, as our own cassettes have it."""
    request = _whole(request)
    for name in [*request.headers]:
        if is_secret_name(name):
            request.headers[name] = masked(name, str(request.headers[name]))
    request.uri = clean_url(request.uri)
    headers = {name: [*_masked_values(name, values)] for name, values in response.get("headers", {}).items()}
    return request, {**response, "headers": headers}


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


def _refusal(path: str, recorded: list[tuple[Request, Json]]) -> SecretFound | None:
    secrets = [(value, name) for value, name in Scrub.of(None).values.items()]
    plain = [
        {
            "request": {"uri": request.uri, "headers": dict(request.headers), "body": request.body},
            "response": {"headers": response["headers"], "body": response.get("body", {}).get("string")},
        }
        for request, response in recorded
    ]
    found = [*scan({"interactions": plain}, secrets)]
    if not found:
        return None
    return SecretFound(
        f"nothing was written to {path}: there are secrets in what was recorded\n  "
        + "\n  ".join(map(str, found[:20]))
        + "\nTake them out with vcrpy's filter_post_data_parameters, before_record_request or before_record_response."
    )
