"""Files that a provider keeps: uploaded once, named in many requests, deleted again.

Pure, like the wire formats: the methods yield the HTTP requests to make and are sent the bodies of their answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlsplit

from ..errors import BadRequestError, ResponseError, UsageError
from .base import Steps, Uploads, Wire
from .framing.json_text import read_json
from .values import Json, Request

__all__ = ["AnthropicUploads", "GeminiUploads", "OpenAIUploads", "StoredFile"]

#: Names and types that cannot end their header line.
SAFE = dict.fromkeys((*range(32), 127, ord('"'), ord("\\")), "_")
ANTHROPIC_BETA = {"anthropic-beta": "files-api-2025-04-14"}


@dataclass(frozen=True)
class StoredFile:
    """A file at the provider: how requests name it, when it goes (Unix time), whether it is ready."""

    uri: str
    expires_at: float | None = None
    ready: bool = True


@dataclass(frozen=True)
class OpenAIUploads(Uploads):
    """https://platform.openai.com/docs/api-reference/files"""

    shortest, longest = 3600, 2_592_000  # seconds

    def upload(
        self, wire: Wire, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        fields = {"purpose": "user_data"}
        if expires_in is not None:
            if not self.shortest <= expires_in <= self.longest:
                raise UsageError(
                    "OpenAI keeps files for an hour (3600) to 30 days (2592000): expires_in= in seconds."
                )
            fields |= {"expires_after[anchor]": "created_at", "expires_after[seconds]": str(int(expires_in))}
        return self.stored(_object((yield _form(wire, fields, data, type, filename))))

    def stored(self, file: Json) -> StoredFile:
        expires = file.get("expires_at")
        return StoredFile(_text(file, "id"), expires if isinstance(expires, int | float) else None)

    def delete(self, wire: Wire, uri: str) -> Request:
        return _delete(wire, f"{wire.base_url.rstrip('/')}/files/{quote(uri, safe='')}")


@dataclass(frozen=True)
class AnthropicUploads(Uploads):
    """https://docs.claude.com/en/api/files-create: files stay until they are deleted."""

    def upload(
        self, wire: Wire, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        if expires_in is not None:
            raise UsageError("Anthropic keeps files until they are deleted: leave expires_in out.")
        return StoredFile(
            _text(_object((yield _form(wire, {}, data, type, filename, beta=ANTHROPIC_BETA))), "id")
        )

    def delete(self, wire: Wire, uri: str) -> Request:
        return _delete(wire, f"{wire.base_url.rstrip('/')}/files/{quote(uri, safe='')}", ANTHROPIC_BETA)


@dataclass(frozen=True)
class GeminiUploads(Uploads):
    """https://ai.google.dev/api/files: files go after 48 hours. Audio and video are ready some time later."""

    def upload(
        self, wire: Wire, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[StoredFile]:
        if expires_in is not None:
            raise UsageError("Google keeps files for 48 hours: leave expires_in out.")
        about = json.dumps({"file": {"mimeType": type, "displayName": filename}}).encode()
        edge = _edge(data)
        head = f"--{edge}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".encode() + about
        middle = f"\r\n--{edge}\r\nContent-Type: {type.translate(SAFE)}\r\n\r\n".encode()
        headers = {
            **wire.headers(),
            **wire.api_headers,
            "x-goog-upload-protocol": "multipart",
            "content-type": f"multipart/related; boundary={edge}",
        }
        parts = urlsplit(wire.base_url.rstrip("/"))
        url = parts._replace(path=f"/upload{parts.path}/files").geturl()
        raw = head + middle + data + f"\r\n--{edge}--\r\n".encode()
        return self.stored(_object((yield Request(url, headers, {}, raw=raw))).get("file"))

    def poll(self, wire: Wire, uri: str) -> Request | None:
        return wire.get(self.url(wire, uri))

    def polled(self, body: bytes) -> StoredFile:
        return self.stored(_object(body))

    def stored(self, file: Any) -> StoredFile:
        file = file if isinstance(file, dict) else {}
        if file.get("state") == "FAILED":
            raise BadRequestError("Google could not process the file.", status=400, body=file)
        try:
            expires = datetime.fromisoformat(str(file.get("expirationTime"))[:19] + "+00:00").timestamp()
        except ValueError:
            return StoredFile(_text(file, "uri"), None, ready=file.get("state") != "PROCESSING")
        return StoredFile(_text(file, "uri"), expires, ready=file.get("state") != "PROCESSING")

    def delete(self, wire: Wire, uri: str) -> Request:
        return _delete(wire, self.url(wire, uri))

    def url(self, wire: Wire, uri: str) -> str:
        """Where the file is, at this provider: the rest of what an answer calls its URI is not followed."""
        return f"{wire.base_url.rstrip('/')}/files/{quote(uri.rpartition('/')[2], safe='')}"


def _form(
    wire: Wire, fields: Json, data: bytes, type: str, filename: str, *, beta: Json | None = None
) -> Request:
    """A file and fields, as an HTML form sends them. https://www.rfc-editor.org/rfc/rfc7578"""
    edge = _edge(data)
    lines = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    lines.append(
        f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{filename.translate(SAFE)}"\r\n'
        f"Content-Type: {type.translate(SAFE)}\r\n\r\n"
    )
    headers = {**wire.headers(), **wire.api_headers, **(beta or {})}
    headers["content-type"] = f"multipart/form-data; boundary={edge}"
    raw = "".join(lines).encode() + data + f"\r\n--{edge}--\r\n".encode()
    return Request(f"{wire.base_url.rstrip('/')}/files", headers, {}, raw=raw)


def _delete(wire: Wire, url: str, beta: Json | None = None) -> Request:
    return Request(url, {**wire.headers(), **wire.api_headers, **(beta or {})}, {}, method="DELETE")


def _edge(data: bytes) -> str:
    return f"ellmer-core-{sha256(data).hexdigest()}"  # cannot stand in what it is the hash of


def _object(body: bytes) -> Json:
    try:
        value = read_json(body)
    except (ValueError, RecursionError) as error:
        raise ResponseError(f"The answer to an upload is not JSON: {body[:200]!r}") from error
    return value if isinstance(value, dict) else {}


def _text(file: Json, name: str) -> str:
    if isinstance(value := file.get(name), str) and value:
        return value
    raise ResponseError(f"The answer to an upload has no `{name}`: {str(file)[:200]}")
