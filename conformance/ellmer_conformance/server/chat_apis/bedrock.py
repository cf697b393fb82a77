"""AWS Bedrock Converse: JSON with sorted keys, or a binary event stream with padding in every payload.

Claude thinks if it is asked to, and signs its thoughts. The open models show their reasoning by default, without
signatures. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from zlib import crc32

from ...contract.observed.exchange import Json
from ...contract.readers.anthropic import BINDING_BETA, drops_stale_thoughts
from ...contract.readers.json_access import object_of, text_of
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, Said, Say, Stop, Think, Usage
from ..http.messages import Headers
from ..issued.signatures import (
    Conversation,
    as_blocks,
    bedrock_blocks,
    binds,
    objection,
    sealed,
    thought_shown,
)
from ._citations import web_citations
from .base import (
    ALNUM,
    WRONG_KEY,
    ChatApi,
    FailureKind,
    Frame,
    arguments,
    arguments_text,
    compact,
    padding,
    slices,
    utf8,
    words,
)

# ruff: noqa: ARG002 - a api does not use every argument


_PAD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_SHOWS_REASONING = re.compile(r"openai\.gpt-oss|deepseek\.|qwen\.|minimax\.|moonshot")


@dataclass(frozen=True)
class _Signed(Think):
    """A thought with its signature."""

    signature: str


class Bedrock(ChatApi):
    """The hosts bedrock-runtime.<region>.amazonaws.com."""

    wire: ClassVar[str] = "bedrock"
    carries: ClassVar[frozenset[str]] = frozenset({"citations"})
    provider: ClassVar[str] = "bedrock"
    arguments_key: ClassVar[bytes] = b'"input":'
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "end_turn",
        "tool": "tool_use",
        "length": "max_tokens",
        "filter": "content_filtered",
        "sequence": "stop_sequence",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal(
            "Service capacity limit has been reached. Please try again later.",
            503,
            "ServiceUnavailableException",
        ),
        "server-error": Refusal(
            "The system encountered an unexpected error during processing. Try your request again.",
            500,
            "InternalServerException",
        ),
        "rate-limit": Refusal(
            "Too many requests, please wait before trying again.", 429, "ThrottlingException"
        ),
        "context-length": Refusal(
            "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds "
            "maximum length. Please update the input to try again.",
            400,
            "ValidationException",
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "The provided model identifier is invalid.", 400, "ValidationException"
    )

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        message = {"content": list(self.blocks(answer)), "role": "assistant"}
        reply = {
            "metrics": self.metrics,
            "output": {"message": message},
            **self.named_settings("performanceConfig"),
            "stopReason": self.stops[answer.reason],
            **trace(self.asked),
            "usage": self.usage(answer.usage),
            **self.named_settings("serviceTier"),
        }
        return utf8(compact(self.transformed() | reply))

    def named_settings(self, *names: str) -> Json:
        """Returns settings of the request that the answer repeats."""
        return {name: self.asked[name] for name in names if name in self.asked}

    def transformed(self) -> Json:
        """Returns the report on dropped thoughts, if the request asks for its path."""
        asked = self.asked.get("additionalModelResponseFieldPaths")
        if not self.reports_bindings or "/input_transformations" not in as_blocks(asked):
            return {}
        return {
            "additionalModelResponseFields": {"input_transformations": self.conversation.transformations()}
        }

    def blocks(self, answer: Answer) -> Iterator[Json]:
        """Yields the parts as whole blocks."""
        for index, part in enumerate(self.shown(answer)):
            match part:
                case Say(text) if part.sources:
                    cited = {"citations": web_citations(part.sources), "content": [{"text": text}]}
                    yield {"citationsContent": cited}
                case Say(text):
                    yield {"text": text}
                case Think(text):
                    signature = {"signature": part.signature} if isinstance(part, _Signed) else {}
                    yield {"reasoningContent": {"reasoningText": {**signature, "text": text}}}
                case Call():
                    yield {"toolUse": {"input": arguments(part), **self.named(part, index)}}

    def shown(self, answer: Answer) -> list[Said]:
        """Returns the parts to send, without hidden reasoning and empty parts."""
        parts = [self.seen(part) if isinstance(part, Think) else part for part in answer.parts]
        shown: list[Said] = [
            part
            for part in parts
            if isinstance(part, Say | Think | Call) and not (isinstance(part, Say) and not part.text)
        ]
        return list(self.signed(shown)) if self.signs else shown

    def seen(self, part: Think) -> Think | None:
        """Returns what is seen of a thought: all, or of Claude its signature alone, or nothing."""
        if not self.signs:
            return part if part.text and _SHOWS_REASONING.search(self.model) else None
        text = thought_shown(part.text, self.more.get("thinking"), self.model)
        return None if text is None else Think(text)

    def signed(self, parts: Sequence[Said]) -> Iterator[Said]:
        """Yields the parts, with signed thoughts. A bound signature records the earlier thoughts."""
        binding = binds(self.model) and any(isinstance(part, Think) for part in parts)
        prefix = self.conversation.prefix if binding else None
        for part in parts:
            if isinstance(part, Think):
                signature = sealed(part.text, prefix)
                prefix = prefix and prefix.after(signature)
                yield _Signed(part.text, signature)
            else:
                yield part

    def named(self, call: Call, index: int) -> Json:
        """Returns the name and id of a call. Claude's have a type, too."""
        id = call.id or f"tooluse_{self.ticket.token(f'call {index}', 22, ALNUM)}"
        return {"name": call.name, "toolUseId": id} | ({"type": "tool_use"} if self.signs else {})

    def frames(self, answer: Answer) -> Iterator[Frame]:
        yield Frame("open", self.event("messageStart", {"role": "assistant"}))
        for index, part in enumerate(self.shown(answer)):
            yield from self.block(part, index)
            yield Frame("close", self.event("contentBlockStop", {"contentBlockIndex": index}))
        stop = {"stopReason": self.stops[answer.reason], **self.transformed()}
        yield Frame("end", self.event("messageStop", stop))
        counts = {"metrics": self.metrics, **trace(self.asked), "usage": self.usage(answer.usage)}
        repeated = self.named_settings("performanceConfig", "serviceTier")
        yield Frame("end", self.event("metadata", counts | repeated))

    def block(self, part: Said, index: int) -> Iterator[Frame]:
        """Yields the events of one block. Only a call has a start event."""
        match part:
            case Say():
                yield from (Frame("text", self.delta(index, {"text": piece})) for piece in words(part))
                for citation in web_citations(part.sources):
                    yield Frame("open", self.delta(index, {"citation": citation}))
            case Think():
                pieces = [{"text": piece} for piece in words(part) if piece]
                pieces += [{"signature": part.signature}] if isinstance(part, _Signed) else []
                for piece in pieces:
                    yield Frame("thinking", self.delta(index, {"reasoningContent": piece}))
            case Call():
                start = {"contentBlockIndex": index, "start": {"toolUse": self.named(part, index)}}
                yield Frame("call", self.event("contentBlockStart", start))
                whole = arguments_text(part)
                for text in slices(whole) if self.signs else [whole]:  # Nova sends them in one piece
                    yield Frame("arguments", self.delta(index, {"toolUse": {"input": text}}))

    def delta(self, index: int, delta: Json) -> bytes:
        """Returns a piece of a block."""
        return self.event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})

    def event(self, kind: str, payload: Json) -> bytes:
        """Returns an event with the padding `p` of random length, which hides the length of its text."""
        pad = padding(f"{self.ticket.seed}{kind}{payload}", _PAD)
        padded = dict(sorted({**payload, "p": pad}.items()))
        headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
        return message(headers, utf8(compact(padded)))

    def usage(self, usage: Usage) -> Json:
        """Returns the token counts."""
        return token_counts(usage, cached=self.signs)

    @property
    def metrics(self) -> Json:
        """The latency that the provider reports for its answer."""
        return {"latencyMs": 400 + self.ticket.number}

    @cached_property
    def signs(self) -> bool:
        """Whether the model signs its thoughts, as Claude does."""
        return "anthropic.claude" in self.model

    @cached_property
    def conversation(self) -> Conversation:
        """The request in the form for the check of its thoughts."""
        tools = object_of(self.asked.get("toolConfig")).get("tools")
        system = self.asked.get("system")
        blocks = [block for block in as_blocks(system) if "cachePoint" not in object_of(block)]
        return Conversation(self.model, blocks, as_blocks(tools), list(bedrock_blocks(self.asked)))

    @property
    def more(self) -> Json:
        """The request's fields for Claude only."""
        return object_of(self.asked.get("additionalModelRequestFields"))

    @property
    def reports_bindings(self) -> bool:
        """Whether the client asks which of its thoughts are used."""
        return BINDING_BETA in str(self.more.get("anthropic_beta"))

    def headers(self, *, stream: bool) -> Headers:
        kind = "application/vnd.amazon.eventstream" if stream else "application/json"
        return (("content-type", kind), ("x-amzn-requestid", self.ticket.uuid("request")))

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields an exception event, which ends the stream."""
        failure = self.failures[kind]
        name = str(failure.type)
        headers = {
            ":exception-type": name[0].lower() + name[1:],
            ":content-type": "application/json",
            ":message-type": "exception",
        }
        yield message(headers, utf8(compact({"message": failure.message})))

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        return unauthorized(headers)

    def no_json(self, detail: str) -> Refusal:
        return Refusal(f"The request body is not valid JSON: {detail}", 400, "SerializationException")

    def no_such(self, method: str, path: str) -> Refusal:
        sentence = "The requested operation is not recognized by the service."
        return Refusal(sentence, 404, "UnknownOperationException")

    def forged(self, *, strict: bool) -> Refusal | None:
        if not self.signs:
            return None
        dropped = drops_stale_thoughts(self.more.get("thinking"), str(self.more.get("anthropic_beta")))
        fault = objection(self.conversation, strict=strict, dropped=dropped, beta=self.reports_bindings)
        sentence = f"The model returned the following errors: {fault}"
        return Refusal(sentence, 400, "ValidationException") if fault else None


# --- token counts, and the trace of a guardrail ----------------------------------------------------------


#: The names of the units that a guardrail counts.
GUARD_UNITS = (
    "contentPolicyUnits",
    "contextualGroundingPolicyUnits",
    "sensitiveInformationPolicyFreeUnits",
    "sensitiveInformationPolicyUnits",
    "topicPolicyUnits",
    "wordPolicyUnits",
)


def token_counts(usage: Usage, *, cached: bool) -> Json:
    """Returns the token counts. Those of the cache are counted separately; some models always name them."""
    counts = {
        "cacheReadInputTokenCount": usage.cached,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokenCount": usage.cache_write,
        "cacheWriteInputTokens": usage.cache_write,
    }
    return {
        **(counts if cached or usage.cached else {}),
        "inputTokens": usage.input - usage.cached - usage.cache_write,
        "outputTokens": usage.output,
        "serverToolUsage": {},
        "totalTokens": usage.input + usage.output,
    }


def trace(asked: Json) -> Json:
    """Returns a guardrail's trace, if the request asks for it."""
    guard = object_of(asked.get("guardrailConfig"))
    if text_of(guard.get("trace")) not in {"enabled", "enabled_full"}:
        return {}
    metrics = {"guardrailProcessingLatency": 231, "usage": dict.fromkeys(GUARD_UNITS, 0)}
    assessment = {str(guard.get("guardrailIdentifier")): {"invocationMetrics": metrics}}
    return {"trace": {"guardrail": {"actionReason": "No action.", "inputAssessment": assessment}}}


# --- AWS event stream ------------------------------------------------------------------------------------


_STRING = 7  # the type of a header's value; the others are not used here


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Returns one message in its final bytes. The numbers are unsigned, 32 bits, big-endian."""
    head = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return body + struct.pack(">I", crc32(body))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack("B", len(key)) + key + struct.pack(">BH", _STRING, len(text)) + text


# --- AWS credentials -------------------------------------------------------------------------------------


_SIGNED = {
    "Credential": r"Credential=(?P<key>[^/,\s]+)/\d{8}/[\w-]+/bedrock/aws4_request",
    "Signature": r"Signature=[0-9a-f]{64}",
    "SignedHeaders": r"SignedHeaders=[\w;-]*host[\w;-]*",
}
_WRONG = Refusal("The security token included in the request is invalid.", 403, "UnrecognizedClientException")


def unauthorized(headers: Mapping[str, str]) -> Refusal | None:
    """Refuses a request without a bearer key and without a signature of the right form.

    The signature itself is not checked, since the secret is not known.
    """
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and rest:
        return _WRONG if rest == WRONG_KEY else None
    if scheme != "AWS4-HMAC-SHA256":
        return Refusal("Missing Authentication Token", 403, "MissingAuthenticationTokenException")
    lacking = [
        f"Authorization header requires '{name}' parameter." for name in _SIGNED if not _part(name, rest)
    ]
    if "x-amz-date" not in headers and "date" not in headers:
        either = "either a 'X-Amz-Date' or a 'Date' header."
        lacking.append(f"Authorization header requires existence of {either}")
    if lacking:
        return Refusal(" ".join(lacking), 403, "IncompleteSignatureException")
    found = _part("Credential", rest)
    return _WRONG if found and found["key"] == WRONG_KEY else None


def _part(name: str, authorization: str) -> re.Match[str] | None:
    return re.search(_SIGNED[name], authorization)
