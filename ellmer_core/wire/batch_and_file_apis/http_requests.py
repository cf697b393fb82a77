"""Requests of batches and uploads, and the reading of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from ...errors import ResponseError
from ..framing.json_text import read_json
from ..request_and_stream_merger import Json, Request
from .base import Endpoint

__all__ = ["SAFE", "boundary", "delete", "form", "json_object", "key_headers", "post", "url_of"]

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
