"""The interfaces of the two services, which are the same for all providers.

The methods yield HTTP requests and are sent the bodies of their answers.
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
        """Returns the headers with the key, if there is one."""

    def get(self, url: str) -> Request:
        """Returns a request without a body."""


class StoredFile(NamedTuple):
    """A file at the provider: its name in requests, its creation and expiry (Unix time by the provider's clock), and
    whether it is ready.
    """

    uri: str
    created_at: float | None = None
    expires_at: float | None = None
    ready: bool = True

    def expires(self, now: float) -> float | None:
        """Returns its expiry by the clock that says `now`. Clocks differ, but the time until the expiry is the same."""
        if self.expires_at is None or self.created_at is None:
            return self.expires_at
        return now + self.expires_at - self.created_at


class Batches(ABC):
    """The batch API of one provider: many requests at once. A `batch` is the provider's own object, as its API last
    returned it."""

    @abstractmethod
    def submit(self, to: Endpoint, bodies: Mapping[str, Json]) -> Steps[Json]:
        """Submits the bodies of requests under names, which their answers will have."""

    @abstractmethod
    def poll(self, to: Endpoint, batch: Json) -> Request:
        """Asks for the status of the batch."""

    @abstractmethod
    def done(self, batch: Json) -> bool:
        """Tells whether the batch has ended. Raises `BadRequestError` if it failed as a whole."""

    @abstractmethod
    def results(self, to: Endpoint, batch: Json) -> Steps[dict[str, Json]]:
        """Returns the answers by name. A missing name has no answer."""


class Uploads(ABC):
    """The file API of a provider."""

    @abstractmethod
    def upload(
        self, to: Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        """Uploads a file. Raises `UsageError` if the provider does not support the expiry."""

    @abstractmethod
    def delete(self, to: Endpoint, uri: str) -> Request:
        """Deletes the file."""

    def poll(self, to: Endpoint, uri: str) -> Request | None:  # noqa: ARG002 - as where files are ready at once
        """Asks whether the file is ready. It is `None` if the provider needs no question."""
        return None

    def polled(self, body: bytes) -> StoredFile:
        """Returns the file from the answer."""
        raise NotImplementedError
