"""The recorded exchanges of a file, as the rules see them: the requests, and what the API made of them."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ellmer_core.base.budget import RECORDED_REQUEST, RECORDING
from ellmer_harness.bulk.sources import Source
from ellmer_harness.format.compression import is_coded, undo
from ellmer_harness.recordings import Interaction, Unreadable, format_detection
from ellmer_harness.recordings.format_detection import seems_recorded
from ellmer_harness.recordings.interaction import joined
from ellmer_harness.recordings.untrusted_files import (
    Oversized,
    TooSlow,
    bounded_json,
    plain_bytes,
    time_limit,
)

from ..contract import readers, rules
from ..contract.changes.retired_models import shutdown
from ..contract.error_texts.error_bodies import ApiError, read_error
from ..contract.observed.exchange import Request
from ..contract.readers import host_of
from ..contract.readers.invoke_model_and_cloudflare import hosted
from ..contract.readers.json_access import items_of, object_of, text_of
from .refusal_causes import VISIBLE, cause_of

# --- The exchanges of a file ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recording:
    """An exchange of a file. `place` is its JSON pointer, or its line.

    `body` is `None` if the recorder did not store it, and `status` is `None` if there is no answer. `response` is the
    answer's decoded bytes, and `answered` its headers. `when` is the day of the recording, if the file has it.
    `chunks` are the sizes of the answer's chunks, if the recorder stored them.
    """

    place: str
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    status: int | None = None
    response: bytes = b""
    answered: Mapping[str, str] = field(default_factory=dict)
    when: date | None = None
    chunks: tuple[int, ...] = ()


def read(path: Path) -> Iterator[Recording] | None:
    """Yields the exchanges of a file one by one, because a log may be long. Returns `None` if it is not a recording.

    A line of a log that is not an exchange has no URL. Raises `Unreadable`, also in the middle of a log.
    """
    found = opened(path)
    return found and found[1]


def each_recording(source: Source, most: int, use: Callable[[Recording], None]) -> str | None:
    """Calls a function with each exchange of a file, here or in a store. Returns the reason if the file could not be read to its
    end, also if it takes too long: one file's trouble is that file's line, and the others are read.
    """
    local = nullcontext(source) if isinstance(source, Path) else source.local(most)
    try:
        with local as path, time_limit():
            for recording in _of_acceptable_size(path, most):
                use(recording)
    except Unreadable as error:
        return error.problem
    except TooSlow as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever a recording makes a reader do
        return f"it cannot be judged: {error!r:.200}"
    return None


def _of_acceptable_size(path: Path, most: int) -> Iterator[Recording]:
    """Yields the exchanges of a file. Raises `Oversized` only for what seems to be a recording."""
    count = 0
    try:
        found = opened(path, most)
        for count, recording in enumerate(found[1] if found else (), 1):  # noqa: B007 - the handler asks for it
            yield recording
    except Oversized:
        if count or seems_recorded(path):
            raise


def opened(path: Path, most: int = RECORDING.unpacked) -> tuple[str, Iterator[Recording]] | None:
    """Returns the name of a file's format with the same exchanges. Raises `Oversized` for a file, or a line of a log, of more
    than `most` bytes.
    """
    found = format_detection.opened(path, most)
    if found is None:
        return None
    return found[0], (_recording(it, path) if it else Recording("", "", "") for it in found[1])


def body_alone(path: Path, most: int) -> tuple[str, Iterator[Recording]] | None:
    """Returns a file that is the JSON of one request's body, in the form of `opened()`; `None` if it is not."""
    if not path.name.endswith((".json", ".json.gz")):
        return None
    body = plain_bytes(path, most)
    return ("the body of a request", iter([Recording("", "POST", "", body=body)])) if _asks(body) else None


_CONVERSATION = re.compile(rb'"(?:messages|contents|input)"')


def _asks(body: bytes) -> bool:
    """Tells whether a text is the JSON of a body that has a conversation. Most files of a folder are not even parsed."""
    if not _CONVERSATION.search(body):
        return False
    value = _object(body)
    listed = any(isinstance(value.get(name), list) for name in ("messages", "contents"))
    return listed or {"model", "input"} <= value.keys()


def _recording(it: Interaction, path: Path) -> Recording:
    answered = joined(it.headers)
    return Recording(
        place=it.place,
        method=it.method,
        url=_with_host(it.url, path),
        headers=joined(it.sent),
        body=it.body,
        status=it.status or None,
        response=_unpacked(it.content or b"", answered),
        answered=answered,
        when=it.when.date() if it.when else None,
        chunks=it.chunks,
    )


def _with_host(url: str, path: Path) -> str:
    """Returns the URL. Recorders of mock servers store no host, so it comes from a folder with a provider's name."""
    scheme, _, rest = url.partition("://")
    if not rest.startswith("/"):
        return url
    hosts = (host_of(folder.name.lower()) for folder in path.absolute().parents)
    return f"{scheme}://{next(filter(None, hosts), 'localhost')}{rest}"


def _unpacked(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Removes the content-encoding that some recorders keep, with or without its header."""
    encoding = "gzip" if body.startswith(b"\x1f\x8b") else headers.get("content-encoding", "")
    with suppress(ImportError):  # of br and zstd
        return undo(body, encoding) if is_coded(body, encoding) else body
    return body


# --- Requests --------------------------------------------------------------------------------------------


#: Other formats at their own paths, and other versions of an API.
HOSTED = ("bedrock-invoke", "cloudflare-run", "cohere-v1", "gemini-interactions")


@dataclass(frozen=True)
class Skip:
    """The reason why a recorded request is not judged."""

    reason: str


@dataclass(frozen=True)
class Assumed:
    """What the caller knows about recordings whose address does not show it: the wire format and the provider, `""` for
    unknown."""

    wire: str = ""
    provider: str = ""


UNASSUMED = Assumed()
UNKNOWN_ADDRESS = "the address is unknown, and the body does not show the wire format (name it with --wire)"
#: Reasons of exchanges that no rule concerns. All others mean that something was missed.
_NOT_MEANT = (
    "not a chat request",
    "the line has no exchange",
    "a bare prompt",
    "not a recording of HTTP",
    "an empty recording",
    "the end of the request",
    "what the trace does not show",
)


def is_missed(reason: str) -> bool:
    """Tells whether a reason for skipping means that a request to a model may have been missed."""
    return not reason.startswith(_NOT_MEANT) or "resembles" in reason


def request_of(recording: Recording, assumed: Assumed = UNASSUMED) -> Request | Skip:
    """Returns the request of a recording."""
    if not recording.url and not recording.body:
        return Skip("the line has no exchange")
    try:
        recording = addressed(_with_sibling(_of_chat(recording)), assumed)
        wire = _wire_of(recording)
    except ValueError:  # urlsplit's, for a host that is none: https://[x]/
        return Skip("the URL is malformed")
    if isinstance(wire, Skip):
        return wire
    if not recording.body:
        return Skip("the body was not recorded")
    try:
        found = _hosted(wire, recording) if wire in HOSTED else _chat(recording, assumed)
    except ValueError:
        return Skip("the body is not a JSON object")
    return found if isinstance(found, Skip) or found.when else replace(found, when=_last_day(found))


def _chat(recording: Recording, assumed: Assumed) -> Request | Skip:
    if _is_placeholder(recording):
        return Skip("not a recording of HTTP: the body is a placeholder")
    return _truly(_plain(recording, assumed))


#: Fields of which every chat request has one, whatever its format.
_SAID = {
    "messages",
    "contents",
    "input",
    "prompt",
    "message",
    "conversation",
    "previous_response_id",
    "model",
}


def _is_placeholder(recording: Recording) -> bool:
    """Tells whether a body was written by hand in place of one: the answer is a success, and the body asks nothing or has a
    text in place of its messages.
    """
    answered = recording.status is not None and 200 <= recording.status < 300
    body = _object(recording.body)
    replaced = isinstance(body.get("messages"), str) or isinstance(body.get("contents"), str)
    return answered and bool(body) and (replaced or not _SAID & body.keys())


def _last_day(request: Request) -> date | None:
    """Returns the last day on which the model answered. A recording without a date is judged as of that day."""
    day = shutdown(urlsplit(request.url).hostname or "", request.model)
    return day - timedelta(days=1) if day and day <= date.today() else None  # noqa: DTZ011 - a provider's day


def _wire_of(recording: Recording) -> str | Skip:
    found = readers.detect(recording.url, None, recording.headers)
    if found is None or recording.method in {"GET", "DELETE", "HEAD", "OPTIONS"}:
        return _other_endpoint(recording)
    wire, provider = found
    has_rules = wire in (*rules.WIRES, *HOSTED) and (wire != "cohere-v1" or provider == "cohere")
    return wire if has_rules else Skip(f"there are no rules for {wire} yet")


def _other_endpoint(recording: Recording) -> Skip:
    """Returns why a recording is skipped whose address is not that of a chat format."""
    if not _is_address(recording.url):
        talk = {"messages", "input", "contents", "prompt"} & _object(recording.body).keys()
        other = not talk or b'"embedding"' in recording.response[:4000]
        return Skip("not a chat request, by its body (the address was removed)" if other else UNKNOWN_ADDRESS)
    parts = urlsplit(recording.url)
    host = parts.hostname or ""
    if recording.method == "POST" and _spoken(recording, _object(recording.body)):
        return Skip("an unknown endpoint with a body of a chat format (--wire judges it)")
    if readers.provider_of(host) == host:
        return Skip("not a chat request")
    words = [
        word if re.fullmatch(r"[a-zA-Z_]{2,24}|v\d\w*", word) else "*" for word in parts.path.split("/")[1:5]
    ]
    return Skip(f"not a chat request: {readers.provider_of(host)}'s /{'/'.join(words)}")


def _plain(recording: Recording, assumed: Assumed) -> Request:
    method, url, headers = recording.method, recording.url, recording.headers
    most = RECORDED_REQUEST.values
    found = readers.request(method, url, headers, recording.body or b"", when=recording.when, most=most)
    host = (urlsplit(url).hostname or "").removesuffix(".")
    if readers.provider_of(host) != host:
        return found
    return replace(found, provider=assumed.provider or _signed(recording) or found.provider)


#: Headers of answers that only one provider sends.
_SIGNATURES = {"openai-version": "openai", "anthropic-organization-id": "anthropic", "x-groq-region": "groq"}


#: The errors of local servers: vLLM's have a Python class as their type, and llama.cpp's have a number and no parameter.
_ERRORS = {
    "vllm": re.compile(rb'.*"type": ?"BadRequestError"', re.DOTALL),
    "llamacpp": re.compile(
        rb'(?=.*"code": ?400)(?=.*"type": ?"invalid_request_error")(?!.*"(param|object|details)")', re.DOTALL
    ),
}


def _signed(recording: Recording) -> str:
    """Returns the provider that an answer's headers or its error name, for an address without a known host."""
    if found := next((name for header, name in _SIGNATURES.items() if header in recording.answered), ""):
        return found
    if (recording.status or 0) < 400:
        return ""
    return next((name for name, error in _ERRORS.items() if error.match(recording.response[:4000])), "")


# --- Other endpoints with the same bodies ----------------------------------------------------------------


#: The end of a path, and the endpoint whose body it takes. These answer with a count, a cache or a compaction.
_WITHOUT_MESSAGE = (
    (re.compile(r"(/v1/messages)/count_tokens/?$"), r"\1"),
    (re.compile(r"(/responses)/(input_tokens|compact)/?$"), r"\1"),
    (re.compile(r":countTokens$"), ":generateContent"),
    (re.compile(r"/cachedContents/?$"), "/models/cached:generateContent"),
)
_SIBLINGS = (
    *_WITHOUT_MESSAGE,
    (re.compile(r"(api\.mistral\.ai/v1)/agents/completions$"), r"\1/chat/completions"),
    (re.compile(r"(text\.pollinations\.ai)(/openai)?/?$"), r"\1/v1/chat/completions"),
)
#: Fields of these endpoints that the chat endpoint does not have.
_OWN_FIELDS = ("ttl", "expireTime", "displayName", "agent_id")


def has_no_reply(recording: Recording) -> bool:
    """Tells whether the endpoint takes a chat's body and answers with no message: with a count, a cache or a compaction."""
    address = recording.url.partition("?")[0]
    return any(pattern.search(address) for pattern, _ in _WITHOUT_MESSAGE)


def _with_sibling(recording: Recording) -> Recording:
    """Returns the request as if it had gone to the chat endpoint, because the rules about its contents are the same."""
    address, mark, query = recording.url.partition("?")
    for pattern, chat in _SIBLINGS if recording.method == "POST" else ():
        meant = pattern.sub(chat, address)
        if meant != address and (body := _object(recording.body)):
            inner = body.get("generateContentRequest")
            body = inner if isinstance(inner, dict) else body
            return replace(recording, url=meant + mark + query, body=_as_chat(body, address))
    return recording


def _of_chat(recording: Recording) -> Recording:
    """Returns the request at the chat endpoint if its address is that of Responses, but body and answer are a chat's. The
    address of such a recording was changed by hand.
    """
    address, mark, query = recording.url.partition("?")
    if not address.endswith("/responses") or b'"chat.completion' not in recording.response[:4000]:
        return recording
    body = _object(recording.body)
    if "messages" not in body or "input" in body:
        return recording
    return replace(recording, url=f"{address.removesuffix('/responses')}/chat/completions{mark}{query}")


def _as_chat(body: dict[str, Any], address: str) -> bytes:
    model = str(body.get("agent_id") or body.get("model") or "")
    body = {key: value for key, value in body.items() if key not in _OWN_FIELDS}
    if "agents" in address:
        body["model"] = model
    if address.rstrip("/").endswith("count_tokens"):
        body["max_tokens"] = body.get("max_tokens", 4096)
    if address.endswith("cachedContents"):
        body.setdefault("contents", [{"role": "user", "parts": [{"text": "…"}]}])
        body["model"] = model
        if not body.get("tools"):
            # A cache takes a choice without functions: github.com/0xPlaygrounds/rig/tree/80cdde1366ec2bb2a4e2d813fd1d0983382da278/tests/cassettes/gemini/cached_content_matrix
            body.pop("toolConfig", None)
    return json.dumps(body).encode()


# --- Requests without an address -------------------------------------------------------------------------


_ADDRESSES = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
    "bedrock": "/model/{model}/converse",
    "bedrock-invoke": "/model/anthropic.{model}/invoke",
    "vertex": "/v1/projects/p/locations/global/publishers/anthropic/models/{model}:rawPredict",
    "ollama": "/api/chat",
    "mistral": "/v1/chat/completions",
    "cohere": "/v2/chat",
}
_OPENAI = re.compile(r"(gpt-|chatgpt|codex|o\d\b|computer-use)")
_OF_RESPONSES = {"instructions", "include", "store", "previous_response_id", "text", "reasoning", "tools"}


def addressed(recording: Recording, assumed: Assumed = UNASSUMED) -> Recording:
    """Returns a recording with an address. A recorder may have removed it, or stored only a part of it."""
    has_address = _is_address(recording.url)
    if has_address and not (assumed.wire and readers.detect(recording.url, None, recording.headers) is None):
        return recording
    body = _object(recording.body)
    wire = (assumed.wire or _spoken(recording, body)) if body else ""
    if not wire:
        return recording
    model = body.get("model") or body.get("modelId") or _answering(recording)
    path = _ADDRESSES[wire].format(model=model)
    url = f"https://{_host(assumed, wire, body)}{path}"
    if "modelId" not in body:
        return replace(recording, url=url)
    return replace(recording, url=url, body=json.dumps(_as_sent(body)).encode())


def _as_sent(value: Any) -> Any:
    """Returns the body that the SDK of AWS makes of a command: the model goes into the address, and bytes become base64. A
    recorder of JavaScript writes bytes as an object of numbers, or as a list of them.
    """
    match value:
        case {"type": "Buffer", "data": list(numbers)} if _are_bytes(numbers):
            return b64encode(bytes(numbers)).decode()
        case {"0": int()} if [*value] == [str(at) for at in range(len(value))] and _are_bytes(
            [*value.values()]
        ):
            return b64encode(bytes(value.values())).decode()
        case dict():
            return {name: _as_sent(each) for name, each in value.items() if name != "modelId"}
        case list():
            return [_as_sent(each) for each in value]
    return value


def _are_bytes(numbers: list[Any]) -> bool:
    return all(isinstance(each, int) and 0 <= each < 256 for each in numbers)


def _answering(recording: Recording) -> str:
    """Returns the model that an answer names, `"claude"` if it names none."""
    found = re.search(rb'"model"\s*:\s*"([\w.:@-]+)"', recording.response[:4000])
    return found[1].decode() if found else "claude"


def _is_address(url: str) -> bool:
    """Tells whether a URL names its host. A recorder may have removed other parts of it, like the name of a project."""
    scheme, _, rest = url.partition("://")
    return scheme in {"http", "https"} and "REDACTED" not in rest.partition("/")[0].upper()


def _spoken(recording: Recording, body: dict[str, Any]) -> str:
    """Returns the wire format that a body and its answer tell, `""` if they do not."""
    answer = recording.response[:4000].replace(b" ", b"")
    if isinstance(body.get("contents"), list) and "config" not in body:
        return "gemini"
    if isinstance(body.get("messages"), list) and isinstance(body.get("modelId"), str):
        return "bedrock"
    if (version := str(body.get("anthropic_version"))).startswith(("bedrock-", "vertex-")):
        return "bedrock-invoke" if version.startswith("bedrock-") else "vertex"
    if not isinstance(body.get("model"), str):
        return ""
    if isinstance(body.get("messages"), list):
        of_claude = any(mark in answer for mark in _OF_CLAUDE)
        named = any(name.lower() == "anthropic-version" for name in recording.headers)
        return "anthropic" if of_claude or named else "openai-chat"
    of_responses = (
        b'"object":"response"' in answer or b'"response.created"' in answer or _OF_RESPONSES & body.keys()
    )
    return "openai-responses" if isinstance(body.get("input"), str | list) and of_responses else ""


#: What only answers in Anthropic's format have: a message, a stream, an error.
_OF_CLAUDE = (b'"type":"message"', b'"message_start"', b'{"type":"error"')


def _host(assumed: Assumed, wire: str, body: dict[str, Any]) -> str:
    own = {"openai-responses": "openai", "gemini": "google", "bedrock-invoke": "bedrock"}.get(wire, wire)
    if wire == "openai-chat":
        own = "openai" if _OPENAI.match(str(body.get("model"))) else "compatible"
    return readers.host_of(assumed.provider or own) or "localhost"


def _object(body: bytes | None) -> dict[str, Any]:
    try:
        value = readers.parsed(body or b"", RECORDED_REQUEST.values)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _hosted(wire: str, recording: Recording) -> Request | Skip:
    """Returns the inner request, in the format of the model's maker."""
    body = json.loads(bounded_json(recording.body or b""))
    if not isinstance(body, dict):
        return Skip("the body is not a JSON object")
    found = hosted(wire, recording.url, body)
    if isinstance(found, str):
        return Skip(found)
    stream = "stream" in urlsplit(recording.url).path or body.get("stream") is True
    method, headers, when = recording.method, recording.headers, recording.when
    return Request(found[0], found[1], body, recording.url, method, headers, found[2], stream, when)


def _truly(request: Request) -> Request:
    """Returns the request with the actual provider, because a recorder may have written the name of another server,
    and with the actual item types, because a recorder that masks ids may have masked a part of them.

    OpenAI has no model named `owner/model`. A server that answers for one under OpenAI's host is another server. So is one
    whose host the recorder left out.
    """
    if request.wire == "openai-responses":
        request = replace(request, body=_unmasked(request.body))
    foreign = not request.provider or (
        request.provider == "openai" and re.fullmatch(r"[\w.-]+/[\w.-]+", request.model)
    )
    return replace(request, provider="compatible") if foreign else request


def _unmasked(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the body with the type of outputs. A mask of ids that writes `call_x` also for `call_output` changes it:
    https://github.com/CultivateLabs/raif/blob/fb25951f688c20ed6ee4deb00e9e700444785ecb/vcr_cassettes/native_tool_calling_agent/open_ai_responses.yml
    """
    items = body.get("input")
    if not isinstance(items, list) or not any(map(_is_masked, items)):
        return body
    shown = [{**item, "type": "function_call_output"} if _is_masked(item) else item for item in items]
    return {**body, "input": shown}


def _is_masked(item: Any) -> bool:
    return (
        isinstance(item, dict) and "output" in item and item.get("type") == f"function_{item.get('call_id')}"
    )


# --- Refusals behind a 200 -------------------------------------------------------------------------------


def status_of(recording: Recording) -> int | None:
    """Returns the correct status of the answer: 400 if a request was refused with status 200, and `None` if the recorded
    answer cannot be the API's answer to this request.
    """
    if _answers_another(recording) or _is_no_answer(recording):
        return None
    found = refusal(recording)
    return found.status if found else recording.status


def _answers_another(recording: Recording) -> bool:
    """Tells whether a response of OpenAI repeats a strict function without `strict`. The API repeats it in every answer, so
    this one was written by hand or belongs to another request:
    https://github.com/open-telemetry/opentelemetry-js-contrib/blob/fd4d8ae8ffbbb21616baa036948b2fb70d289892/packages/instrumentation-openai/test/mock-responses/openai-responses-records-function-calls.json
    """
    if b'"strict"' not in (recording.body or b"") or b'"tools"' not in recording.response:
        return False
    answer, sent = _object(recording.response), map(object_of, items_of(_object(recording.body).get("tools")))
    strict = {text_of(tool.get("name")) for tool in sent if tool.get("strict") is True} - {""}
    repeated = map(object_of, items_of(answer.get("tools")) if answer.get("object") == "response" else ())
    return any(text_of(tool.get("name")) in strict and tool.get("strict") is not True for tool in repeated)


#: The host of an API, the end of its address, and a field that each of its answers to a conversation has.
_ALWAYS = {
    "api.openai.com": ("/chat/completions", "choices"),
    "api.anthropic.com": ("/v1/messages", "content"),
}


def _is_no_answer(recording: Recording) -> bool:
    """Tells whether a whole answer does not have what each answer of its API has, so that it was written by hand:
    https://github.com/bespokelabsai/curator/blob/c20426b682c18432ef30bc42918c41303c7136bb/tests/integrations/bedrock/fixtures/basic_multimodal_completion.yaml
    """
    if recording.status is None or not 200 <= recording.status < 300:
        return False
    address = urlsplit(recording.url)
    end, key = _ALWAYS.get(address.hostname or "", ("", ""))
    if (address.hostname or "").startswith("bedrock-runtime.") and b'"anthropic_version"' in (
        recording.body or b""
    ):
        end, key = "/invoke", "content"
    answer = _object(recording.response) if end and address.path.endswith(end) else {}
    return bool(answer) and key not in answer and "error" not in answer


def refusal(recording: Recording) -> ApiError | None:
    """Returns the error of a refused request. Returns `None` if it was accepted, or if there is no answer."""
    status, body = recording.status, recording.response
    if status is None:
        return None
    if status >= 300:
        return read_error(status, body, recording.answered)
    begins = _beginning(body)
    if not isinstance(begins, dict) or not begins.get("error"):
        return None
    error = read_error(400, json.dumps(begins).encode())
    return error if cause_of(error) in VISIBLE else None


REQUEST = 32  # hexadecimal digits


def identity(recording: Recording) -> str:
    """Returns a key that is equal for equal requests that were accepted, or refused with the same text, in any file. Its first
    `REQUEST` digits are those of the request.
    """
    error = refusal(recording)
    words = error.stable if error else ""
    request = sha256(f"{recording.url}\n".encode() + (recording.body or b"")).hexdigest()
    return request[:REQUEST] + sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:REQUEST]


def _beginning(body: bytes) -> Any:
    """Returns the beginning of an answer if it may be an error: a whole JSON body, or the first event or line of a
    stream.
    """
    line = next((line for line in BytesIO(body) if line.startswith((b"data:", b"{"))), b"")
    for text in (line.removeprefix(b"data:"), body):
        if b'"error"' in text[:2000]:
            try:
                return json.loads(text)
            except ValueError:
                continue
    return None
