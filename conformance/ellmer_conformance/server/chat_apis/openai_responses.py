"""OpenAI Responses: typed output items. Every step of a stream is announced, numbered and closed.

https://developers.openai.com/api/reference/resources/responses
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...contract.rules.openai_responses.order import with_reasoning
from ...scenarios.script import Answer, Call, Refuse, Run, Said, Say, Search, Show, Stop, Think, Usage
from ..issued.reasoning_prefixes import bound, dropped
from ..issued.signatures import decoded, encoded, is_ours, opened
from ._citations import url_citations
from ._openai import FAILURES, OpenAI, input_text, object_at
from .base import (
    HEX,
    NOISE,
    FailureKind,
    Frame,
    Kind,
    arguments_text,
    compact,
    log_probabilities,
    pretty,
    slices,
    sse,
    words,
)

_ALWAYS_SEALED = re.compile(r"gpt-(5\.[6-9]|[6-9])")  # models that send encrypted reasoning unasked
#: The items of calls, each with the names of its events and the field of its text.
_CALLS = {
    "function_call": (
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "arguments",
    ),
    "custom_tool_call": (
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
        "input",
    ),
}
_PHASED = re.compile(r"gpt-(5\.[4-9]|5\.3-codex|[6-9])")  # models that say what a message is for
_SEALED = "gAAAAAB"  # how every encrypted blob of theirs begins

_Step = tuple[Kind, str, Json]  # what would be lost without it, its name, its fields


class OpenAIResponses(OpenAI):
    """The host api.openai.com."""

    wire: ClassVar[str] = "openai-responses"
    carries: ClassVar[frozenset[str]] = frozenset({"citations", "search", "code", "image", "refusal"})
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "completed",
        "tool": "completed",
        "length": "max_output_tokens",
        "filter": "content_filter",
        "sequence": "completed",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **FAILURES,
        "server-error": Refusal(
            "An error occurred while processing your request. You can retry your request, or contact us through "
            "our help center at help.openai.com if the error persists. Please include the request ID "
            "req_00000000000000000000000000000000 in your message.",
            500,
            "server_error",
            "server_error",
        ),
        "context-length": Refusal(
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            400,
            "invalid_request_error",
            "context_length_exceeded",
            "input",
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "The requested model '{model}' does not exist.",
        400,
        "invalid_request_error",
        "model_not_found",
        "model",
    )

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        return pretty(self.response(self.status(answer), self.items(answer), answer))

    def frames(self, answer: Answer) -> Iterator[Frame]:
        for number, (kind, name, fields) in enumerate(self.steps(answer)):
            yield Frame(kind, event(name, number, fields))

    def steps(self, answer: Answer) -> Iterator[_Step]:
        """Yields the events without their numbers."""
        begun = self.response("in_progress", [])
        yield "open", "response.created", {"response": begun}
        yield "open", "response.in_progress", {"response": begun}
        items = self.items(answer)
        for index, item in enumerate(items):
            kind: Kind = "call" if item["type"] in _CALLS else "open"
            yield kind, "response.output_item.added", {"item": started(item), "output_index": index}
            part = answer.parts[index]
            for inner, name, fields in self.inside(part, item):
                yield inner, name, fields | {"item_id": item["id"], "output_index": index}
            yield "close", "response.output_item.done", {"item": item, "output_index": index}
        status = self.status(answer)
        yield "end", f"response.{status}", {"response": self.response(status, items, answer)}

    def inside(self, part: Said, item: Json) -> Iterator[_Step]:
        """Yields the events between an item's beginning and its end."""
        match part:
            case Say():
                yield from self.text(part, item)
            case Think():
                for index, summary in enumerate(item["summary"]):
                    yield from self.summary(summary, index)
            case Call():
                delta, done, field = _CALLS[item["type"]]
                for piece in slices(item[field]):
                    yield "arguments", delta, {"delta": piece, **self.padding(piece)}
                yield "close", done, {field: item[field]}
            case Refuse():
                yield from self.refusal(part, item)
            case Run():
                yield from self.code(item["code"])
            case Search() | Show():
                verb = "searching" if isinstance(part, Search) else "generating"
                for state in ("in_progress", verb, "completed"):
                    yield "open", f"response.{item['type']}.{state}", {}

    def text(self, part: Say, item: Json) -> Iterator[_Step]:
        """Yields the events of a message's only content part."""
        place, whole = {"content_index": 0}, item["content"][0]
        yield (
            "open",
            "response.content_part.added",
            {**place, "part": whole | {"annotations": [], "logprobs": [], "text": ""}},
        )
        for piece in words(part):
            delta = {**place, "delta": piece, "logprobs": self.probabilities(piece), **self.padding(piece)}
            yield "text", "response.output_text.delta", delta
        for index, annotation in enumerate(whole["annotations"]):
            added = {**place, "annotation": annotation, "annotation_index": index}
            yield "open", "response.output_text.annotation.added", added
        yield (
            "close",
            "response.output_text.done",
            {**place, "logprobs": self.probabilities(part.text), "text": part.text},
        )
        yield "close", "response.content_part.done", {**place, "part": whole}

    def refusal(self, part: Refuse, item: Json) -> Iterator[_Step]:
        """Yields the events of a refusal."""
        place, whole = {"content_index": 0}, item["content"][0]
        yield "open", "response.content_part.added", {**place, "part": whole | {"refusal": ""}}
        for piece in words(part):
            yield "text", "response.refusal.delta", {**place, "delta": piece, **self.padding(piece)}
        yield "close", "response.refusal.done", {**place, "refusal": part.text}
        yield "close", "response.content_part.done", {**place, "part": whole}

    def code(self, code: str) -> Iterator[_Step]:
        """Yields the events of a program that the provider runs."""
        yield "open", "response.code_interpreter_call.in_progress", {}
        for piece in slices(code):
            delta = {"delta": piece, **self.padding(piece)}
            yield "open", "response.code_interpreter_call_code.delta", delta
        yield "open", "response.code_interpreter_call_code.done", {"code": code}
        for state in ("interpreting", "completed"):
            yield "open", f"response.code_interpreter_call.{state}", {}

    def summary(self, summary: Json, index: int) -> Iterator[_Step]:
        """Yields the events of one part of a reasoning summary."""
        place, text = {"summary_index": index}, summary["text"]
        yield "open", "response.reasoning_summary_part.added", {**place, "part": summary | {"text": ""}}
        for piece in words(Think(text)):
            delta = {**place, "delta": piece, **self.padding(piece)}
            yield "thinking", "response.reasoning_summary_text.delta", delta
        yield "close", "response.reasoning_summary_text.done", {**place, "text": text}
        yield "close", "response.reasoning_summary_part.done", {**place, "part": summary}

    def items(self, answer: Answer) -> list[Json]:
        """Returns the output items, one for each part. The last item of a truncated answer is incomplete."""
        items = [self.item(part, number, answer) for number, part in enumerate(answer.parts)]
        with_reasoning(items)
        if items and self.status(answer) == "incomplete" and "status" in items[-1]:
            items[-1]["status"] = "incomplete"
        return items

    def item(self, part: Said, number: int, answer: Answer) -> Json:
        """Returns a part as an output item."""
        match part:
            case Say(text):
                cited = {"annotations": url_citations(part), "logprobs": self.probabilities(text)}
                return self.message({"type": "output_text", **cited, "text": text}, number, answer)
            case Refuse(text):
                return self.message({"type": "refusal", "refusal": text}, number, answer)
            case Think(text):
                sealed = (
                    {"encrypted_content": encoded(bound(text, self.asked, self.model), _SEALED)}
                    if self.seals
                    else {}
                )
                summary = [{"type": "summary_text", "text": text}] if self.summarises else []
                kind = {"type": "reasoning", "content": []}
                return {"id": self.id("rs", number), **kind, **sealed, "summary": summary}
            case Call():
                return self.call(part, number)
        return self.of_provider(part, number)

    def call(self, call: Call, number: int) -> Json:
        """Returns a call of a function or of a custom tool."""
        custom = call.name in self.custom_tools
        return {
            "id": self.id("ctc" if custom else "fc", number),
            "type": "custom_tool_call" if custom else "function_call",
            "status": "completed",
            **({"input": input_text(call)} if custom else {"arguments": arguments_text(call)}),
            "call_id": self.call_id(call, number),
            "name": call.name,
        }

    def of_provider(self, part: Search | Run | Show, number: int) -> Json:
        """Returns the item of a tool that the provider runs itself."""
        match part:
            case Search(query):
                action: Json = {"type": "search", "queries": [query], "query": query}
                if "web_search_call.action.sources" in self.included:
                    action["sources"] = [{"type": "url", "url": page.url} for page in part.found]
                kind = {"type": "web_search_call", "status": "completed"}
                return {"id": self.id("ws", number), **kind, "action": action}
            case Run(code, output):
                logs = [{"type": "logs", "logs": output}]
                asked = "code_interpreter_call.outputs" in self.included
                ran = {"code": code, "container_id": self.id("cntr"), "outputs": logs if asked else None}
                kind = {"type": "code_interpreter_call", "status": "completed"}
                return {"id": self.id("ci", number), **kind, **ran}
            case Show():
                return self.image(part, number)

    def message(self, content: Json, number: int, answer: Answer) -> Json:
        """Returns a message with one content part."""
        phase = "commentary" if answer.reason == "tool" else "final_answer"
        return {
            "id": self.id("msg", number),
            "type": "message",
            "status": "completed",
            "content": [content],
            **({"phase": phase} if _PHASED.match(self.model) else {}),
            "role": "assistant",
        }

    def image(self, part: Show, number: int) -> Json:
        """Returns a generated image: https://developers.openai.com/api/docs/guides/tools-image-generation"""
        settings = {"action": "generate", "background": "opaque", "quality": "low", "size": "1024x1024"}
        return {
            "id": self.id("ig", number),
            "type": "image_generation_call",
            "status": "completed",
            **settings,
            "output_format": part.type.partition("/")[2],
            "result": b64encode(part.data).decode(),
            "revised_prompt": part.words,
        }

    def probabilities(self, text: str) -> list[Json]:
        """Returns the log probabilities of a text, if they are requested."""
        if "message.output_text.logprobs" not in self.included:
            return []
        return log_probabilities(text, self.asked.get("top_logprobs") or 0)

    @property
    def included(self) -> list[Any]:
        """The parts that the request includes besides the answer."""
        include = self.asked.get("include")
        return include if isinstance(include, list) else []

    @property
    def seals(self) -> bool:
        """Whether reasoning has its encrypted form."""
        return "reasoning.encrypted_content" in self.included or bool(_ALWAYS_SEALED.match(self.model))

    @property
    def summarises(self) -> bool:
        """Whether reasoning has a summary."""
        return bool(object_at(self.asked, "reasoning").get("summary"))

    def padding(self, piece: str) -> Json:
        """Returns random-looking padding, which hides the length of a text."""
        if object_at(self.asked, "stream_options").get("include_obfuscation") is False:
            return {}
        return {"obfuscation": NOISE[: 16 - len(piece) % 16]}

    def status(self, answer: Answer) -> str:
        """Returns `completed` or `incomplete`."""
        return "completed" if self.stops[answer.reason] == "completed" else "incomplete"

    def response(self, status: str, output: Sequence[Json], answer: Answer | None = None) -> Json:
        """Returns the response object in one of its states. It repeats the request's settings."""
        cause = {"reason": self.stops[answer.reason]} if answer and status == "incomplete" else None
        gone = dropped(self.asked, self.model, seal=_SEALED) if answer else []
        return (
            self.common
            | ({"input_transformations": gone} if gone else {})
            | {
                "status": status,
                "completed_at": self.ticket.created + 1 if status == "completed" else None,
                "incomplete_details": cause,
                "output": list(output),
                "tool_usage": tool_usage(answer),
                "usage": usage(answer.usage) if answer else None,
            }
        )

    @cached_property
    def common(self) -> Json:
        """The fields that are the same in each state, and `None` for the others, in the order of the keys."""
        billing = {} if self.ticket.request.stream else {"billing": {"payer": "developer"}}
        return in_recorded_order(
            {
                **dict.fromkeys(("status", "completed_at", "error", "incomplete_details", "output", "usage")),
                "id": self.id("resp"),
                "object": "response",
                "created_at": self.ticket.created,
                **billing,
                "instructions": self.asked.get("instructions"),
                "max_output_tokens": self.asked.get("max_output_tokens"),
                "model": self.model,
                "moderation": None,
                **response_settings(self.asked, self.model),
                "tool_usage": NO_TOOL_USAGE,
            }
        )

    def id(self, prefix: str, number: int | None = None) -> str:
        """Returns an id: `fc_` and 50 hex digits, which contain the time."""
        token = self.ticket.token
        return (
            f"{prefix}_{token('response', 16, HEX)}00{self.ticket.created:08x}{token(f'{number}', 24, HEX)}"
        )

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields an error event, then the failed response with its output so far."""
        failure = self.failures[kind]
        error = {"code": failure.code or failure.type, "message": failure.message}
        yield event("error", len(before), {"error": {"type": failure.type, **error, "param": None}})
        output = [item for frame in before if (item := added(frame))]
        response = self.response("failed", output) | {"error": error}
        yield event("response.failed", len(before) + 1, {"response": response})

    # refusals ---------------------------------------------------------------------------------------------

    def forged(self, *, strict: bool) -> Refusal | None:
        items = self.asked.get("input")
        for item in items if isinstance(items, list) else ():
            sealed = item.get("encrypted_content") if isinstance(item, dict) else None
            made_up = (
                self.ticket.request.provider in _FERNET and isinstance(sealed, str) and not _is_fernet(sealed)
            )
            if isinstance(sealed, str) and is_forged(sealed, strict=strict or made_up):
                sentence = (
                    f"The encrypted content {sealed[:4]}...{sealed[-4:]} could not be verified. Reason: Encrypted "
                    "content could not be decrypted or parsed."
                )
                return Refusal(sentence, 400, "invalid_request_error", "invalid_encrypted_content")
        return None


def is_forged(sealed: str, *, strict: bool) -> bool:
    """Tells whether encrypted reasoning was changed."""
    blob = decoded(sealed.removeprefix(_SEALED)) or b""
    return (strict or is_ours(blob)) and opened(blob) is None


#: Providers whose encrypted reasoning is a Fernet token, as in every recording of them.
_FERNET = ("openai", "azure")


def _is_fernet(sealed: str) -> bool:
    """Tells whether a text has the form of a Fernet token: a version, a time, a vector, whole blocks and a digest. A recorder's
    placeholder passes, too. https://github.com/fernet/spec/blob/master/Spec.md
    """
    if "REDACTED" in sealed:
        return True
    blob = decoded(sealed) or b""
    return blob[:1] == b"\x80" and len(blob) >= _FERNET_LEAST and (len(blob) - _FERNET_FRAME) % 16 == 0


_FERNET_FRAME, _FERNET_LEAST = 57, 73  # bytes around the blocks, and those of the shortest token


# --- events and counts -----------------------------------------------------------------------------------


def tool_usage(answer: Answer | None) -> Json:
    """Returns the usage of the provider's own tools."""
    searches = sum(isinstance(part, Search) for part in answer.parts) if answer else 0
    return NO_TOOL_USAGE | {"web_search": {"num_requests": searches}} if searches else NO_TOOL_USAGE


_UNMADE: Json = {"outputs": None, "result": None}  # what a tool of the provider has not made yet


def started(item: Json) -> Json:
    """Returns an item in its first event, without content."""
    empty = {"status": "in_progress", "content": [], "arguments": "", "input": "", "summary": [], "code": ""}
    begun = item | {key: value for key, value in (empty | _UNMADE).items() if key in item}
    begun.pop("action", None)
    return begun


def added(frame: Frame) -> Json | None:
    """Returns the item that a frame adds, or `None`."""
    event, _, data = frame.data.partition(b"\ndata: ")
    item: Json | None = json.loads(data)["item"] if event.endswith(b"output_item.added") else None
    return item


def event(name: str, number: int, fields: Json) -> bytes:
    """Returns a numbered event with sorted keys."""
    fields = fields | {"sequence_number": number}
    return sse(compact({"type": name, **dict(sorted(fields.items()))}), name)


def usage(usage: Usage) -> Json:
    """Returns the token counts, which include their parts."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cache_write_tokens": usage.cache_write, "cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


# --- the settings that a Responses object repeats from the request ---------------------------------------


_ORDER = (
    *("id", "object", "created_at", "status", "background", "billing", "completed_at", "error"),
    *("frequency_penalty", "incomplete_details", "instructions", "max_output_tokens", "max_tool_calls"),
    *("model", "moderation", "output", "parallel_tool_calls", "presence_penalty", "previous_response_id"),
    *(
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
    ),
    *("temperature", "text", "tool_choice", "tool_usage", "tools", "top_logprobs", "top_p", "truncation"),
    *("usage", "user", "metadata"),
)

_REASONS = re.compile(r"(?:openai[./])?(?:gpt-(?:5|[6-9])|o\d|codex)(?!.*chat)")
_UNTHINKING = re.compile(
    r"(?:openai[./])?gpt-5\.[124](?!.*(?:codex|pro))"
)  # they reason where they are asked to
_ALL_TURNS = re.compile(
    r"(?:openai[./])?gpt-(?:5\.[5-9]|[6-9])"
)  # their reasoning sees that of earlier turns
_KEPT_A_DAY = re.compile(r"(?:openai[./])?gpt-(?:5\.[1-9]|[6-9])")  # how long their prompts are cached
_SAME: Json = {
    "background": False,
    "frequency_penalty": 0.0,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "store": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
_NO_IMAGES: Json = {"image_tokens": 0, "text_tokens": 0}

#: The usage of the provider's own tools: no images, and no web searches.
NO_TOOL_USAGE: Json = {
    "image_gen": {
        "input_tokens": 0,
        "input_tokens_details": _NO_IMAGES,
        "output_tokens": 0,
        "output_tokens_details": _NO_IMAGES,
        "total_tokens": 0,
    },
    "web_search": {"num_requests": 0},
}


def response_settings(asked: Json, model: str) -> Json:
    """Returns the settings of the request `asked` for `model`, with defaults."""
    settings = {name: asked.get(name, default) for name, default in _SAME.items()}
    retention = "24h" if _KEPT_A_DAY.match(model) else "in_memory"
    tier = asked.get("service_tier", "auto")
    return settings | {
        "prompt_cache_retention": asked.get("prompt_cache_retention", retention),
        "reasoning": _reasoning(object_at(asked, "reasoning"), model),
        "service_tier": "default" if tier == "auto" else tier,
        "text": _text(object_at(asked, "text")),
        "tools": [_tool(tool) for tool in tools] if isinstance(tools := asked.get("tools"), list) else [],
    }


def in_recorded_order(response: Json) -> Json:
    """Returns a Responses object with its keys in the order of the real ones."""
    return {name: response[name] for name in _ORDER if name in response}


def _reasoning(asked: Json, model: str) -> Json:
    if not _REASONS.match(model):
        return {"context": None, "effort": None, "summary": None} | asked
    context = "all_turns" if _ALL_TURNS.match(model) else "current_turn"
    effort = "none" if _UNTHINKING.match(model) else "medium"
    return {"context": context, "effort": effort, "mode": "standard", "summary": None} | asked


def _text(asked: Json) -> Json:
    text: Json = {"format": {"type": "text"}} | asked | {"verbosity": asked.get("verbosity") or "medium"}
    match text["format"]:
        case {"type": "json_schema", **form}:
            text["format"] = {"description": None, "type": "json_schema", **form}
    return text


def _tool(tool: object) -> object:
    match tool:
        case {"type": "function", **rest}:
            return {"output_schema": None, "type": "function", **rest}
    return tool
