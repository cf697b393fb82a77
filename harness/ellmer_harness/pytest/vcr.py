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

from collections.abc import Callable, Iterator
from typing import Any, Self

import pytest
import vcr.config
from vcr.cassette import Cassette, CassetteContextDecorator
from vcr.request import Request

from ..errors import SecretFound
from ..secrets.cassette_scan import scan
from ..secrets.redaction import Scrub, clean_url, is_secret_name, masked

__all__ = ["Guarded", "guard_vcrpy", "release_vcrpy"]

Json = dict[str, Any]


class Guarded(Cassette):  # type: ignore[misc]  # vcrpy publishes no types
    """vcrpy's cassette with a search before it is saved. `refused` holds the findings, which are raised when
    the context ends.
    """

    refused: SecretFound | None = None

    @classmethod
    def use(cls, **kwargs: Any) -> _Context:
        """Works like vcrpy's method."""
        return _Context.from_args(cls, **kwargs)  # type: ignore[no-any-return]  # vcrpy publishes no types

    @classmethod
    def use_arg_getter(cls, arg_getter: Callable[[], Json]) -> _Context:
        """Works like vcrpy's method."""
        return _Context(cls, arg_getter)

    def _save(self, force: bool = False) -> None:
        if force or self.dirty:
            recorded = range(self._loaded_count, len(self.data))
            for place in recorded:
                self.data[place] = _without_credentials(*self.data[place])
            self.refused = _refusal(str(self._path), [self.data[place] for place in recorded])
        if self.refused is None:
            super()._save(force)


class _Context(CassetteContextDecorator):  # type: ignore[misc]  # vcrpy publishes no types
    """vcrpy's context, which removes its patches before an error is raised."""

    _cassette: Guarded | None = None

    def __enter__(self) -> Guarded:
        self._cassette = super().__enter__()
        return self._cassette

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        cassette, self._cassette = self._cassette, None
        if cassette is not None and cassette.refused is not None:
            raise cassette.refused

    def __call__(
        self, *args: Any, **kwargs: Any
    ) -> Self:  # the base's is a descriptor that mypy does not know
        return super().__call__(*args, **kwargs)  # type: ignore[no-any-return]  # likewise


def guard_vcrpy() -> None:
    """Makes `vcr.VCR(…)` and `vcr.use_cassette` return guarded cassettes from now on."""
    vcr.config.Cassette = Guarded


def release_vcrpy() -> None:
    """Reverts `guard_vcrpy`."""
    vcr.config.Cassette = Cassette


def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001  # its name says which hook it is
    """Guards vcrpy, and so pytest-recording, for this run."""
    guard_vcrpy()


def pytest_unconfigure() -> None:
    """Restores vcrpy."""
    release_vcrpy()


def _without_credentials(request: Request, response: Json) -> tuple[Request, Json]:
    """Returns the exchange with masked credentials, as our own cassettes have it."""
    for name in [*request.headers]:
        if is_secret_name(name):
            request.headers[name] = masked(name, str(request.headers[name]))
    request.uri = clean_url(request.uri)
    headers = {name: [*_masked_values(name, values)] for name, values in response.get("headers", {}).items()}
    return request, {**response, "headers": headers}


def _masked_values(name: str, values: Any) -> Iterator[Any]:
    for value in values if isinstance(values, list) else [values]:
        if name.lower() == "set-cookie":
            cookie, equals, rest = str(value).partition("=")
            yield cookie + equals + masked("cookie", "x") + ";" * (";" in rest) + rest.partition(";")[2]
        else:
            yield masked(name, value) if isinstance(value, str) else value


def _refusal(path: str, recorded: list[tuple[Request, Json]]) -> SecretFound | None:
    known = [(value, name) for value, name in Scrub.of(None).values.items()]
    plain = [
        {
            "request": {"uri": request.uri, "headers": dict(request.headers), "body": request.body},
            "response": {"headers": response["headers"], "body": response.get("body", {}).get("string")},
        }
        for request, response in recorded
    ]
    found = [*scan({"interactions": plain}, known)]
    if not found:
        return None
    return SecretFound(
        f"nothing was written to {path}: there are secrets in what was recorded\n  "
        + "\n  ".join(map(str, found[:20]))
        + "\nTake them out with vcrpy's filter_post_data_parameters, before_record_request or before_record_response."
    )
