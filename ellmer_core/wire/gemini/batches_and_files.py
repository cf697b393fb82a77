"""Gemini's batches and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

from ...errors import BadRequestError, UsageError
from .. import batches_and_files as api
from ..interfaces import Json, Request
from ..shared.json_objects import json_text

# --- batches --------------------------------------------------------------------------------------------


class GeminiBatches(api.Batches):
    """Gemini's batches, with requests and answers inside the batch object.
    https://ai.google.dev/gemini-api/docs/batch-api
    """

    LARGEST = 20_000_000  # bytes of a batch whose requests are not in a file

    def submit(self, to: api.Endpoint, bodies: Mapping[str, Json], tag: str) -> api.Steps[Json]:
        requests = [{"request": body, "metadata": {"key": name}} for name, body in bodies.items()]
        batch = {"batch": {"displayName": tag, "inputConfig": {"requests": {"requests": requests}}}}
        if (size := len(json_text(batch).encode())) > self.LARGEST:
            raise UsageError(
                f"Gemini accepts {self.LARGEST} bytes in one batch, but these prompts have {size}. Use several batches."
            )
        return api.batch_object((yield api.post(to, f"/models/{to.model}:batchGenerateContent", batch)))

    tagged = True

    def find(self, to: api.Endpoint, tag: str) -> api.Steps[Json | None]:
        """Looks at the display names. https://ai.google.dev/api/batch-mode"""
        page = api.batch_object((yield to.get(api.url_of(to, "/batches?pageSize=100"))))
        found = (
            each
            for each in api.listed(page, "operations")
            if tag == (each.get("metadata") or {}).get("displayName")
        )
        return next(found, None)

    def poll(self, to: api.Endpoint, batch: Json) -> Request:
        return to.get(api.url_of(to, f"/{batch['name']}"))

    def done(self, batch: Json) -> bool:
        state = (batch.get("metadata") or {}).get("state", "").rpartition("_")[2]
        if state in {"FAILED", "CANCELLED", "EXPIRED"} or "error" in batch:
            reason = (batch.get("error") or {}).get("message") or f"it is {state}"
            raise BadRequestError(f"The batch failed: {reason}", status=400, body=batch)
        return state == "SUCCEEDED" or bool(batch.get("done"))

    def results(self, to: api.Endpoint, batch: Json) -> api.Steps[dict[str, Json]]:  # noqa: ARG002 - they came with the batch
        output = batch.get("response") or (batch.get("metadata") or {}).get("output") or {}
        answers = (output.get("inlinedResponses") or {}).get("inlinedResponses") or []
        yield from ()
        return {answer["metadata"]["key"]: self.result(answer) for answer in answers}

    def result(self, answer: Json) -> Json:
        """Returns one answer. An error has Google's number for its kind; 3, 9 and 11 are errors of the request."""
        if "response" in answer:
            return {"status": 200, "body": answer["response"]}
        code = (answer.get("error") or {}).get("code")
        return {"status": 400 if code in {3, 9, 11} else 500, "body": answer}


# --- files ----------------------------------------------------------------------------------------------


class GeminiUploads(api.Uploads):
    """Gemini's files, which expire after 48 hours. Audio and video need time until they are ready.
    https://ai.google.dev/api/files
    """

    def upload(
        self, to: api.Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> api.Steps[api.StoredFile]:
        if expires_in is not None:
            raise UsageError("Google keeps files for 48 hours: leave expires_in out.")
        return self.stored(api.file_object((yield self.multipart(to, data, type, filename))).get("file"))

    def multipart(self, to: api.Endpoint, data: bytes, type: str, filename: str) -> Request:
        """Returns the file's metadata and the file as two parts of a body."""
        about = json.dumps({"file": {"mimeType": type, "displayName": filename}})
        edge = api.boundary(data)
        head = f"--{edge}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{about}"
        middle = f"\r\n--{edge}\r\nContent-Type: {type.translate(api.SAFE)}\r\n\r\n"
        headers = {
            **api.key_headers(to),
            "x-goog-upload-protocol": "multipart",
            "content-type": f"multipart/related; boundary={edge}",
        }
        parts = urlsplit(to.base_url.rstrip("/"))
        before, _, version = parts.path.rpartition("/")  # the path of a gateway stays in front
        path = f"{before}/upload/{version}/files" if version else "/upload/files"
        raw = (head + middle).encode() + data + f"\r\n--{edge}--\r\n".encode()
        return Request(parts._replace(path=path).geturl(), headers, {}, raw=raw)

    def poll(self, to: api.Endpoint, uri: str) -> Request | None:
        return to.get(api.url_of(to, self.path(uri)))

    def polled(self, body: bytes) -> api.StoredFile:
        return self.stored(api.file_object(body))

    def stored(self, file: Any) -> api.StoredFile:
        file = file if isinstance(file, dict) else {}
        if file.get("state") == "FAILED":
            raise BadRequestError(
                "Google could not process the file. Check that it is whole, and that Gemini accepts its type.",
                status=400,
                body=file,
            )
        created, deleted = _moment(file, "createTime"), _moment(file, "expirationTime")
        return api.StoredFile(
            api.text_field(file, "uri"), created, deleted, ready=file.get("state") != "PROCESSING"
        )

    def delete(self, to: api.Endpoint, uri: str) -> Request:
        return api.delete(to, self.path(uri))

    def path(self, uri: str) -> str:
        """Returns the file's path at this provider. The host of the URI in an answer is ignored."""
        return f"/files/{quote(uri.rpartition('/')[2], safe='')}"


def _moment(file: Json, name: str) -> float | None:
    """Returns RFC 3339 time as Unix time."""
    try:
        return datetime.fromisoformat(str(file.get(name))[:19] + "+00:00").timestamp()
    except ValueError:
        return None
