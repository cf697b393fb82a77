"""Readers convert the requests of each wire format to neutral `Item`s. There is one module for each wire format.

Each module has `WIRE` (its name), `PROVIDER` (the service whose format it is), `paths` (patterns of its URL paths) and
`read(request) -> list[Item]`, in the order in which the provider reads. A malformed body is read as far as possible,
because the rules judge it. `detect()` finds the wire and the provider of a recorded URL, and `request()` makes the
value that rules judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic_core import from_json

from ellmer_core.base.budget import SERVER, has_more_values, remembered

from ..observed.exchange import Item, Request
from . import anthropic, bedrock, cohere, gemini, gen_ai_span, mistral, ollama, openai_chat, openai_responses
from .json_access import bounded, once_per_request

__all__ = [
    "MODULES",
    "detect",
    "host_of",
    "is_beside",
    "parsed",
    "provider_of",
    "read",
    "request",
    "request_of",
]

MODULES: Mapping[str, ModuleType] = {
    module.WIRE: module
    for module in (
        *(openai_chat, openai_responses, anthropic, gemini, bedrock, ollama, mistral, cohere),
        gen_ai_span,
    )
}

# Formats that are recognised, so that a report can name what it did not judge.
_UNREAD = {
    "bedrock-invoke": r"/model/[^/]+/(invoke|invoke-with-response-stream)$",
    "cloudflare-run": r"/ai/run/@[^?]+$",
    "gemini-interactions": r"/v1(beta|alpha)?/interactions/?$",
    "ollama-generate": r"/api/generate/?$",
    "cohere-v1": r"(?<!/api)/v1/chat/?$",  # behind `/api`, it is LM Studio's own
}
#: Paths of a provider's own that have a format of another one.
_OWN_PATHS = {
    ("perplexity", "/v1/agent"): "openai-responses",
    ("perplexity", "/v1/sonar"): "openai-chat",
}
#: Paths of other services: lists of models, token counts, files, batches.
_BESIDE = re.compile(
    r"/(models|files|batches|uploads)(/[^/:]+)*$|/(count_tokens|input_tokens|count-tokens|tokenize)$"
    r"|:(countTokens|batchGenerateContent)$|/api/(show|pull)$"
)
_CASE = re.compile(r"^/c/[^/]+/[^/]+(?=/)")  # the strict server's base URL of a case
_MODEL = re.compile(r"/(?:models|tunedModels|deployments)/(?P<model>[^/:]+)")
_BEDROCK_MODEL = re.compile(r"/model/(?P<model>[^/]+)/")  # with its version behind a colon
_STREAMS = re.compile(r":stream|-stream$")
_LOCAL = {"localhost", "127.0.0.1", "::1", "testserver", ""}


def detect(url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """Returns the wire format and the provider of a request, or `None` if it is not a chat request of a known format.

    The host names the provider. On the strict server, the `Host` header does if it names a service; otherwise it is
    the format's own provider.
    """
    if body is not None and not isinstance(body, dict):
        return None
    return _detected(url, _header(headers or {}, "host") or "")


@remembered(1024)
def _detected(url: str, host: str) -> tuple[str, str] | None:
    parts = urlsplit(url)
    provider = provider_of(parts.netloc.rpartition("@")[2])
    wire = _OWN_PATHS.get((provider, parts.path.rstrip("/"))) or _wire_of(own_path(url))
    if wire is None:
        return None
    if _CASE.match(parts.path) and (parts.hostname or "") in _LOCAL:
        named = host.partition(":")[0]
        own = MODULES[wire].PROVIDER if wire in MODULES else wire
        provider = own if named in _LOCAL else provider_of(named)
    if wire == "gemini" and re.search("/publishers/google/|/endpoints/", parts.path):
        provider = "vertex"
    if wire == "ollama":
        provider = wire  # the host does not matter
    return _spoken(wire, provider), provider


def own_path(url: str) -> str:
    """Returns the path without the strict server's base URL of a case.

    Examples:
        >>> own_path("http://127.0.0.1:8765/c/one_tool/1@google/v1/models/gemini-3.5-flash:generateContent")
        '/v1/models/gemini-3.5-flash:generateContent'
    """
    return _CASE.sub("", urlsplit(url).path)


def is_beside(method: str, url: str) -> bool:
    """Tells whether a valid request does not ask a model for an answer: a list of models, a token count, …"""
    return method != "POST" or bool(_BESIDE.search(urlsplit(url).path))


def request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    provider: str | None = None,
    *,
    when: date | None = None,
    most: int = SERVER.values,
) -> Request:
    """Returns the request to a URL, with at most so many values in its body.

    Raises ValueError, with a sentence, if the URL is not a chat endpoint of a known wire format or the body is not a
    JSON object.
    """
    return request_of(method, url, headers, parsed(body, most), provider, when=when)


def request_of(
    method: str,
    url: str,
    headers: Mapping[str, str],
    value: Any,
    provider: str | None = None,
    *,
    when: date | None = None,
) -> Request:
    """Returns the same of a body that is parsed."""
    if not isinstance(value, dict):
        raise ValueError(f"the body of {method} {url} is JSON but not an object")  # noqa: TRY004  # the value is wrong, not a type
    place = _endpoint(url, _header(headers, "host") or "", provider)
    if place is None:
        formats = ", ".join(wire for wire, module in MODULES.items() if module.paths)
        raise ValueError(f"{method} {url} is not a chat endpoint of a known wire format ({formats})")
    model = value.get("model")
    named = model.removeprefix("models/") if isinstance(model, str) and model else place.model
    stream = place.streams or value.get("stream", place.streams_by_default) is True
    return Request(place.wire, place.provider, value, url, method, headers, named, stream, when)


@once_per_request
def read(request: Request) -> list[Item]:
    """Returns the content of a request, in its wire format's order."""
    found: list[Item] = MODULES[request.wire].read(request)
    return found


class _Endpoint(NamedTuple):
    """The requests that a URL accepts."""

    wire: str
    provider: str
    model: str
    streams: bool
    streams_by_default: bool


@remembered(1024)
def _endpoint(url: str, host: str, provider: str | None) -> _Endpoint | None:
    found = _detected(url, host)
    if found is None:
        return None
    wire, served_by = found[0], provider or found[1]
    streams = bool(_STREAMS.search(urlsplit(url).path))
    return _Endpoint(_spoken(wire, served_by), served_by, _model(url), streams, wire == "ollama")


@remembered(1024)
def _wire_of(path: str) -> str | None:
    for wire, module in MODULES.items():
        if any(re.search(pattern, path) for pattern in module.paths):
            return wire
    return next((wire for wire, pattern in _UNREAD.items() if re.search(pattern, path)), None)


def _spoken(wire: str, provider: str) -> str:
    """Returns the wire format of a path at a provider. Mistral has its own format at OpenAI's path."""
    return "mistral" if (wire, provider) == ("openai-chat", "mistral") else wire


def parsed(body: bytes, most: int = SERVER.values) -> Any:
    """Returns JSON with limited depth, and with `most` values. Text that pydantic refuses (lone surrogates, more than 200
    levels) is parsed again.
    """
    if has_more_values(body, most):
        raise ValueError(f"it has more than {most:,} values")
    try:
        return from_json(body)
    except ValueError:
        return bounded(json.loads(body))


def _model(url: str) -> str:
    """Returns the model that the URL names (Gemini, Bedrock, an Azure deployment)."""
    path = urlsplit(url).path
    match = _BEDROCK_MODEL.search(path) or _MODEL.search(unquote(path))
    return unquote(match["model"]) if match else ""


def _header(headers: Mapping[str, str], name: str) -> str | None:
    return headers.get(name) or next((value for key, value in headers.items() if key.lower() == name), None)


_HOSTS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure",
    "openai.azure.us": "azure",
    "cognitiveservices.azure.com": "azure",
    "services.ai.azure.com": "azure-foundry",
    "models.inference.ai.azure.com": "github",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "aiplatform.googleapis.com": "vertex",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
    "api.x.ai": "xai",
    "mistral.ai": "mistral",
    "ollama.com": "ollama",
    "api.together.xyz": "together",
    "api.together.ai": "together",
    "api.perplexity.ai": "perplexity",
    "huggingface.co": "huggingface",
    "api.cerebras.ai": "cerebras",
    "inference.baseten.co": "baseten",
    "api.doubleword.ai": "doubleword",
    "api.fireworks.ai": "fireworks",
    "api.cohere.com": "cohere",
    "api.cohere.ai": "cohere",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.xiaomimimo.com": "xiaomi",
    "aliyuncs.com": "qwen",
    "api.z.ai": "zai",
    "api.cloudflare.com": "cloudflare",
    "api.portkey.ai": "portkey",
    "cloud.databricks.com": "databricks",
    "azuredatabricks.net": "databricks",
    "snowflakecomputing.com": "snowflake",
    "models.github.ai": "github",
    "githubcopilot.com": "copilot",
    "chatgpt.com": "codex",
    "amazonaws.com": "bedrock",
    "amazonaws.com.cn": "bedrock",
    "api.aws": "bedrock",
    "ml.cloud.ibm.com": "watsonx",
    "gcp.databricks.com": "databricks",
    "integrate.api.nvidia.com": "nvidia",
    "api.sambanova.ai": "sambanova",
    "api.minimax.io": "minimax",
    "api.minimaxi.com": "minimax",
    "api.deepinfra.com": "deepinfra",
    "api.novita.ai": "novita",
    "api.siliconflow.cn": "siliconflow",
    "api.siliconflow.com": "siliconflow",
    "volces.com": "volcengine",
    "open.bigmodel.cn": "zhipu",
    "gigachat.devices.sberbank.ru": "gigachat",
    "nebius.com": "nebius",
    "api.ai21.com": "ai21",
    "api.venice.ai": "venice",
    "ai-gateway.vercel.sh": "vercel",
    "zenmux.ai": "zenmux",
    "api.llama.com": "meta",
    "api.inceptionlabs.ai": "inception",
    "inference.do-ai.run": "digitalocean",
    "opencode.ai": "opencode",
}


_NAMED = {"gemini": "google", "aws_bedrock": "bedrock", "mistralai": "mistral", "googleai": "google"}


def host_of(provider: str) -> str:
    """Returns a host of a provider, or `""` for an unknown one."""
    name = _NAMED.get(provider, provider)
    return next((host for host, owner in _HOSTS.items() if owner == name), "")


LOCAL_SERVERS = ("llamacpp", "vllm")  # are named by their host names


@remembered(1024)
def provider_of(host: str) -> str:
    """Returns `groq` for `api.groq.com`, and the host itself if it is unknown."""
    name, _, port = host.lower().partition(":")
    for domain, provider in _HOSTS.items():
        if name == domain or name.endswith((f".{domain}", f"-{domain}")):
            return provider
    for own in LOCAL_SERVERS:
        if own in name:
            return own
    return "ollama" if port == "11434" else name
