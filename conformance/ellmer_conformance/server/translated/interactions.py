"""Gemini Interactions: steps instead of contents, and a conversation that the server keeps.

https://ai.google.dev/api/interactions-api
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import groupby

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of, text_of
from ...contract.rule import Refusal
from ...scenarios.script import Say
from ..chat_apis.base import ChatApi, compact, slices, sse, words
from ..http.messages import HttpRequest, Reply, plain
from ..http.routes import Route
from ..replies import refuse
from ..services.service_request import Interaction, StoredObjects
from .translation import Translation, api_for, body_of, json_of, to_path

_PATH = re.compile(r"/v1(?:alpha|beta)?/interactions/?$")
_MEDIA = {"image", "audio", "document", "video"}
_ANY_SIGNATURE = "skip_thought_signature_validator"
_AGENT_MODEL = "gemini-3.5-flash"
_SETTINGS = {
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "stop_sequences": "stopSequences",
    "max_output_tokens": "maxOutputTokens",
}
PATHS = (("gemini", "POST", "/v1beta/interactions"),)


def translation(
    http: HttpRequest,
    route: Route,
    stored: StoredObjects,
    today: date | None,  # noqa: ARG001 - all translations get it
) -> Translation | None:
    """Returns the same request for `generateContent`, or `None` if the path is not that of interactions."""
    if not _PATH.search(route.path):
        return None
    body, api = body_of(http), api_for(http, route, "gemini", "google")
    previous = stored.interactions.get(text_of(body.get("previous_interaction_id")))
    if refusal := _refusal(body, previous):
        return Translation(None, _same, refuse(api, refusal))
    steps = [*(previous.steps if previous else ()), *_steps(body.get("input"))]
    model = text_of(body.get("model")).removeprefix("models/") or _AGENT_MODEL
    asked = _request(body, steps)
    request = to_path(http, route, f"/v1beta/models/{model}:generateContent", asked)
    return Translation(request, partial(_back, body, steps, stored, api))


def _same(reply: Reply) -> Reply:
    return reply


def _refusal(body: Json, previous: Interaction | None) -> Refusal | None:
    """Returns the error for a request that cannot be translated. Its sentences are UNVERIFIED."""
    if not body.get("model") and not body.get("agent"):
        return Refusal("Either `model` or `agent` must be specified.", 400, "INVALID_ARGUMENT")
    if not body.get("input"):
        return Refusal("`input` is required.", 400, "INVALID_ARGUMENT")
    if body.get("previous_interaction_id") and previous is None:
        sentence = f"Interaction {body['previous_interaction_id']} not found."
        return Refusal(sentence, 404, "NOT_FOUND")
    return None


# there --------------------------------------------------------------------------------------------------


def _steps(source: object) -> list[Json]:
    """Returns an input as steps: a text, a content, contents, or steps."""
    if isinstance(source, str):
        return [{"type": "user_input", "content": [{"type": "text", "text": source}]}]
    items = [object_of(each) for each in (source if isinstance(source, list) else [source])]
    if items and all(item.get("type") in {"text", "function_result", *_MEDIA} for item in items):
        return [{"type": "user_input", "content": items}]
    return items


def _request(body: Json, steps: list[Json]) -> Json:
    """Returns the body of a request for content."""
    found = [pair for step in steps for pair in _parts(step)]
    contents = [
        {"role": role, "parts": [part for _, part in pairs]}
        for role, pairs in groupby(found, key=lambda pair: pair[0])
    ]
    asked: Json = {"contents": contents, **_tools(body)}
    if body.get("system_instruction"):
        asked["systemInstruction"] = {"parts": [{"text": body["system_instruction"]}]}
    config = _config(body)
    return asked | ({"generationConfig": config} if config else {})


def _config(body: Json) -> Json:
    settings = object_of(body.get("generation_config"))
    config: Json = {name: settings[key] for key, name in _SETTINGS.items() if key in settings}
    if isinstance(body.get("response_modalities"), list):
        config["responseModalities"] = [text_of(each).upper() for each in body["response_modalities"]]
    forms = body.get("response_format")
    for form in map(object_of, forms if isinstance(forms, list) else [forms]):
        schema = form.get("schema", form if "properties" in form else None)
        if isinstance(schema, dict):
            config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    thinking: Json = {}
    if settings.get("thinking_level") and "gemini-2" not in text_of(
        body.get("model")
    ):  # recorded: 2.5 takes a level here
        thinking["thinkingLevel"] = text_of(settings["thinking_level"]).upper()
    if settings.get("thinking_summaries") == "auto":
        thinking["includeThoughts"] = True
    return config | ({"thinkingConfig": thinking} if thinking else {})


def _tools(body: Json) -> Json:
    tools = [object_of(tool) for tool in items_of(body.get("tools"))]
    named = [
        {
            "name": tool.get("name"),
            "description": tool.get("description", ""),
            "parametersJsonSchema": object_of(tool.get("parameters")) or {"type": "object", "properties": {}},
        }
        for tool in tools
        if tool.get("type") == "function"
    ]
    own = {"google_search": "googleSearch", "code_execution": "codeExecution", "url_context": "urlContext"}
    found: list[Json] = [{"functionDeclarations": named}] if named else []
    found += [{own[tool["type"]]: {}} for tool in tools if tool.get("type") in own]
    choice = object_of(body.get("generation_config")).get("tool_choice")
    mode = text_of(choice) or text_of(object_of(object_of(choice).get("allowed_tools")).get("mode"))
    config = {"toolConfig": {"functionCallingConfig": {"mode": mode.upper()}}} if mode and named else {}
    return {"tools": found, **config} if found else {}


def _parts(step: Json) -> Iterator[tuple[str, Json]]:
    """Yields the parts of a step with their roles."""
    match step.get("type"):
        case "user_input":
            yield from (
                ("user", part)
                for each in items_of(step.get("content"))
                if (part := _content(object_of(each)))
            )
        case "model_output":
            yield from (
                ("model", part)
                for each in items_of(step.get("content"))
                if (part := _content(object_of(each)))
            )
        case "function_call":
            call = {"id": step.get("id"), "name": step.get("name"), "args": object_of(step.get("arguments"))}
            yield "model", {"functionCall": call, "thoughtSignature": _ANY_SIGNATURE}
        case "function_result":
            yield "user", _content(step)


def _content(value: Json) -> Json:
    match value.get("type"):
        case "text":
            return {"text": text_of(value.get("text"))}
        case "function_result":
            result = value.get("result")
            response = result if isinstance(result, dict) else {"result": result}
            named = {"id": value.get("call_id"), "name": value.get("name") or "function"}
            return {"functionResponse": {**named, "response": response}}
    if value.get("type") in _MEDIA:
        kind = {"mimeType": value.get("mime_type")}
        return (
            {"inlineData": {**kind, "data": value["data"]}}
            if "data" in value
            else {"fileData": {**kind, "fileUri": value.get("uri")}}
        )
    return {}


# and back -----------------------------------------------------------------------------------------------


def _back(body: Json, steps: list[Json], stored: StoredObjects, api: ChatApi, reply: Reply) -> Reply:
    if reply.status >= 400:
        return reply
    value = json_of(reply)
    stored.count += 1
    answer_steps = _answer_steps(
        value, summaries=object_of(body.get("generation_config")).get("thinking_summaries") == "auto"
    )
    id = f"v1_{api.ticket.token(f'interaction {stored.count}', 60)}"
    interaction = _interaction(id, api.ticket.moment("%Y-%m-%dT%H:%M:%SZ"), body, value, answer_steps)
    stored_interaction = Interaction(
        interaction, [*steps, *answer_steps], background=body.get("background") is True
    )
    if body.get("store") is not False:
        stored.interactions[id] = stored_interaction
    if body.get("stream") is True:
        headers = (("content-type", "text/event-stream"), *reply.headers[1:])
        return replace(reply, headers=headers, writes=list(events(stored_interaction.value)), length=None)
    return replace(plain(200, reply.headers, compact(stored_interaction.shown).encode()), ending=reply.ending)


def _interaction(id: str, moment: str, body: Json, answer: Json, steps: list[Json]) -> Json:
    """Returns the interaction that answers a request: `answer` is the one of generateContent, and `steps` are its steps."""
    named = {name: body[name] for name in ("model", "agent", "previous_interaction_id") if body.get(name)}
    return {
        "created": moment,
        "id": id,
        **named,
        "object": "interaction",
        "service_tier": "standard",
        "status": _status(answer, steps),
        "steps": steps,
        "updated": moment,
        "usage": _usage(object_of(answer.get("usageMetadata"))),
    }


def _answer_steps(value: Json, *, summaries: bool) -> list[Json]:
    candidate = object_of(next(iter(items_of(value.get("candidates"))), None))
    parts = [object_of(part) for part in items_of(object_of(candidate.get("content")).get("parts"))]
    signature = next((part["thoughtSignature"] for part in parts if part.get("thoughtSignature")), "")
    thoughts = [{"type": "text", "text": part.get("text")} for part in parts if part.get("thought")]
    summary = {"summary": thoughts} if summaries and thoughts else {}
    steps: list[Json] = [{**summary, "signature": signature, "type": "thought"}]
    grounding = object_of(candidate.get("groundingMetadata"))
    if grounding:
        queries = {"queries": grounding.get("webSearchQueries")}
        steps.append(
            {
                "arguments": queries,
                "id": "search_1",
                "search_type": "web_search",
                "type": "google_search_call",
            }
        )
        steps.append({"call_id": "search_1", "is_error": False, "result": [], "type": "google_search_result"})
    for part in parts:
        steps += _step(part)
    return steps


def _step(part: Json) -> list[Json]:
    """Returns the step of a part. Thoughts have theirs."""
    if part.get("thought"):
        return []
    if call := object_of(part.get("functionCall")):
        return [
            {
                "arguments": call.get("args"),
                "id": call.get("id"),
                "name": call.get("name"),
                "type": "function_call",
            }
        ]
    if data := object_of(part.get("inlineData")):
        kind = text_of(data.get("mimeType"))
        content = {"type": kind.partition("/")[0], "mime_type": kind, "data": data.get("data")}
        return [{"content": [content], "type": "model_output"}]
    if part.get("text"):
        return [{"content": [{"text": part["text"], "type": "text"}], "type": "model_output"}]
    return []


def _status(value: Json, steps: list[Json]) -> str:
    if any(step["type"] == "function_call" for step in steps):
        return "requires_action"
    candidate = object_of(next(iter(items_of(value.get("candidates"))), None))
    return "incomplete" if candidate.get("finishReason") == "MAX_TOKENS" else "completed"


def _usage(usage: Json) -> Json:
    read, thought = usage.get("promptTokenCount", 0), usage.get("thoughtsTokenCount", 0)
    return {
        "input_tokens_by_modality": [{"modality": "text", "tokens": read}],
        "total_cached_tokens": usage.get("cachedContentTokenCount", 0),
        "total_input_tokens": read,
        "total_output_tokens": usage.get("candidatesTokenCount", 0),
        "total_thought_tokens": thought,
        "total_tokens": usage.get("totalTokenCount", 0),
        "total_tool_use_tokens": 0,
    }


def events(interaction: Json) -> Iterator[bytes]:
    """Yields an interaction as the events of a stream."""
    head: Json = {
        name: interaction[name] for name in ("id", "model", "agent", "object") if name in interaction
    }
    yield _event("interaction.created", interaction={**head, "status": "in_progress"})
    yield _event("interaction.status_update", interaction_id=interaction["id"], status="in_progress")
    for index, step in enumerate(interaction["steps"]):
        yield _event("step.start", index=index, step=_begun(step))
        yield from (_event("step.delta", index=index, delta=delta) for delta in _deltas(step))
        yield _event("step.stop", index=index)
    last = {name: value for name, value in interaction.items() if name != "steps"}
    yield _event("interaction.completed", interaction=last)
    yield sse("[DONE]", "done")


def _event(kind: str, **fields: object) -> bytes:
    return sse(compact({"event_type": kind, **fields}), kind)


def _begun(step: Json) -> Json:
    begun = {name: value for name, value in step.items() if name not in {"content", "signature", "summary"}}
    return begun | ({"arguments": {}} if step["type"] == "function_call" else {})


def _deltas(step: Json) -> Iterator[Json]:
    for thought in items_of(step.get("summary")):
        yield {"content": thought, "type": "thought_summary"}
    if step["type"] == "thought":
        yield {"signature": step["signature"], "type": "thought_signature"}
    if step["type"] == "function_call":
        yield from (
            {"arguments": piece, "type": "arguments_delta"} for piece in slices(compact(step["arguments"]))
        )
    for content in map(object_of, items_of(step.get("content"))):
        if content.get("type") != "text":
            yield content
        yield from ({"text": piece, "type": "text"} for piece in words(Say(text_of(content.get("text")))))
