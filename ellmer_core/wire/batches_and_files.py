"""The batch APIs and file APIs of providers: the interfaces, which are the same for all of them, and their HTTP requests.

The methods yield requests and are sent the bodies of their answers. They do no I/O.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple, Protocol, TypeVar

from ..errors import ResponseError
from .interfaces import Json, Request
from .shared.json_objects import read_json

# --- interfaces ------------------------------------------------------------------------------------------


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
        ...

    def get(self, url: str) -> Request:
        """Returns a request without a body."""
        ...


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
    def submit(self, to: Endpoint, bodies: Mapping[str, Json], tag: str) -> Steps[Json]:
        """Submits the bodies of requests under names, which their answers will have. The batch is marked with the tag if the
        API has a place for it.
        """

    #: Whether `find()` finds a batch by its tag.
    tagged = False

    def find(self, to: Endpoint, tag: str) -> Steps[Json | None]:  # noqa: ARG002 - of those that are tagged
        """Returns the batch with the tag, or `None` if there is none among the latest ones."""
        yield from ()
        return None

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


# --- requests --------------------------------------------------------------------------------------------


NO_HEADERS: Mapping[str, str] = {}
#: Names and types that cannot end their header line.
SAFE = dict.fromkeys((*range(32), 127, ord('"'), ord("\\")), "_")


def url_of(to: Endpoint, path: str) -> str:
    """Returns the URL of an API path."""
    return f"{to.base_url.rstrip('/')}{path}"


def key_headers(to: Endpoint) -> dict[str, str]:
    """Returns the headers with the key, and the caller's."""
    return {**to.headers(), **to.api_headers}


def post(to: Endpoint, path: str, body: Json) -> Request:
    """Returns a request with a JSON body."""
    return Request(url_of(to, path), key_headers(to), body)


def delete(to: Endpoint, path: str, beta: Mapping[str, str] = NO_HEADERS) -> Request:
    """Returns a request that deletes an object."""
    return Request(url_of(to, path), {**key_headers(to), **beta}, {}, method="DELETE")


def form(  # noqa: PLR0917 - a file has this many sides
    to: Endpoint,
    fields: Mapping[str, str],
    data: bytes,
    type: str,
    filename: str,
    beta: Mapping[str, str] = NO_HEADERS,
) -> Request:
    """Returns fields and a file for `/files`, in the encoding of an HTML form. https://www.rfc-editor.org/rfc/rfc7578"""
    edge = boundary(data)
    part = f"--{edge}\r\nContent-Disposition: form-data; name="
    head = "".join(f'{part}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    file = (
        f'{part}"file"; filename="{filename.translate(SAFE)}"\r\nContent-Type: {type.translate(SAFE)}\r\n\r\n'
    )
    headers = {**key_headers(to), **beta, "content-type": f"multipart/form-data; boundary={edge}"}
    raw = (head + file).encode() + data + f"\r\n--{edge}--\r\n".encode()
    return Request(url_of(to, "/files"), headers, {}, raw=raw)


def boundary(data: bytes) -> str:
    """Returns the boundary of the parts. It is the hash of their content, so it is not in the content."""
    return f"ellmer-core-{sha256(data).hexdigest()}"


def json_object(body: bytes, what: str) -> Json:
    """Returns the answer as an object; `what` names it in an error."""
    try:
        value = read_json(body)
    except (ValueError, RecursionError) as error:
        raise ResponseError(f"{what} is not JSON ({error}): {body[:200]!r}") from error
    if not isinstance(value, dict):
        raise ResponseError(f"{what} is not an object: {body[:200]!r}")
    return value


def batch_object(body: bytes) -> Json:
    """Returns the answer of a batch API."""
    return json_object(body, "The answer of the batch API")


def listed(answer: Json, name: str) -> list[Json]:
    """Returns the objects of a list in an answer."""
    items = answer.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def json_lines(body: bytes) -> Iterator[Json]:
    """Yields the objects in JSON lines. Other lines are ignored."""
    for line in body.splitlines():
        try:
            value = read_json(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def file_object(body: bytes) -> Json:
    """Returns the answer to an upload."""
    return json_object(body, "The answer to an upload")


def number_field(file: Json, name: str) -> float | None:
    """Returns a number in the answer to an upload."""
    value = file.get(name)
    return value if isinstance(value, int | float) else None


def text_field(file: Json, name: str) -> str:
    """Returns a text in the answer to an upload. Raises `ResponseError` if there is none."""
    if isinstance(value := file.get(name), str) and value:
        return value
    raise ResponseError(f"The answer to an upload has no `{name}`: {str(file)[:200]}")
