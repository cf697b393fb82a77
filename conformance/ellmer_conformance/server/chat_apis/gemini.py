"""Gemini generateContent: chunks in the form of whole replies, CRLF, and no end marker except the finish reason.

Calls arrive whole. From Gemini 3 on, they have ids, and the first call (or the end of the text) is signed. 2.x signs
a call only after thinking. https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import text_of
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, Run, Said, Say, Show, Stop, Think, Usage
from ..http.messages import Headers
from ..issued.signatures import decoded, encoded, is_ours, opened, sign
from ._citations import grounding
from .base import (
    EXTRAS,
    WRONG_KEY,
    ChatApi,
    FailureKind,
    Frame,
    Kind,
    arguments_text,
    chosen_candidates,
    pretty,
    utf8,
    words,
)

# --- fields in either case, and signatures ---------------------------------------------------------------


#: Values that the API takes in place of a signature that was lost with another provider.
#: https://ai.google.dev/gemini-api/docs/thought-signatures
_BYPASS = {b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"}


def objection(sent: str, i: int, j: int, *, strict: bool) -> str | None:
    """Returns the API's error for a changed signature, or `None`."""
    blob = decoded(sent)
    if blob is None:
        place = f"contents[{i}].parts[{j}].thought_signature"
        return f"Invalid value at '{place}' (TYPE_BYTES), Base64 decoding failed for \"{sent}\""
    if sent.encode() in _BYPASS or blob in _BYPASS or (not strict and not is_ours(blob)):
        return None
    return None if opened(blob) is not None else "Corrupted thought signature."


def either(value: Any, key: str) -> Any:
    """Returns a field in camelCase or snake_case, because protobuf's JSON accepts both."""
    if not isinstance(value, dict):
        return None
    return value[key] if key in value else value.get(_snake(key))


@cache
def _snake(key: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", key)


def elements(value: Any) -> list[Any]:
    """Returns a list. A single value becomes a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


# --- replies ---------------------------------------------------------------------------------------------


_GENERATION = re.compile(r"gemini-(\d+)")
_IDS = "0123456789abcdefghijklmnopqrstuvwxyz"
_URLSAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


class Gemini(ChatApi):
    """The Gemini API: generativelanguage.googleapis.com."""

    wire: ClassVar[str] = "gemini"
    carries: ClassVar[frozenset[str]] = frozenset(EXTRAS)
    provider: ClassVar[str] = "google"
    arguments_key: ClassVar[bytes] = b'"args":'
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "STOP",
        "tool": "STOP",
        "length": "MAX_TOKENS",
        "filter": "SAFETY",
        "sequence": "STOP",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal("The model is overloaded. Please try again later.", 503, "UNAVAILABLE"),
        "server-error": Refusal(
            "An internal error has occurred. Please retry or report in "
            "https://developers.generativeai.google/guide/troubleshooting",
            500,
            "INTERNAL",
        ),
        "rate-limit": Refusal("Resource has been exhausted (e.g. check quota).", 429, "RESOURCE_EXHAUSTED"),
        "context-length": Refusal(
            "The input token count exceeds the maximum number of tokens allowed (1048576).",
            400,
            "INVALID_ARGUMENT",
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "models/{model} is not found for API version v1beta, or is not supported for {method}. Call "
        "ModelService.ListModels to see the list of available models and their supported methods.",
        404,
        "NOT_FOUND",
    )

    # settings of the request --------------------------------------------------------------------------

    @property
    def sse(self) -> bool:
        """Whether the request asks for server-sent events."""
        return "alt=sse" in self.ticket.request.url

    @property
    def count(self) -> int:
        """The requested number of candidates."""
        asked = either(self.config, "candidateCount")
        return asked if isinstance(asked, int) and 1 <= asked <= 8 else 1

    @property
    def config(self) -> Any:
        """The request's `generationConfig`."""
        return either(self.asked, "generationConfig")

    @property
    def tier(self) -> str:
        """The tier that is asked for: https://ai.google.dev/gemini-api/docs/priority-inference"""
        asked = text_of(either(self.asked, "serviceTier")).removeprefix("SERVICE_TIER_").lower()
        return asked if asked in {"flex", "priority"} else "standard"

    @property
    def measured(self) -> bool:
        """Whether the request asks for log probabilities."""
        return either(self.config, "responseLogprobs") is True

    @property
    def averages(self) -> bool:
        """Whether a whole reply has its average log probability, as in Gemini 2.0 and older."""
        return re.search(r"gemini-(?:1|2\.0)", self.model) is not None

    @cached_property
    def modern(self) -> bool:
        """Whether the model is Gemini 3 or newer. A name without a number counts as newer."""
        found = _GENERATION.match(self.model)
        return not found or int(found[1]) >= 3

    @cached_property
    def shows_thoughts(self) -> bool:
        """Whether the request asks to see the reasoning."""
        config = either(self.config, "thinkingConfig")
        return bool(either(config, "includeThoughts"))

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        return escaped(pretty(self.response(self.parts(answer), answer, self.usage(answer.usage))))

    def frames(self, answer: Answer) -> Iterator[Frame]:
        yield from self.chunks(answer, ended=True)

    def unended(self, answer: Answer) -> list[Frame]:
        return list(self.chunks(answer, ended=False))

    def chunks(self, answer: Answer, *, ended: bool) -> Iterator[Frame]:
        """Yields the reply in chunks. Newer models end with an empty chunk, older ones with the last piece."""
        pieces = self.pieces(answer)
        if ended and (self.modern or not pieces):
            pieces.append([{"text": ""} | ({} if self.call_parts(answer) else self.signed(answer))])
        for number, parts in enumerate(pieces, 1):
            last = ended and number == len(pieces)
            so_far = self.usage(answer.usage, number / len(pieces))
            response = self.response(parts, answer if last else None, so_far)
            yield Frame(kind_of(parts[0]), self.chunk(response, first=number == 1))
        if ended and not self.sse:
            yield Frame("end", b"\n]\n")

    def pieces(self, answer: Answer) -> list[list[Json]]:
        """Returns the content of each chunk. Older models send all calls in one."""
        texts: list[list[Json]] = []
        for part in answer.parts:
            if isinstance(part, Say) or (isinstance(part, Think) and self.shows_thoughts):
                texts += [[text(part, piece)] for piece in words(part)]
            else:
                texts += [[json_part] for json_part in self.parts_of_media_or_program(part)]
        call_parts = self.call_parts(answer)
        return texts + (
            [[call] for call in call_parts] if self.modern else [call_parts] if call_parts else []
        )

    def parts(self, answer: Answer) -> list[Json]:
        """Returns the parts of the whole reply."""
        texts: list[Json] = []
        for part in answer.parts:
            if isinstance(part, Say) or (isinstance(part, Think) and self.shows_thoughts):
                texts.append(text(part, part.text))
            else:
                texts += self.parts_of_media_or_program(part)
        call_parts = self.call_parts(answer)
        if texts and not call_parts:
            texts[-1] |= self.signed(answer)
        return texts + call_parts

    def parts_of_media_or_program(self, part: Said) -> list[Json]:
        """Returns the parts of an image, a sound, or a program with its output, or none for other contents."""
        match part:
            case Show():
                return [{"inlineData": {"mimeType": part.type, "data": b64encode(part.data).decode()}}]
            case Run():
                id = {"id": f"call_{self.ticket.token('code', 6, '0123456789')}"} if self.modern else {}
                result = {"outcome": "OUTCOME_OK", "output": part.output, **id}
                code = {"language": "PYTHON", "code": part.code, **id}
                return [{"executableCode": code}, {"codeExecutionResult": result}]
        return []

    def call_parts(self, answer: Answer) -> list[Json]:
        """Returns the parts with calls. Calls arrive whole, so a truncated call leaves nothing."""
        whole = [
            (index, call, found)
            for index, call in enumerate(answer.calls)
            if (found := arguments(call)) is not None
        ]
        parts: list[Json] = []
        for index, call, found in whole:
            id = {"id": call.id or self.ticket.token(f"call {index}", 8, _IDS)} if self.modern else {}
            parts.append({"functionCall": {"name": call.name, "args": found, **id}})
        if parts and (self.modern or answer.thinking):
            parts[0]["thoughtSignature"] = encoded(sign(answer.thinking or whole[0][1].name))
        return parts

    def signed(self, answer: Answer) -> Json:
        """Returns the signature of a text, which only newer models send."""
        return {"thoughtSignature": encoded(sign(answer.thinking))} if self.modern else {}

    def response(self, parts: Sequence[Json], answer: Answer | None, usage: Json) -> Json:
        """Returns a whole reply, or a chunk of it, with a finish reason if `answer` ends here."""
        if answer and answer.reason == "filter" and not answer.parts:
            blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage}
            return {**blocked, "modelVersion": self.model, "responseId": self.response_id}
        candidate = {"content": self.content(parts), **(self.finish(answer) if answer else {}), "index": 0}
        if answer and self.call_parts(answer) and not (self.modern and self.ticket.request.stream):
            candidate["finishMessage"] = "Model generated function call(s)."
        if answer and (self.measured or (self.averages and not self.ticket.request.stream)):
            candidate["avgLogprobs"] = -0.0125
        shown = "".join(text_of(part.get("text")) for part in parts if "thought" not in part)
        if self.measured and shown:
            candidate["logprobsResult"] = chosen_candidates(shown, either(self.config, "logprobs") or 0)
        candidate |= grounding(answer) if answer else {}
        others = answer.others if answer else ()
        candidates = [candidate | ({"index": index} if index else {}) for index in range(self.count)]
        if others:
            candidates = [candidate, *(self.other(each, index) for index, each in enumerate(others, 1))]
        return {
            "candidates": candidates,
            "usageMetadata": usage,
            "modelVersion": self.model,
            "responseId": self.response_id,
        }

    def other(self, answer: Answer, index: int) -> Json:
        """Returns another candidate of a script, which is whole in the last chunk of a stream."""
        return {"content": self.content(self.parts(answer)), **self.finish(answer), "index": index}

    @property
    def response_id(self) -> str:
        """An id of 23 characters."""
        return self.ticket.token("response", 23, _URLSAFE)

    def content(self, parts: Sequence[Json]) -> Json:
        """Returns the model's content, without parts if it is empty."""
        return {"parts": list(parts), "role": "model"} if parts else {"role": "model"}

    def finish(self, answer: Answer) -> Json:
        """Returns the finish reason. Without a limit, a call that is not JSON is the model's fault."""
        if answer.refusal:
            return {"finishReason": "SAFETY", "finishMessage": answer.refusal}
        lost = any(arguments(call) is None for call in answer.calls)
        if lost and answer.reason == "tool":
            return {"finishReason": "MALFORMED_FUNCTION_CALL"}
        return {"finishReason": self.stops[answer.reason]}

    def usage(self, usage: Usage, share: float = 1.0) -> Json:
        """Returns the token counts so far: reasoning separate from the answer, and the whole prompt from the start."""
        written = round((usage.output - usage.reasoning) * share)
        cached = {"cachedContentTokenCount": usage.cached} if usage.cached else {}
        thoughts = {"thoughtsTokenCount": usage.reasoning} if usage.reasoning else {}
        return {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": written,
            "totalTokenCount": usage.input + written + usage.reasoning,
            **cached,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
            **thoughts,
            "serviceTier": self.tier,
        }

    def chunk(self, response: Json, *, first: bool) -> bytes:
        """Returns a chunk as an event, or as an element of an array if no events were requested."""
        if self.sse:
            return escaped(utf8(f"data: {_spaced(response)}\r\n\r\n"))
        return (b"[" if first else b",\r\n") + escaped(pretty(response).rstrip())

    def headers(self, *, stream: bool) -> Headers:
        events = stream and self.sse
        return (
            ("content-type", "text/event-stream" if events else "application/json; charset=UTF-8"),
            *(("content-disposition", "attachment") for _ in range(events)),
            ("vary", "Origin, X-Origin, Referer"),
            ("server", "scaffolding on HTTPServer2"),
            ("x-xss-protection", "0"),
            ("x-frame-options", "SAMEORIGIN"),
            ("x-content-type-options", "nosniff"),
            ("server-timing", f"gfet4t7; dur={300 + self.ticket.number}"),
        )

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields the error as a plain object, not as an event."""
        failure = self.failures[kind]
        error = {"code": failure.status, "message": failure.message, "status": failure.type}
        yield (b"" if self.sse or not before else b",\r\n") + escaped(pretty({"error": error}))
        if not self.sse:
            yield b"]\n"

    def error_body(self, kind: FailureKind, body: bytes) -> bytes:
        """Adds the seconds to wait after a rate limit, which Google sends in the body and in no header:
        https://github.com/maruel/genai/blob/84a8982/providers/gemini/testdata/TestClient/ErrorResponse.yaml
        """
        if kind != "rate-limit" or self.provider != "google":
            return body
        told = json.loads(body)
        wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.25s"}
        return escaped(pretty({"error": {**told["error"], "details": [wait]}}))

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        bearer = headers.get("authorization", "").partition(" ")[2]
        key = headers.get("x-goog-api-key") or query.get("key") or bearer
        if not key:
            return Refusal(
                "Method doesn't allow unregistered callers (callers without established identity). Please use "
                "API Key or other form of API consumer identity to call this API.",
                403,
                "PERMISSION_DENIED",
            )
        if key == WRONG_KEY:
            return Refusal("API key not valid. Please pass a valid API key.", 400, "INVALID_ARGUMENT")
        return None

    def no_json(self, detail: str) -> Refusal:
        return Refusal(f"Invalid JSON payload received. {detail}", 400, "INVALID_ARGUMENT")

    def no_such(self, method: str, path: str) -> Refusal:
        return Refusal(f"Requested entity was not found: {method} {path}", 404, "NOT_FOUND")

    def forged(self, *, strict: bool) -> Refusal | None:
        for i, content in enumerate(elements(either(self.asked, "contents"))):
            for j, part in enumerate(elements(either(content, "parts"))):
                sent = either(part, "thoughtSignature")
                if isinstance(sent, str) and (sentence := objection(sent, i, j, strict=strict)):
                    return Refusal(sentence, 400, "INVALID_ARGUMENT")
        return None


#: Characters that Google writes as escapes, as Protocol Buffers do.
#: https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/json/internal/writer.cc
_ESCAPED = re.compile(
    "[<>\x7f-\x9f\xad\u0600-\u0603\u06dd\u070f\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]"
)


def escaped(text: bytes) -> bytes:
    """Returns JSON text with Google's escapes."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text.decode()).encode()


_spaced = json.JSONEncoder(ensure_ascii=False, separators=(",", ": ")).encode


def text(part: Say | Think, piece: str) -> Json:
    """Returns a part with text."""
    return {"text": piece, "thought": True} if isinstance(part, Think) else {"text": piece}


def kind_of(part: Json) -> Kind:
    """Returns the kind of a chunk: the part of the answer that it carries."""
    return "call" if "functionCall" in part else "thinking" if "thought" in part else "text"


def arguments(call: Call) -> Mapping[str, Any] | None:
    """Returns the arguments as an object, or `None` if the script's text is not JSON."""
    try:
        found = json.loads(arguments_text(call))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
