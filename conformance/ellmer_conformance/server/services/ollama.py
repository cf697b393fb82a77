"""Ollama's version and models.

https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import re
from typing import Any

from ...contract.exchange import Json
from ...contract.rule import Refusal
from ..http.messages import Reply
from .service_request import ServiceRequest

__all__ = ["ROUTES"]


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
            "modified_at": service.moment(),
        }
    )


def _model(name: str, service: ServiceRequest) -> Json:
    there = {"modified_at": service.moment(), "size": 3_295_648_256, "digest": "1343d82ebee3" + "0" * 52}
    return {"name": name, "model": name, **there, "details": _DETAILS}


ROUTES = (
    ("GET", re.compile(r"/api/version$"), version),
    ("GET", re.compile(r"/api/tags$"), tags),
    ("POST", re.compile(r"/api/show$"), show),
)
