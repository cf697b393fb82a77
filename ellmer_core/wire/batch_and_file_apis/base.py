"""The two services as every caller sees them, whichever the provider.

The methods yield the HTTP requests to make and are sent the bodies of their answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import NamedTuple, Protocol, TypeVar

from ..request_and_stream_merger import Json, Request

__all__ = ["Batches", "Endpoint", "Steps", "StoredFile", "Uploads"]

T = TypeVar("T")
Steps = Generator[Request, bytes, T]


class Endpoint(Protocol):
    """The address of a provider, and the way to send requests to it. A `Wire` is one."""

    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def api_headers(self) -> Mapping[str, str]: ...
    def headers(self) -> dict[str, str]:
        """Returns the headers that carry the key, if there is one."""

    def get(self, url: str) -> Request:
        """Returns a request without a body."""


class StoredFile(NamedTuple):
    """A file at the provider: how requests name it, when it was made and when it is deleted (Unix time by the
    provider's clock), and whether it is ready."""

    uri: str
    created_at: float | None = None
    expires_at: float | None = None
    ready: bool = True

    def expires(self, now: float) -> float | None:
        """When it is deleted, by the clock that says `now`: clocks differ, the time between does not."""
        if self.expires_at is None or self.created_at is None:
            return self.expires_at
        return now + self.expires_at - self.created_at


class Batches(ABC):
    """The batch API of one provider: many requests at once. A `batch` is the provider's own object, as its API last
    returned it."""

    @abstractmethod
    def submit(self, to: Endpoint, bodies: Mapping[str, Json]) -> Steps[Json]:
        """Hands in the bodies of requests, by the names that their answers will bear."""

    @abstractmethod
    def poll(self, to: Endpoint, batch: Json) -> Request:
        """Asks how far it is."""

    @abstractmethod
    def done(self, batch: Json) -> bool:
        """Tells whether the job has ended. Raises `BadRequestError` where it failed as a whole."""

    @abstractmethod
    def results(self, to: Endpoint, batch: Json) -> Steps[dict[str, Json]]:
        """Returns the answers by name; one that is missing was not given."""


class Uploads(ABC):
    """The file API of a provider."""

    @abstractmethod
    def upload(
        self, to: Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        """Uploads a file. Raises `UsageError` for an expiry that the provider does not keep."""

    @abstractmethod
    def delete(self, to: Endpoint, uri: str) -> Request:
        """Deletes it."""

    def poll(self, to: Endpoint, uri: str) -> Request | None:  # noqa: ARG002 - as where files are ready at once
        """Asks whether the file is ready; `None` where there is nothing to ask."""
        return None

    def polled(self, body: bytes) -> StoredFile:
        """Returns the answer to that."""
        raise NotImplementedError
