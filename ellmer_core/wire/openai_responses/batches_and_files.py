"""OpenAI's batches and files."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ...errors import BadRequestError, UsageError
from .. import batches_and_files as api
from ..interfaces import Json, Request
from ..shared.json_objects import json_text

# --- batches --------------------------------------------------------------------------------------------


TAG = "ellmer_core"  # the name of the tag in a batch's metadata


class OpenAIBatches(api.Batches):
    """OpenAI's batches: one file of requests, and one or two of answers.
    https://developers.openai.com/api/reference/resources/batches
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def submit(self, to: api.Endpoint, bodies: Mapping[str, Json], tag: str) -> api.Steps[Json]:
        lines = [
            {"custom_id": name, "method": "POST", "url": self.endpoint, "body": body}
            for name, body in bodies.items()
        ]
        data = "\n".join(map(json_text, lines)).encode()
        file = api.batch_object(
            (yield api.form(to, {"purpose": "batch"}, data, "application/jsonl", "batch.jsonl"))
        )
        job = {"input_file_id": file["id"], "endpoint": self.endpoint, "completion_window": "24h"}
        return api.batch_object((yield api.post(to, "/batches", {**job, "metadata": {TAG: tag}})))

    tagged = True

    def find(self, to: api.Endpoint, tag: str) -> api.Steps[Json | None]:
        page = api.batch_object((yield to.get(api.url_of(to, "/batches?limit=100"))))
        found = (each for each in api.listed(page, "data") if tag == (each.get("metadata") or {}).get(TAG))
        return next(found, None)

    def poll(self, to: api.Endpoint, batch: Json) -> Request:
        return to.get(api.url_of(to, f"/batches/{batch['id']}"))

    def done(self, batch: Json) -> bool:
        if batch.get("status") == "failed":
            errors = (batch.get("errors") or {}).get("data") or [{}]
            reasons = "; ".join(error.get("message") or "no reason given" for error in errors)
            raise BadRequestError(f"The batch was refused: {reasons}", status=400, body=batch)
        return batch.get("status") in {"completed", "expired", "cancelled"}

    def results(self, to: api.Endpoint, batch: Json) -> api.Steps[dict[str, Json]]:
        results: dict[str, Json] = {}
        for file in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            lines = yield to.get(api.url_of(to, f"/files/{file}/content"))
            results |= {
                line["custom_id"]: self.result(line) for line in api.json_lines(lines) if "custom_id" in line
            }
        return results

    def result(self, line: Json) -> Json:
        """Converts a line of the result file."""
        response = line.get("response") or {}
        if line.get("error"):  # it was not asked at all
            return {"status": response.get("status_code") or 500, "body": {"error": line["error"]}}
        return {"status": response.get("status_code", 500), "body": response.get("body")}


# --- files ----------------------------------------------------------------------------------------------


class OpenAIUploads(api.Uploads):
    """OpenAI's files. https://developers.openai.com/api/reference/resources/files"""

    shortest, longest = 3600, 2_592_000  # seconds

    def upload(
        self, to: api.Endpoint, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> api.Steps[api.StoredFile]:
        fields = {"purpose": "user_data"}
        if expires_in is not None:
            if not self.shortest <= expires_in <= self.longest:
                raise UsageError(
                    "OpenAI keeps files for one hour to 30 days. Set expires_in= to a number from 3600 to 2592000."
                )
            fields |= {"expires_after[anchor]": "created_at", "expires_after[seconds]": str(int(expires_in))}
        return self.stored(api.file_object((yield api.form(to, fields, data, type, filename))))

    def stored(self, file: Json) -> api.StoredFile:
        return api.StoredFile(
            api.text_field(file, "id"),
            api.number_field(file, "created_at"),
            api.number_field(file, "expires_at"),
        )

    def delete(self, to: api.Endpoint, uri: str) -> Request:
        return api.delete(to, f"/files/{quote(uri, safe='')}")
