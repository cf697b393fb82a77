"""Requests outside the conversation: counting tokens, listing models, storing files, submitting a
batch. They are steps as in
`conversation.loop`, so that the same two drivers carry them out, blocking or async, with the same retries.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..contents.content import ContentFile, ContentImageInline, ContentPDF, ContentUploaded, ToolDef
from ..contents.turns import Turn
from ..conversation import retries
from ..conversation.io_operations import Answer, Clock, Loop, ReadBody, Send, Wait
from ..conversation.request_cache import encoded
from ..conversation.settings import StreamController
from ..errors import ConnectError, EllmerError, ProviderError, ResponseError, UsageError
from ..wire.base import Wire
from ..wire.batches_and_files import Steps, Uploads
from ..wire.interfaces import Request
from ..wire.shared.json_objects import read_json
from .blocking_driver import BlockingDriver, drive
from .http_clients import Connection

if TYPE_CHECKING:
    from ..schemas.type_classes import Type

PAUSE, LONGEST = 2.0, 600.0  # seconds: between two looks at a file that is not ready, and in all

T = TypeVar("T")


def asked(
    wire: Wire, request: Request, *, max_tries: int = 3, before: Callable[[], object] = lambda: None
) -> Loop[bytes]:
    """Returns the body of the answer, with retries if they may help. `max_tries=1` is for requests that must not be
    repeated. `before` is called when the request is complete, right before it is sent.
    """
    body = request.raw
    if body is None:
        body = encoded(request.json) if request.json else b""
    for tries in count(1):
        answer = Answer(0)
        before()
        try:
            answer = yield Send(request, body)
            content: bytes = yield ReadBody()
            if 200 <= answer.status < 300:
                return content
            raise wire.error(answer.status, answer.headers, content)
        except (ProviderError, ConnectError) as error:
            wait = retries.wait(error, answer.headers, tries)
            if tries >= max_tries or wait is None:
                raise
        yield Wait(*wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


def asked_json(wire: Wire, request: Request, *, max_tries: int = 3) -> Loop[Any]:
    """Returns the JSON of the answer."""
    body = yield from asked(wire, request, max_tries=max_tries)
    try:
        return read_json(body)
    except (ValueError, RecursionError) as error:
        raise ResponseError(f"The answer of {request.url} is not JSON ({error}): {body[:200]!r}") from error


def stepped(wire: Wire, steps: Steps[T], *, max_tries: int = 3) -> Loop[T]:
    """Sends the requests that the steps of a batch API or an upload yield."""
    try:
        request = next(steps)
        while True:
            request = steps.send((yield from asked(wire, request, max_tries=max_tries)))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # StopIteration has no type parameter


def counted(wire: Wire, turns: Sequence[Turn], tools: Sequence[ToolDef], type: Type | None) -> Loop[int]:
    """Returns the number of tokens of this input, as the provider counts them."""
    response = yield from asked_json(wire, wire.count_request(turns, tools, type=type))
    try:
        return wire.counted(response)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ResponseError(
            f"This response has no count of tokens ({error!r:.200}): {response!r:.200}"
        ) from error


def uploaded(
    wire: Wire, path: str | Path, content_type: str | None, expires_in: float | None
) -> Loop[ContentUploaded]:
    """Returns a file that the provider has stored, when it is ready."""
    from ..contents.files import content_file  # noqa: PLC0415 - only needed to upload

    uploads = _uploads(wire)
    content: ContentFile | ContentImageInline | ContentPDF = content_file(path, content_type)
    steps = uploads.upload(wire, b64decode(content.data), content.type, Path(path).name, expires_in)
    stored = yield from stepped(wire, steps, max_tries=1)
    waited = 0.0
    while not stored.ready:
        look = uploads.poll(wire, stored.uri)
        if waited >= LONGEST or look is None:
            raise ResponseError(f"{path} was uploaded, but is not ready after {waited:g} seconds.")
        yield Wait(PAUSE, PAUSE)
        waited += PAUSE
        stored = uploads.polled((yield from asked(wire, look)))
    expires = stored.expires((yield Clock(wall=True)))
    return ContentUploaded(stored.uri, content.type, wire.name, wire.provider, expires, source=content)


def deleted(wire: Wire, file: ContentUploaded) -> Loop[None]:
    """Deletes an uploaded file from the provider."""
    if not wire.holds(file):
        raise UsageError(f"The file was uploaded to {file.provider or file.wire}, not to {wire.provider}.")
    yield from asked(wire, _uploads(wire).delete(wire, file.uri))


def _uploads(wire: Wire) -> Uploads:
    if wire.uploads is None:
        raise UsageError(
            f"{wire.provider} does not store files over this API. Use content_file(), which sends the file with the request."
        )
    return wire.uploads


def run(loop: Loop[T], connection: Connection) -> T:
    """Runs the steps in blocking code and returns their result."""
    driver = BlockingDriver(connection, StreamController())
    steps = drive(loop, driver)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # StopIteration has no type parameter
    except EllmerError as error:
        driver.without_keys(error)
        raise


async def arun(loop: Loop[T], connection: Connection) -> T:
    """Runs the steps in async code and returns their result."""
    from .async_driver import AsyncDriver, adrive  # noqa: PLC0415 - it imports asyncio

    outcome: list[T] = []
    driver = AsyncDriver(connection, StreamController())

    def kept() -> Loop[None]:
        outcome.append((yield from loop))

    try:
        async with aclosing(adrive(kept(), driver)) as steps:
            async for _ in steps:
                pass
    except EllmerError as error:
        driver.without_keys(error)
        raise
    return outcome[0]
