"""Anthropic's batches and files."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ...errors import UsageError
from .. import batches_and_files as api
from ..interfaces import Json, Request

# --- batches --------------------------------------------------------------------------------------------


class AnthropicBatches(api.Batches):
    """Anthropic's batches, which have no place for a tag. https://docs.claude.com/en/api/creating-message-batches"""

    def submit(
        self,
        to: api.Endpoint,
        bodies: Mapping[str, Json],
        tag: str,  # noqa: ARG002 - it has no place
    ) -> api.Steps[Json]:
        requests = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        return api.batch_object((yield api.post(to, "/messages/batches", {"requests": requests})))

    def poll(self, to: api.Endpoint, batch: Json) -> Request:
        return to.get(api.url_of(to, f"/messages/batches/{batch['id']}"))

    def done(self, batch: Json) -> bool:
        return batch.get("processing_status") == "ended"

    def results(self, to: api.Endpoint, batch: Json) -> api.Steps[dict[str, Json]]:
        lines = yield to.get(api.url_of(to, f"/messages/batches/{batch['id']}/results"))
        return {line["custom_id"]: self.result(line) for line in api.json_lines(lines) if "custom_id" in line}

    def result(self, line: Json) -> Json:
        """Converts a line of the results."""
        match line.get("result"):
            case {"type": "succeeded", "message": message}:
                return {"status": 200, "body": message}
            case {"type": "errored", "error": error}:
                kind = (error.get("error") or {}).get("type")
                return {"status": 400 if kind == "invalid_request_error" else 500, "body": error}
            case {"type": kind}:
                return {
                    "status": 500,
                    "body": {"error": {"type": kind, "message": f"The request was {kind}."}},
                }
        return {"status": 500, "body": line}


# --- files ----------------------------------------------------------------------------------------------


ANTHROPIC_BETA = {"anthropic-beta": "files-api-2025-04-14"}


class AnthropicUploads(api.Uploads):
    """Anthropic's files, which stay until they are deleted. https://docs.claude.com/en/api/files-create"""

    def upload(
        self, to: api.Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> api.Steps[api.StoredFile]:
        if expires_in is not None:
            raise UsageError("Anthropic keeps files until they are deleted: leave expires_in out.")
        return api.StoredFile(
            api.text_field(
                api.file_object((yield api.form(to, {}, data, type, filename, ANTHROPIC_BETA))), "id"
            )
        )

    def delete(self, to: api.Endpoint, uri: str) -> Request:
        return api.delete(to, f"/files/{quote(uri, safe='')}", ANTHROPIC_BETA)
