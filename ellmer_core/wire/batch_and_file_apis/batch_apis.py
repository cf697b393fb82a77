"""Batch APIs: many requests are submitted at once, and answered within a day, at half the price.

Each answer is kept as `{"status": …, "body": …}`, like a single HTTP answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ...errors import BadRequestError, UsageError
from ..framing.json_text import read_json
from ..request_and_stream_merger import Json, Request
from .base import Batches, Endpoint, Steps
from .http_requests import form, json_object, post, url_of

__all__ = ["AnthropicBatches", "GeminiBatches", "OpenAIBatches"]


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
        data = "\n".join(map(_dumps, lines)).encode()
        file = _object((yield form(to, {"purpose": "batch"}, data, "application/jsonl", "batch.jsonl")))
        job = {"input_file_id": file["id"], "endpoint": self.endpoint, "completion_window": "24h"}
        return _object((yield post(to, "/batches", job)))

    def poll(self, to: Endpoint, batch: Json) -> Request:
        return to.get(url_of(to, f"/batches/{batch['id']}"))

    def done(self, batch: Json) -> bool:
        if batch.get("status") == "failed":
            errors = (batch.get("errors") or {}).get("data") or [{}]
            said = "; ".join(error.get("message") or "no reason given" for error in errors)
            raise BadRequestError(f"The batch was refused: {said}", status=400, body=batch)
        return batch.get("status") in {"completed", "expired", "cancelled"}

    def results(self, to: Endpoint, batch: Json) -> Steps[dict[str, Json]]:
        results: dict[str, Json] = {}
        for file in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            lines = yield to.get(url_of(to, f"/files/{file}/content"))
            results |= {line["custom_id"]: self.result(line) for line in _lines(lines) if "custom_id" in line}
        return results

    def result(self, line: Json) -> Json:
        """Converts a line of the result file."""
        response = line.get("response") or {}
        if line.get("error"):  # it was not asked at all
            return {"status": response.get("status_code") or 500, "body": {"error": line["error"]}}
        return {"status": response.get("status_code", 500), "body": response.get("body")}


class AnthropicBatches(Batches):
    """Anthropic's batches. https://docs.claude.com/en/api/creating-message-batches"""

    def submit(self, to: Endpoint, bodies: Mapping[str, Json]) -> Steps[Json]:
        requests = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        return _object((yield post(to, "/messages/batches", {"requests": requests})))

    def poll(self, to: Endpoint, batch: Json) -> Request:
        return to.get(url_of(to, f"/messages/batches/{batch['id']}"))

    def done(self, batch: Json) -> bool:
        return batch.get("processing_status") == "ended"

    def results(self, to: Endpoint, batch: Json) -> Steps[dict[str, Json]]:
        lines = yield to.get(url_of(to, f"/messages/batches/{batch['id']}/results"))
        return {line["custom_id"]: self.result(line) for line in _lines(lines) if "custom_id" in line}

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


class GeminiBatches(Batches):
    """Gemini's batches, with requests and answers inside the batch object.
    https://ai.google.dev/gemini-api/docs/batch-api
    """

    LARGEST = 20_000_000  # bytes of a batch whose requests are not in a file

    def submit(self, to: Endpoint, bodies: Mapping[str, Json]) -> Steps[Json]:
        requests = [{"request": body, "metadata": {"key": name}} for name, body in bodies.items()]
        batch = {"batch": {"displayName": "ellmer-core", "inputConfig": {"requests": {"requests": requests}}}}
        if (size := len(_dumps(batch).encode())) > self.LARGEST:
            raise UsageError(
                f"Gemini accepts {self.LARGEST} bytes in one batch, but these prompts have {size}. Use several batches."
            )
        return _object((yield post(to, f"/models/{to.model}:batchGenerateContent", batch)))

    def poll(self, to: Endpoint, batch: Json) -> Request:
        return to.get(url_of(to, f"/{batch['name']}"))

    def done(self, batch: Json) -> bool:
        state = (batch.get("metadata") or {}).get("state", "").rpartition("_")[2]
        if state in {"FAILED", "CANCELLED", "EXPIRED"} or "error" in batch:
            said = (batch.get("error") or {}).get("message") or f"it is {state}"
            raise BadRequestError(f"The batch failed: {said}", status=400, body=batch)
        return state == "SUCCEEDED" or bool(batch.get("done"))

    def results(self, to: Endpoint, batch: Json) -> Steps[dict[str, Json]]:  # noqa: ARG002 - they came with the batch
        found = batch.get("response") or (batch.get("metadata") or {}).get("output") or {}
        answers = (found.get("inlinedResponses") or {}).get("inlinedResponses") or []
        yield from ()
        return {answer["metadata"]["key"]: self.result(answer) for answer in answers}

    def result(self, answer: Json) -> Json:
        """Returns one answer. An error has Google's number for its kind; 3, 9 and 11 are errors of the request."""
        if "response" in answer:
            return {"status": 200, "body": answer["response"]}
        code = (answer.get("error") or {}).get("code")
        return {"status": 400 if code in {3, 9, 11} else 500, "body": answer}


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(body: bytes) -> Json:
    return json_object(body, "The answer of the batch API")


def _lines(body: bytes) -> Iterator[Json]:
    """Yields the objects in JSON lines. Other lines are ignored."""
    for line in body.splitlines():
        try:
            value = read_json(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
