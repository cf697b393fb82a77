"""Bedrock InvokeModel: the body is that of the model's maker, and a stream is one of AWS events with base64 inside.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
"""

from __future__ import annotations

import json
import re
import struct
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any
from urllib.parse import unquote

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of, text_of
from ...contract.rule import Refusal
from ...scenarios.script import Say
from ..chat_apis.base import ChatApi, compact, padding, utf8, words
from ..chat_apis.bedrock import message, unauthorized
from ..http.messages import HttpRequest, Reply, plain
from ..http.routes import Route
from ..replies import refuse
from ..services.service_request import StoredObjects
from .translation import (
    Translation,
    anthropic_version,
    api_for,
    body_of,
    error_sentence,
    json_of,
    sse_values,
    to_path,
    without_stream,
)

_PATH = re.compile(r"/model/(?P<model>[^/]+)/(?P<method>invoke|invoke-with-response-stream)$")
_EMBEDS = re.compile(r"embed|rerank|image|canvas|reel|stable|sonic")
_PAD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_KEYS = {"anthropic-version": "2023-06-01", "authorization": "Bearer any-key", "x-api-key": "any-key"}
_EVENT = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
_ERRORS = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
    529: "ServiceUnavailableException",
}
_REGION = re.compile(r"^(?:us|eu|apac|global|jp|au)\.")
PATHS = (
    ("bedrock", "POST", "/model/{id}/invoke"),
    ("bedrock", "POST", "/model/{id}/invoke-with-response-stream"),
)


def translation(
    http: HttpRequest,
    route: Route,
    stored: StoredObjects,  # noqa: ARG001 - all translations get it
    today: date | None,
) -> Translation | None:
    """Returns the request in the format of the model's maker, or `None` for another path or for embeddings."""
    found = _PATH.search(route.path)
    if not found or _EMBEDS.search(found["model"]):
        return None
    api, model = api_for(http, route, "bedrock", "bedrock"), unquote(found["model"]).rpartition("/")[2]
    stream = found["method"] != "invoke"
    if refusal := unauthorized(http.headers):
        return Translation(None, _same, refuse(api, refusal))
    maker = _REGION.sub("", model).partition(".")[0]
    converters = _CONVERTERS | {"anthropic": partial(_claude, today)}
    convert = converters.get("nova" if "nova" in model else maker, _prompt)
    target = convert(http, route, model, stream)
    if target is None:
        return None
    if isinstance(target, str):
        return Translation(None, _same, refuse(api, Refusal(target, 400, "ValidationException")))
    request, back = target
    return Translation(request, partial(_checked, api, back))


def _same(reply: Reply) -> Reply:
    return reply


def _checked(api: ChatApi, back: Callable[[Reply], Reply], reply: Reply) -> Reply:
    """Returns an error in the form of Bedrock, or else the reply written by `back`."""
    if reply.status < 400:
        return back(reply)
    kind = _ERRORS.get(reply.status, "InternalServerException")
    status = 503 if reply.status == 529 else reply.status
    return refuse(api, Refusal(error_sentence(reply), status, kind))


#: A request with the way back, the sentence of an error, or `None` for a model whose form is not served.
_Target = tuple[HttpRequest, Callable[[Reply], Reply]] | str | None


# Claude -------------------------------------------------------------------------------------------------


def _claude(today: date | None, http: HttpRequest, route: Route, model: str, stream: bool) -> _Target:
    """Converts a request to Claude. What is wrong with a version is a sentence of the old validation, UNVERIFIED."""
    body = body_of(http)
    if "prompt" in body:
        return _prompt(http, route, model, stream)
    if "anthropic_version" not in body:
        return "anthropic_version: Field required"
    for name in ("model", "stream"):
        if name in body:
            return f"{name}: Extra inputs are not permitted"
    betas = ",".join(map(str, items_of(body.pop("anthropic_beta", None))))
    told = body.pop("anthropic_version")
    version = anthropic_version(told, "bedrock", model, today)
    if version is None:
        return f"Invalid API version: {told}"
    name = re.sub(r"-v\d+(:\d+)?$", "", model.rpartition("anthropic.")[2])
    headers = _KEYS | {"anthropic-version": version} | ({"anthropic-beta": betas} if betas else {})
    request = to_path(http, route, "/v1/messages", {"model": name, **body, "stream": stream}, headers)
    return request, _of_claude_stream if stream else _of_claude


def _of_claude(reply: Reply) -> Reply:
    value, usage = json_of(reply), object_of(json_of(reply).get("usage"))
    value["id"] = f"msg_bdrk_{text_of(value.get('id')).removeprefix('msg_')}"
    return _counted(value, usage.get("input_tokens", 0), usage.get("output_tokens", 0), reply)


def _of_claude_stream(reply: Reply) -> Reply:
    values = [value for value in sse_values(reply) if value.get("type") != "ping"]
    for value in values:
        if value.get("type") == "message_start":
            value["message"]["id"] = value["message"]["id"].replace("msg_", "msg_bdrk_")
    ends = [object_of(value.get("usage")) for value in values if value.get("type") == "message_delta"]
    if values and values[-1].get("type") == "message_stop" and ends:
        values[-1] |= _metrics(ends[0].get("input_tokens", 0), ends[0].get("output_tokens", 0))
    return _events(values, reply)


# Nova ---------------------------------------------------------------------------------------------------


def _nova(http: HttpRequest, route: Route, model: str, stream: bool) -> _Target:
    """Converts a request to Nova, which has the fields of Converse."""
    body = {name: value for name, value in body_of(http).items() if name != "schemaVersion"}
    config = object_of(body.get("inferenceConfig"))
    if "max_new_tokens" in config:
        body["inferenceConfig"] = {**config, "maxTokens": config["max_new_tokens"]}
        del body["inferenceConfig"]["max_new_tokens"]
    path = f"/model/{model}/converse{'-stream' if stream else ''}"
    return to_path(http, route, path, body), _of_nova_stream if stream else _of_nova


def _of_nova(reply: Reply) -> Reply:
    value = json_of(reply)
    usage = object_of(value.get("usage"))
    fields = {name: value.get(name) for name in ("output", "stopReason", "usage")}
    return _counted(fields, usage.get("inputTokens", 0), usage.get("outputTokens", 0), reply)


def _of_nova_stream(reply: Reply) -> Reply:
    return _events([{kind: payload} for kind, payload in _messages(reply.body)], reply)


def _messages(data: bytes) -> Iterator[tuple[str, Json]]:
    """Yields the type and the payload of each whole message of an AWS stream."""
    start = 0
    while start + 12 <= len(data):
        size, head = struct.unpack(">II", data[start : start + 8])
        if start + size > len(data):
            return
        kind = data[start + 12 : start + 12 + head].partition(b":event-type\x07")[2]
        payload = object_of(json.loads(data[start + 12 + head : start + size - 4]))
        payload.pop("p", None)
        yield kind[2 : 2 + int.from_bytes(kind[:2], "big")].decode(), payload
        start += size


# models with the form of Chat Completions, and with a prompt ---------------------------------------------


def _completions(http: HttpRequest, route: Route, model: str, stream: bool) -> _Target:
    """Converts a request with `messages` in the form of Chat Completions."""
    body = body_of(http)
    if "messages" not in body:
        return _prompt(http, route, model, stream)
    body = without_stream(body) | {"model": model, "stream": stream}
    return to_path(http, route, "/v1/chat/completions", body, _KEYS), partial(
        _of_stream if stream else _of_completion, model
    )


def _of_completion(model: str, reply: Reply) -> Reply:
    value = json_of(reply) | {"model": model}
    usage = object_of(value.get("usage"))
    return _counted(value, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), reply)


def _of_stream(model: str, reply: Reply) -> Reply:
    return _events([value | {"model": model} for value in sse_values(reply) if value], reply)


def _prompt(http: HttpRequest, route: Route, model: str, stream: bool) -> _Target:
    """Converts a request with one prompt, as the older models of each maker take it."""
    body = body_of(http)
    maker = _REGION.sub("", model).partition(".")[0]
    prompt = text_of(body.get("prompt") or body.get("inputText") or body.get("message"))
    if maker not in _WRITERS:
        return None
    if not prompt:
        return "Malformed input request: #: required key [prompt] not found, please reformat your input and try again."
    config = object_of(body.get("textGenerationConfig"))
    limits = [body.get(name) for name in ("max_tokens", "max_gen_len", "max_tokens_to_sample", "maxTokens")]
    limit = next((each for each in (*limits, config.get("maxTokenCount")) if isinstance(each, int)), None)
    asked: Json = {"model": "gpt-4.1", "messages": [{"role": "user", "content": prompt}]}
    asked |= {"max_tokens": limit} if limit else {}
    back = partial(_of_prompt, maker, prompt, stream)
    return to_path(http, route, "/v1/chat/completions", asked, _KEYS), back


def _of_prompt(maker: str, prompt: str, stream: bool, reply: Reply) -> Reply:
    choice, usage = items_of(json_of(reply).get("choices")), object_of(json_of(reply).get("usage"))
    text = text_of(object_of(object_of(choice[0] if choice else {}).get("message")).get("content"))
    counts = (usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))
    finished = object_of(choice[0] if choice else {}).get("finish_reason") == "length"
    write = _WRITERS[maker]
    if not stream:
        return _counted(write(text, prompt, counts, finished), *counts, reply)
    pieces = [write(piece, prompt, counts, None) for piece in words(Say(text))]
    last = write("", prompt, counts, finished) | _metrics(*counts)
    return _events([*pieces, last], replace(reply, length=None))


def _llama(text: str, prompt: str, counts: tuple[int, int], cut: bool | None) -> Json:  # noqa: ARG001 - each family gets the same
    stop = None if cut is None else "length" if cut else "stop"
    tokens = {"prompt_token_count": counts[0], "generation_token_count": counts[1]}
    return {"generation": text, **tokens, "stop_reason": stop}


def _mistral(text: str, prompt: str, counts: tuple[int, int], cut: bool | None) -> Json:  # noqa: ARG001 - each family gets the same
    stop = None if cut is None else "length" if cut else "stop"
    return {"outputs": [{"text": text, "stop_reason": stop}]}


def _titan(text: str, prompt: str, counts: tuple[int, int], cut: bool | None) -> Json:  # noqa: ARG001 - each family gets the same
    reason = None if cut is None else "LENGTH" if cut else "FINISH"
    result = {"tokenCount": counts[1], "outputText": text, "completionReason": reason}
    return {"inputTextTokenCount": counts[0], "results": [result]}


def _command(text: str, prompt: str, counts: tuple[int, int], cut: bool | None) -> Json:  # noqa: ARG001 - each family gets the same
    reason = None if cut is None else "MAX_TOKENS" if cut else "COMPLETE"
    return {"generations": [{"finish_reason": reason, "id": "0", "text": text}], "id": "0", "prompt": prompt}


def _old_claude(text: str, prompt: str, counts: tuple[int, int], cut: bool | None) -> Json:  # noqa: ARG001 - each family gets the same
    stop = None if cut is None else "max_tokens" if cut else "stop_sequence"
    return {
        "type": "completion",
        "completion": text,
        "stop_reason": stop,
        "stop": None if cut else "\n\nHuman:",
    }


_WRITERS: dict[str, Callable[[str, str, tuple[int, int], bool | None], Json]] = {
    "meta": _llama,
    "mistral": _mistral,
    "amazon": _titan,
    "cohere": _command,
    "anthropic": _old_claude,
}
_CONVERTERS: dict[str, Callable[[HttpRequest, Route, str, bool], _Target]] = {
    "nova": _nova,
    **dict.fromkeys(
        ("openai", "ai21", "deepseek", "qwen", "minimax", "moonshot", "zai", "nvidia", "google"), _completions
    ),
}


# bytes --------------------------------------------------------------------------------------------------


def _counted(value: Json, read: int, written: int, reply: Reply) -> Reply:
    """Returns a reply with its token counts in the headers."""
    counts = (
        ("x-amzn-bedrock-input-token-count", str(read)),
        ("x-amzn-bedrock-output-token-count", str(written)),
    )
    answer = plain(200, (("content-type", "application/json"), *counts), utf8(compact(value)))
    return replace(answer, ending=reply.ending, first=reply.first)


def _metrics(read: Any, written: Any) -> Json:
    counts = {"inputTokenCount": read, "outputTokenCount": written}
    return {"amazon-bedrock-invocationMetrics": {**counts, "invocationLatency": 400, "firstByteLatency": 200}}


def _events(values: Iterable[Json], reply: Reply) -> Reply:
    """Returns a stream of chunks, each with the bytes of one event."""
    writes = []
    for value in values:
        data = utf8(compact(value))
        chunk = {"bytes": b64encode(data).decode(), "p": padding(compact(value), _PAD)}
        writes.append(message(_EVENT, utf8(compact(chunk))))
    return replace(reply, headers=(("content-type", "application/vnd.amazon.eventstream"),), writes=writes)
