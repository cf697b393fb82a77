"""OpenAI's batches and files."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ...errors import BadRequestError, UsageError
from ..batches_and_files import (
    Batches,
    Endpoint,
    Steps,
    StoredFile,
    Uploads,
    batch_object,
    delete,
    file_object,
    form,
    json_lines,
    number_field,
    post,
    text_field,
    url_of,
)
from ..interfaces import Json, Request
from ..shared.json_objects import json_text

# --- batches --------------------------------------------------------------------------------------------


class OpenAIBatches(Batches):
    """OpenAI's batches: one file of requests, and one or two of answers.
    https://developers.openai.com/api/reference/resources/batches
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def submit(self, to: Endpoint, bodies: Mapping[str, Json]) -> Steps[Json]:
        lines = [
            {"custom_id": name, "method": "POST", "url": self.endpoint, "body": body}
            for name, body in bodies.items()
        ]
        data = "\n".join(map(json_text, lines)).encode()
        file = batch_object((yield form(to, {"purpose": "batch"}, data, "application/jsonl", "batch.jsonl")))
        job = {"input_file_id": file["id"], "endpoint": self.endpoint, "completion_window": "24h"}
        return batch_object((yield post(to, "/batches", job)))

    def poll(self, to: Endpoint, batch: Json) -> Request:
        return to.get(url_of(to, f"/batches/{batch['id']}"))

    def done(self, batch: Json) -> bool:
        if batch.get("status") == "failed":
            errors = (batch.get("errors") or {}).get("data") or [{}]
            reasons = "; ".join(error.get("message") or "no reason given" for error in errors)
            raise BadRequestError(f"The batch was refused: {reasons}", status=400, body=batch)
        return batch.get("status") in {"completed", "expired", "cancelled"}

    def results(self, to: Endpoint, batch: Json) -> Steps[dict[str, Json]]:
        results: dict[str, Json] = {}
        for file in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            lines = yield to.get(url_of(to, f"/files/{file}/content"))
            results |= {
                line["custom_id"]: self.result(line) for line in json_lines(lines) if "custom_id" in line
            }
        return results

    def result(self, line: Json) -> Json:
        """Converts a line of the result file."""
        response = line.get("response") or {}
        if line.get("error"):  # it was not asked at all
            return {"status": response.get("status_code") or 500, "body": {"error": line["error"]}}
        return {"status": response.get("status_code", 500), "body": response.get("body")}


# --- files ----------------------------------------------------------------------------------------------


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
        return self.stored(file_object((yield form(to, fields, data, type, filename))))

    def stored(self, file: Json) -> StoredFile:
        return StoredFile(
            text_field(file, "id"), number_field(file, "created_at"), number_field(file, "expires_at")
        )

    def delete(self, to: Endpoint, uri: str) -> Request:
        return delete(to, f"/files/{quote(uri, safe='')}")
