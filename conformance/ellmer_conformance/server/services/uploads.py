"""Files that a client uploaded and names in a request by their id: the request with their bytes in place of the id."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...contract.observed.exchange import Json
from ...contract.request import Request
from .service_request import File

__all__ = ["with_uploads"]


def with_uploads(request: Request, files: Mapping[str, File]) -> Request:
    """Returns the request as if the client had sent the uploaded files inline.

    Args:
        request: The request.
        files: The uploaded files by id.
    """
    return replace(request, body=_inlined(request.body, files))


def _inlined(value: Any, files: Mapping[str, File]) -> Any:
    if isinstance(value, list):
        return [_inlined(item, files) for item in value]
    if not isinstance(value, dict):
        return value
    google = value.get("fileData") or value.get("file_data")
    if isinstance(google, dict) and (
        file := files.get(_last(google.get("fileUri") or google.get("file_uri")))
    ):
        return {"inlineData": {"mimeType": file.type, "data": _base64(file)}}
    if file := files.get(str(value.get("file_id"))):
        return {k: v for k, v in value.items() if k != "file_id"} | _content(value, file)
    return {key: _inlined(item, files) for key, item in value.items()}


def _content(part: Json, file: File) -> Json:
    """Returns the fields that stand for `file_id` in a part that has the bytes themselves."""
    url = f"data:{file.type};base64,{_base64(file)}"
    match part.get("type"):
        case "file":  # the source of a block of Anthropic
            return {"type": "base64", "media_type": file.type, "data": _base64(file)}
        case "input_image":
            return {"image_url": url}
        case _:
            return {"file_data": url, "filename": file.name}


def _last(uri: Any) -> str:
    return str(uri).rpartition("/")[2]


def _base64(file: File) -> str:
    return b64encode(file.data).decode("ascii")
