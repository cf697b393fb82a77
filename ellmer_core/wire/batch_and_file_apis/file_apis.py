"""Files that a provider stores: they are uploaded once, used in many requests, and deleted."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

from ...errors import BadRequestError, ResponseError, UsageError
from ..request_and_stream_merger import Json, Request
from .base import Endpoint, Steps, StoredFile, Uploads
from .http_requests import SAFE, boundary, delete, form, json_object, key_headers, url_of

__all__ = ["AnthropicUploads", "GeminiUploads", "OpenAIUploads"]

ANTHROPIC_BETA = {"anthropic-beta": "files-api-2025-04-14"}


class OpenAIUploads(Uploads):
    """OpenAI's files. https://developers.openai.com/api/reference/resources/files"""

    shortest, longest = 3600, 2_592_000  # seconds

    def upload(
        self, to: Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        fields = {"purpose": "user_data"}
        if expires_in is not None:
            if not self.shortest <= expires_in <= self.longest:
                raise UsageError(
                    "OpenAI keeps files for one hour to 30 days. Set expires_in= to 3600 to 2592000 seconds."
                )
            fields |= {"expires_after[anchor]": "created_at", "expires_after[seconds]": str(int(expires_in))}
        return self.stored(_object((yield form(to, fields, data, type, filename))))

    def stored(self, file: Json) -> StoredFile:
        return StoredFile(_text(file, "id"), _number(file, "created_at"), _number(file, "expires_at"))

    def delete(self, to: Endpoint, uri: str) -> Request:
        return delete(to, f"/files/{quote(uri, safe='')}")


class AnthropicUploads(Uploads):
    """Anthropic's files, which stay until they are deleted. https://docs.claude.com/en/api/files-create"""

    def upload(
        self, to: Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        if expires_in is not None:
            raise UsageError("Anthropic keeps files until they are deleted: leave expires_in out.")
        return StoredFile(_text(_object((yield form(to, {}, data, type, filename, ANTHROPIC_BETA))), "id"))

    def delete(self, to: Endpoint, uri: str) -> Request:
        return delete(to, f"/files/{quote(uri, safe='')}", ANTHROPIC_BETA)


class GeminiUploads(Uploads):
    """Gemini's files, which expire after 48 hours. Audio and video need time until they are ready.
    https://ai.google.dev/api/files
    """

    def upload(
        self, to: Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        if expires_in is not None:
            raise UsageError("Google keeps files for 48 hours: leave expires_in out.")
        return self.stored(_object((yield self.multipart(to, data, type, filename))).get("file"))

    def multipart(self, to: Endpoint, data: bytes, type: str, filename: str) -> Request:
        """Returns the file's metadata and the file as two parts of a body."""
        about = json.dumps({"file": {"mimeType": type, "displayName": filename}})
        edge = boundary(data)
        head = f"--{edge}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{about}"
        middle = f"\r\n--{edge}\r\nContent-Type: {type.translate(SAFE)}\r\n\r\n"
        headers = {
            **key_headers(to),
            "x-goog-upload-protocol": "multipart",
            "content-type": f"multipart/related; boundary={edge}",
        }
        parts = urlsplit(to.base_url.rstrip("/"))
        raw = (head + middle).encode() + data + f"\r\n--{edge}--\r\n".encode()
        return Request(parts._replace(path=f"/upload{parts.path}/files").geturl(), headers, {}, raw=raw)

    def poll(self, to: Endpoint, uri: str) -> Request | None:
        return to.get(url_of(to, self.path(uri)))

    def polled(self, body: bytes) -> StoredFile:
        return self.stored(_object(body))

    def stored(self, file: Any) -> StoredFile:
        file = file if isinstance(file, dict) else {}
        if file.get("state") == "FAILED":
            raise BadRequestError("Google could not process the file.", status=400, body=file)
        made, deleted = _moment(file, "createTime"), _moment(file, "expirationTime")
        return StoredFile(_text(file, "uri"), made, deleted, ready=file.get("state") != "PROCESSING")

    def delete(self, to: Endpoint, uri: str) -> Request:
        return delete(to, self.path(uri))

    def path(self, uri: str) -> str:
        """Returns the file's path at this provider. The host of the URI in an answer is ignored."""
        return f"/files/{quote(uri.rpartition('/')[2], safe='')}"


def _number(file: Json, name: str) -> float | None:
    value = file.get(name)
    return value if isinstance(value, int | float) else None


def _moment(file: Json, name: str) -> float | None:
    """Returns RFC 3339 time as Unix time."""
    try:
        return datetime.fromisoformat(str(file.get(name))[:19] + "+00:00").timestamp()
    except ValueError:
        return None


def _object(body: bytes) -> Json:
    return json_object(body, "The answer to an upload")


def _text(file: Json, name: str) -> str:
    if isinstance(value := file.get(name), str) and value:
        return value
    raise ResponseError(f"The answer to an upload has no `{name}`: {str(file)[:200]}")
