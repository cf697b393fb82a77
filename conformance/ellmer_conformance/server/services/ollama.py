"""Ollama's version and models.

https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...contract.rules.ollama.models import THOUGHTLESS
from ...contract.scope import Scope
from ...scenarios.script import Say
from ..chat_apis.base import compact, utf8, words
from ..http.messages import Reply, plain
from .service_request import ServiceRequest
from .vectors import texts_of, token_count, vector

_MODELS = ("qwen3-vl:4b", "gpt-oss:20b", "llama3.2:latest")
_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "qwen3vl",
    "families": ["qwen3vl"],
    "parameter_size": "4.4B",
    "quantization_level": "Q4_K_M",
}


def version(service: ServiceRequest) -> Reply:
    """Returns the server's version."""
    return service.reply({"version": "0.12.6"})


def tags(service: ServiceRequest) -> Reply:
    """Returns the installed models."""
    return service.reply({"models": [_model(name, service) for name in _MODELS]})


def show(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name: Any = service.body.get("model") or service.body.get("name") or ""
    if not name or service.api.no_model(str(name)):
        return service.refuse(Refusal(f"model '{name}' not found", 404))
    return service.reply(
        {
            "modelfile": f"FROM {name}\n",
            "parameters": "temperature 1",
            "template": "{{ .Prompt }}",
            "details": _DETAILS,
            "model_info": {"general.architecture": "qwen3vl", "qwen3vl.context_length": 262_144},
            "capabilities": ["completion", "vision", "tools", "thinking"],
            "thinking": _thinking(str(name)),
            "modified_at": service.moment(),
        }
    )


def _thinking(name: str) -> Json:
    """Returns the values of `think` that a model has, and the one that is used without it.

    https://docs.ollama.com/capabilities/thinking
    """
    if "gpt-oss" in name:
        return {"values": ["low", "medium", "high"], "default": "medium"}
    if Scope(models=THOUGHTLESS).about("ollama", name):
        return {"values": [False], "default": False}
    return {"values": [True, False], "default": True}


def running(service: ServiceRequest) -> Reply:
    """Returns the loaded models."""
    loaded = {"expires_at": service.moment(1), "size_vram": 3_295_648_256, "context_length": 4096}
    return service.reply({"models": [_model(_MODELS[0], service) | loaded]})


_SIZE = 768  # of the vectors


def embed(service: ServiceRequest) -> Reply:
    """Returns a vector for each text."""
    body, texts = service.body, texts_of(service.body.get("input"))
    name = str(body.get("model") or "")
    if not name or service.api.no_model(name):
        return service.refuse(Refusal(f"model '{name}' not found", 404))
    asked = body.get("dimensions")
    size = asked if isinstance(asked, int) else _SIZE
    vectors = [vector(text, size) for text in texts or []]
    counts = {
        "total_duration": 14_143_917,
        "load_duration": 1_019_500,
        "prompt_eval_count": token_count(texts or []),
    }
    return service.reply({"model": name, "embeddings": vectors, **counts})


def embedding(service: ServiceRequest) -> Reply:
    """Returns the vector of a prompt, in the older form."""
    name = str(service.body.get("model") or "")
    if not name or service.api.no_model(name):
        return service.refuse(Refusal(f"model '{name}' not found", 404))
    return service.reply({"embedding": vector(str(service.body.get("prompt") or ""), _SIZE)})


def generate(service: ServiceRequest) -> Reply:
    """Answers a prompt as a chat with one message, in lines unless the request says otherwise."""
    body = service.body
    system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    images = {"images": body["images"]} if body.get("images") else {}
    message = {"role": "user", "content": body.get("prompt") or "", **images}
    more: Json = {key: body[key] for key in ("format", "options", "think", "keep_alive") if key in body}
    chat: Json = {"model": body.get("model"), "messages": [*system, message], "stream": False, **more}
    found = service.ask("generate", "/api/chat", chat)
    if found.status >= 400:
        return service.refuse(Refusal(str(found.body.get("error")), found.status))
    answer = {key: value for key, value in found.body.items() if key != "message"}
    spoken = found.body["message"]
    thinking = {"thinking": spoken["thinking"]} if "thinking" in spoken else {}
    if body.get("stream") is False:
        return service.reply({**answer, "response": spoken["content"], **thinking, "context": []})
    head = {key: answer[key] for key in ("model", "created_at")}
    pieces = [{**head, "response": piece, "done": False} for piece in words(Say(spoken["content"]))]
    lines = [utf8(f"{compact(line)}\n") for line in [*pieces, {**answer, "response": "", "context": []}]]
    return Reply(200, (("content-type", "application/x-ndjson"),), lines)


def changed(service: ServiceRequest) -> Reply:
    """Says that a model was copied or deleted. The list of models stays the same."""
    name = str(service.body.get("source") or service.body.get("model") or service.body.get("name") or "")
    if not name or service.api.no_model(name):
        return service.refuse(Refusal(f"model '{name}' not found", 404))
    return plain(200, (("content-type", "text/plain"),), b"")


def loaded(service: ServiceRequest) -> Reply:
    """Says that a model was pulled, pushed or created, in one object or in lines."""
    name = str(service.body.get("model") or service.body.get("name") or "")
    if not name or service.api.no_model(name):
        return service.refuse(Refusal("pull model manifest: file does not exist", 500))
    if service.body.get("stream") is False:
        return service.reply({"status": "success"})
    digest = f"sha256:1343d82ebee3{'0' * 52}"
    steps: list[Json] = [
        {"status": "pulling manifest"},
        {"status": "verifying sha256 digest", "digest": digest},
    ]
    lines = [utf8(f"{compact(step)}\n") for step in [*steps, {"status": "success"}]]
    return Reply(200, (("content-type", "application/x-ndjson"),), lines)


def blob(service: ServiceRequest) -> Reply:
    """Takes a blob, or tells whether it is there."""
    digest, shelf = service.names["id"], service.stored.kept.setdefault("blob", {})
    if service.http.method == "HEAD":
        return plain(200 if digest in shelf else 404, (("content-type", "text/plain"),), b"")
    if digest.removeprefix("sha256:") != sha256(service.http.body).hexdigest():
        return service.refuse(Refusal("digest mismatch", 400))
    shelf[digest] = {}
    return plain(201, (("content-type", "text/plain"),), b"")


def _model(name: str, service: ServiceRequest) -> Json:
    there = {"modified_at": service.moment(), "size": 3_295_648_256, "digest": "1343d82ebee3" + "0" * 52}
    return {"name": name, "model": name, **there, "details": _DETAILS}


ROUTES = (
    ("GET", re.compile(r"/api/version$"), version),
    ("GET", re.compile(r"/api/tags$"), tags),
    ("POST", re.compile(r"/api/show$"), show),
    ("GET", re.compile(r"/api/ps$"), running),
    ("POST", re.compile(r"/api/embed$"), embed),
    ("POST", re.compile(r"/api/embeddings$"), embedding),
    ("POST", re.compile(r"/api/generate$"), generate),
    ("POST", re.compile(r"/api/copy$"), changed),
    ("DELETE", re.compile(r"/api/delete$"), changed),
    *(("POST", re.compile(rf"/api/{verb}$"), loaded) for verb in ("create", "pull", "push")),
    *((method, re.compile(r"/api/blobs/(?P<id>[^/]+)$"), blob) for method in ("HEAD", "POST")),
)
NOT_SERVED = ("/v1/systemone",)
