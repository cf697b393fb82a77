"""The endpoints that the installed SDKs of providers call, read from their sources.

Administration, agents that a provider hosts, fine-tuning, voices and evaluations are left out: they are other products.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import botocore.session  # type: ignore[import-untyped]  # botocore has no types

_ID = re.compile(r"\{+[^}]+\}+")


class Endpoint(NamedTuple):
    """A method and a path, with `{id}` for each id."""

    provider: str
    method: str
    path: str


_OPENAI = (
    "chat|responses|conversations|embeddings|moderations|models|files|batches|images|completions|uploads|vector_stores"
    "|containers|videos|audio/(?:speech|transcriptions|translations)"
)
_ANTHROPIC = "v1/(?:messages|models|files|complete|skills)"
_MISTRAL = "v1/(?:models|chat|fim|embeddings|moderations|classifications|ocr|files|batch|audio/(?:speech|transcriptions))"
_GEMINI = {  # what a name is, in each module
    "caches.py": "cachedContents/{id}",
    "documents.py": "fileSearchStores/{id}/documents/{id}",
    "file_search_stores.py": "fileSearchStores/{id}",
    "models.py": "models/{id}",
    "batches.py": "models/{id}",
}


def endpoints() -> list[Endpoint]:
    """Returns the endpoints of all SDKs, each once."""
    found = {
        *_stainless("openai", _OPENAI),
        *_stainless("anthropic", _ANTHROPIC),
        *_gemini(),
        *_mistral(),
        *_cohere(),
        *_ollama(),
        *_bedrock(),
    }
    return sorted(found)


def _sources(package: str, folder: str = "", name: str = "*.py") -> Iterator[Path]:
    spec = find_spec(package)
    assert spec
    assert spec.submodule_search_locations
    for place in spec.submodule_search_locations:
        yield from sorted((Path(place) / folder).rglob(name))


def _stainless(package: str, families: str) -> Iterator[Endpoint]:
    """Yields the endpoints of an SDK that Stainless generated."""
    call = re.compile(
        r'self\._(get|post|delete|patch|put|get_api_list)\(\s*(?:path_template\(\s*)?f?"/([^"?]+)', re.DOTALL
    )
    for source in _sources(package, "resources"):
        for verb, path in call.findall(source.read_text("utf-8")):
            if re.match(rf"(?:{families})(?:/|$)", path):
                method = "GET" if verb == "get_api_list" else verb.upper()
                yield Endpoint(package, method, f"/{_ID.sub('{id}', path)}")


def _gemini() -> Iterator[Endpoint]:
    """Yields the endpoints of Gemini's own API; those of Vertex have other names."""
    call = re.compile(
        r"path = '([^']+)'\.format_map.*?self\._api_client\.request(?:_streamed)?\(\s*'(\w+)'", re.DOTALL
    )
    vertex = "batchPredictionJobs|tuningJobs|fetchPredict|computeTokens|endpoints|operations|register"
    for source in _sources("google.genai"):
        for path, verb in call.findall(source.read_text("utf-8")):
            if not re.search(vertex, path) and source.name in {*_GEMINI, "files.py"}:
                named = (
                    path.replace("{{api_version}}", "v1beta")
                    .replace("{models_url}", "models")
                    .partition("?")[0]
                )
                named = re.sub(
                    r"\{(name|model|parent|file_search_store_name)\}", _GEMINI.get(source.name, "{id}"), named
                )
                version = "" if named.startswith("upload/") else "/v1beta"
                yield Endpoint("gemini", verb.upper(), f"{version}/{_ID.sub('{id}', named)}")
    for method, path in (("GET", ""), ("GET", "/{id}"), ("POST", "/{id}:cancel"), ("DELETE", "/{id}")):
        yield Endpoint("gemini", method, f"/v1beta/batches{path}")
    yield Endpoint("gemini", "POST", "/v1beta/models/{id}:batchGenerateContent")
    for method, path in (("POST", ""), ("GET", "/{id}"), ("DELETE", "/{id}"), ("POST", "/{id}/cancel")):
        yield Endpoint("gemini", method, f"/v1beta/interactions{path}")


def _mistral() -> Iterator[Endpoint]:
    call = re.compile(r'method="(\w+)",\s*path="/([^"#]+)"', re.DOTALL)
    for source in _sources("mistralai"):
        for method, path in call.findall(source.read_text("utf-8")):
            if re.match(rf"{_MISTRAL}(?:/|$)", path):
                yield Endpoint("mistral", method, f"/{_ID.sub('{id}', path)}")


def _cohere() -> Iterator[Endpoint]:
    call = re.compile(r'httpx_client\.(?:request|stream)\(\s*f?"([^"]+)".*?method="(\w+)"', re.DOTALL)
    for source in _sources("cohere", name="raw_*client.py"):
        for path, method in call.findall(source.read_text("utf-8")):
            yield Endpoint("cohere", method, f"/{_ID.sub('{id}', path)}")


def _ollama() -> Iterator[Endpoint]:
    call = re.compile(r"'(POST|GET|DELETE|HEAD)',\s*f?'(/api/[^']+)'")
    for source in _sources("ollama", name="_client.py"):
        for method, path in call.findall(source.read_text("utf-8")):
            yield Endpoint("ollama", method, _ID.sub("{id}", path))


def _bedrock() -> Iterator[Endpoint]:
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    for name in model.operation_names:
        http = model.operation_model(name).http
        yield Endpoint("bedrock", http["method"], _ID.sub("{id}", http["requestUri"]))
