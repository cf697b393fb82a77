"""Reads the sources of the shapes: types of the official SDKs, service models, discovery documents, OpenAPI documents."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from nodes import Json, Source
from protobuf import as_read, of_discovery, of_message, of_sdk
from pydantic import TypeAdapter, create_model
from service_model import converse


@cache
def sdk(package: str, module: str, type: str, lenient: str = "", *, open: bool = False) -> Source | None:
    """Returns the types of a Python SDK, or `None` if it is not installed."""
    if not _installed(module):
        return None
    schema = _schema(getattr(import_module(module), type))
    name = f"{package} {version(package)}: {type}"
    return Source(name, schema, schema.get("$defs", {}), bounds=False, lenient=lenient, open=open)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _schema(type: Any) -> Json:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Json = _closed(TypeAdapter(type).json_schema(mode="validation"))
    return found


def _closed(schema: Any) -> Any:
    """Returns a schema without additional fields, which an SDK's models accept in newer answers."""
    if not isinstance(schema, dict):
        return [_closed(each) for each in schema] if isinstance(schema, list) else schema
    made = {key: _closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("additionalProperties") is True:
        del made["additionalProperties"]
    return made


@cache
def cohere_call() -> Source | None:
    """Returns the parameters of a method of Cohere's SDK, which has no type for a request."""
    if not _installed("cohere"):
        return None
    method = import_module("cohere.v2.client").V2Client.chat
    fields: dict[str, Any] = {"stream": (bool, False)}
    for name, parameter in signature(method).parameters.items():
        if name not in {"self", "request_options"}:
            required = parameter.default is parameter.empty
            fields[name] = (parameter.annotation, ... if required else None)
    schema = _schema(create_model("V2ChatRequest", **fields))
    name = f"cohere {version('cohere')}: V2Client.chat"
    return Source(name, schema, schema.get("$defs", {}), bounds=False, lenient="null")


@cache
def service_model() -> Source | None:
    """Returns Bedrock's service model from botocore."""
    if not _installed("botocore"):
        return None
    schema, defs = converse()
    return Source(f"botocore {version('botocore')}: bedrock-runtime, Converse", schema, defs, lenient="null")


@cache
def discovery() -> Source | None:
    """Returns Vertex AI's discovery document from google-api-python-client."""
    if not _installed("googleapiclient"):
        return None
    folder = Path(import_module("googleapiclient").__file__ or "").parent
    document = json.loads((folder / "discovery_cache/documents/aiplatform.v1beta1.json").read_text("utf-8"))
    name = "GoogleCloudAiplatformV1beta1GenerateContentRequest"
    defs = of_discovery(document)
    client = f"google-api-python-client {version('google-api-python-client')}: aiplatform.v1beta1, {name}"
    return Source(client, {"$ref": name}, defs, lenient="proto")


@cache
def protos() -> Source | None:
    """Returns Gemini's protos from google-ai-generativelanguage."""
    if not _installed("google.ai.generativelanguage_v1beta"):
        return None
    package = "google-ai-generativelanguage"
    made = import_module("google.ai.generativelanguage_v1beta").GenerateContentRequest
    root, defs = of_message(made.pb(made()).DESCRIPTOR)
    return Source(f"{package} {version(package)}: GenerateContentRequest", root, defs, lenient="proto")


@cache
def google_genai() -> Source | None:
    """Returns the parts of Gemini's request that google-genai has types for."""
    if not _installed("google.genai"):
        return None
    schema, defs = of_sdk(_schema)
    return Source(
        f"google-genai {version('google-genai')}: types", schema, defs, bounds=False, lenient="proto"
    )


def document(
    folder: Path | None, name: str, root: str, lenient: str = "", *, open: bool = False
) -> Source | None:
    """Returns a prepared document of a folder of schemas, or `None` if there is no such folder."""
    file = folder / f"{name}.json.gz" if folder else None
    if file is None or not file.is_file():
        return None
    found = json.loads(gzip.decompress(file.read_bytes()))
    defs = found.get("defs") or found["components"]["schemas"]
    if lenient == "proto":
        defs = as_read(defs)
    schema = defs[root] if root in defs else _inline(found, root)
    return Source(f"{name}.json.gz: {root}", schema, defs, lenient=lenient, open=open)


def _inline(found: Json, path: str) -> Json:
    """Returns the schema of the request to a path of an OpenAPI document."""
    body: Json = found["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return body


Find = Callable[[Path | None], Iterator[Source | None]]


def _chat(folder: Path | None) -> Iterator[Source | None]:
    module = "openai.types.chat.completion_create_params"
    yield sdk("openai", module, "CompletionCreateParamsNonStreaming")
    yield sdk("openai", module, "CompletionCreateParamsStreaming")
    yield document(folder, "openai", "CreateChatCompletionRequest")


def _responses(folder: Path | None) -> Iterator[Source | None]:
    module = "openai.types.responses.response_create_params"
    yield sdk("openai", module, "ResponseCreateParamsNonStreaming")
    yield sdk("openai", module, "ResponseCreateParamsStreaming")
    yield document(folder, "openai", "CreateResponse")


def _anthropic(folder: Path | None) -> Iterator[Source | None]:
    for module in ("anthropic.types.message_create_params", "anthropic.types.beta.message_create_params"):
        yield sdk("anthropic", module, "MessageCreateParamsNonStreaming")
        yield sdk("anthropic", module, "MessageCreateParamsStreaming")
    yield document(folder, "anthropic", "CreateMessageParams")
    yield document(folder, "anthropic", "BetaCreateMessageParams")


def _gemini(folder: Path | None) -> Iterator[Source | None]:
    yield protos()
    yield google_genai()
    name = "google.ai.generativelanguage.v1beta.GenerateContentRequest"
    yield document(folder, "gemini", name, "proto")


def _vertex(folder: Path | None) -> Iterator[Source | None]:
    yield discovery()
    yield google_genai()
    name = "GoogleCloudAiplatformV1beta1GenerateContentRequest"
    yield document(folder, "vertex", name, "proto")


def _bedrock(folder: Path | None) -> Iterator[Source | None]:
    yield service_model()
    yield document(folder, "bedrock", "ConverseRequest", "null")


def _ollama(folder: Path | None) -> Iterator[Source | None]:
    found = sdk("ollama", "ollama._types", "ChatRequest", "null", open=True)
    yield found and replace(found, schema=_typed(found.schema), defs=_typed(found.defs))
    yield document(folder, "ollama-go", "ChatRequest", "null", open=True)


def _mistral(folder: Path | None) -> Iterator[Source | None]:
    found = sdk("mistralai", "mistralai.client.models.chatcompletionrequest", "ChatCompletionRequest", "null")
    yield found and replace(found, schema=_listed(found.schema), defs=_listed(found.defs))
    yield document(folder, "mistral", "ChatCompletionRequest", "null")


def _cohere(folder: Path | None) -> Iterator[Source | None]:
    found = cohere_call()
    yield found and replace(found, schema=_tagged(_listed(found.schema)), defs=_tagged(_listed(found.defs)))
    yield document(folder, "cohere", "/v2/chat", "null")


def _typed(schema: Any) -> Any:
    """Returns a schema without the mapping that a Python SDK accepts instead of any of its types."""
    if isinstance(schema, list):
        return [_typed(each) for each in schema if each != _MAPPING or len(schema) == 1]
    return {key: _typed(value) for key, value in schema.items()} if isinstance(schema, dict) else schema


def _listed(schema: Any) -> Any:
    """Returns a schema with only the listed values. An SDK accepts others, so that it works when the list grows."""
    if isinstance(schema, list):
        values = any(isinstance(each, dict) and ("enum" in each or "const" in each) for each in schema)
        return [_listed(each) for each in schema if not values or each not in ({}, {"type": "string"})]
    return {key: _listed(value) for key, value in schema.items()} if isinstance(schema, dict) else schema


def _tagged(schema: Any) -> Any:
    """Returns a schema of models that add a missing tag, so their requests always have it."""
    if not isinstance(schema, dict):
        return [_tagged(each) for each in schema] if isinstance(schema, list) else schema
    made = {key: _tagged(value) for key, value in schema.items()}
    if isinstance(fields := schema.get("properties"), dict):
        tags = [name for name, each in fields.items() if isinstance(each, dict) and "const" in each]
        made["required"] = sorted({*schema.get("required", ()), *tags})
    return made


_MAPPING: Json = {"additionalProperties": True, "type": "object"}


def _groq(_: Path | None) -> Iterator[Source | None]:
    yield sdk("groq", "groq.types.chat.completion_create_params", "CompletionCreateParams", "null")


def _cerebras(_: Path | None) -> Iterator[Source | None]:
    module = "cerebras.cloud.sdk.types.chat.completion_create_params"
    yield sdk("cerebras-cloud-sdk", module, "CompletionCreateParams", "null")


#: The module that each package of the sources installs.
PACKAGES: Mapping[str, str] = {
    "anthropic": "anthropic",
    "botocore": "botocore",
    "cerebras-cloud-sdk": "cerebras.cloud.sdk",
    "cohere": "cohere",
    "google-ai-generativelanguage": "google.ai.generativelanguage_v1beta",
    "google-api-python-client": "googleapiclient",
    "google-genai": "google.genai",
    "groq": "groq",
    "mistralai": "mistralai",
    "ollama": "ollama",
    "openai": "openai",
}


def missing() -> list[str]:
    """Returns the packages of the sources that are not installed."""
    return [package for package, module in PACKAGES.items() if not _installed(module)]


SOURCES: Mapping[str, Find] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "vertex": _vertex,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "mistral": _mistral,
    "cohere": _cohere,
    "groq": _groq,
    "cerebras": _cerebras,
}
