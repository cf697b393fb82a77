"""Three batch APIs in their recorded shapes: their answers, and the expected requests."""

import json
from email import message_from_bytes

import pytest

from ellmer_core import chat_anthropic, chat_google_gemini, chat_openai

PROMPTS = ["2 + 2?", "3 + 3?"]
MODEL = "gpt-4.1"


def line(**fields):
    return json.dumps(fields, separators=(",", ":")).encode()


class OpenAI:
    """Upload, create, poll. The answers are in one file, and the errors in another."""

    make, model = staticmethod(chat_openai), MODEL
    ways = ("POST /files", "POST /batches", "GET /batches/batch_1", "GET /files/file-out/content")

    def submitted(self):
        file = {"object": "file", "id": "file-in", "purpose": "batch", "status": "processed"}
        return [file, self.batch("validating")]

    def batch(self, status, **more):
        files = {"output_file_id": None, "error_file_id": None, "errors": None}
        return {"id": "batch_1", "object": "batch", "status": status, **files, **more}

    def working(self):
        return self.batch("in_progress")

    def finished(self, texts):
        lines = [
            line(id="r", custom_id=name, response=self.response(text), error=None)
            for name, text in texts.items()
        ]
        return [self.batch("completed", output_file_id="file-out"), b"\n".join(lines)]

    def response(self, text):
        return {"status_code": 200, "request_id": "req", "body": self.body(text)}

    def body(self, text):
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [part]}
        usage = {"input_tokens": 1_000_000, "output_tokens": 0}
        return {"id": "resp", "status": "completed", "output": [item], "usage": usage}

    def asked(self, server):
        message = (
            f"content-type: {server.asked[0].headers['content-type']}\r\n\r\n".encode() + server.asked[0].body
        )
        purpose, file = message_from_bytes(message).get_payload()
        assert purpose.get_payload() == "batch"
        lines = [json.loads(text) for text in file.get_payload(decode=True).decode().splitlines()]
        assert {(each["method"], each["url"]) for each in lines} == {("POST", "/v1/responses")}
        created = server.asked[1].json
        assert created.pop("metadata")["ellmer_core"].startswith("ellmer-core-")
        assert created == {
            "input_file_id": "file-in",
            "endpoint": "/v1/responses",
            "completion_window": "24h",
        }
        return {each["custom_id"]: each["body"] for each in lines}


class Anthropic:
    make, model = staticmethod(chat_anthropic), "claude-sonnet-4-5"
    ways = (
        "POST /messages/batches",
        "GET /messages/batches/msgbatch_1",
        "GET /messages/batches/msgbatch_1/results",
    )

    def submitted(self):
        return [self.working()]

    def working(self, status="in_progress"):
        return {"id": "msgbatch_1", "type": "message_batch", "processing_status": status, "results_url": None}

    def finished(self, texts):
        lines = [
            line(custom_id=name, result={"type": "succeeded", "message": self.body(text)})
            for name, text in texts.items()
        ]
        return [self.working("ended"), b"\n".join(lines)]

    def body(self, text):
        usage = {"input_tokens": 1_000_000, "output_tokens": 0}
        return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}

    def asked(self, server):
        return {each["custom_id"]: each["params"] for each in server.asked[0].json["requests"]}


class Gemini:
    make, model = staticmethod(chat_google_gemini), "gemini-2.5-flash"
    ways = ("POST /models/gemini-2.5-flash:batchGenerateContent", "GET /batches/b1")

    def submitted(self):
        return [self.working("PENDING")]

    def working(self, state="RUNNING", **more):
        metadata = {"model": "models/gemini-2.5-flash", "state": f"BATCH_STATE_{state}", "name": "batches/b1"}
        return {"name": "batches/b1", "metadata": {**metadata, **more}}

    def finished(self, texts):
        answers = [{"response": self.body(text), "metadata": {"key": name}} for name, text in texts.items()]
        return [self.working("SUCCEEDED", output={"inlinedResponses": {"inlinedResponses": answers}})]

    def body(self, text):
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 1_000_000, "candidatesTokenCount": 0}
        return {"candidates": [candidate], "usageMetadata": usage}

    def asked(self, server):
        requests = server.asked[0].json["batch"]["inputConfig"]["requests"]["requests"]
        return {each["metadata"]["key"]: each["request"] for each in requests}


APIS = [OpenAI(), Anthropic(), Gemini()]
every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__)


def chat_of(api, server, **options):
    options = {"base_url": server.url, "api_key": "k", "model": api.model, "echo": "none", **options}
    return api.make("Be brief.", **options)
