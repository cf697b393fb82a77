"""Ollama's version and models.

https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import re
from typing import Any

from ...contract.exchange import Json
from ...contract.rule import Refusal
from ..http.reply import Reply
from .service_request import Visit

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


def version(visit: Visit) -> Reply:
    """What runs."""
    return visit.reply({"version": "0.12.6"})


def tags(visit: Visit) -> Reply:
    """What is there."""
    return visit.reply({"models": [_model(name, visit) for name in _MODELS]})


def show(visit: Visit) -> Reply:
    """One of them, or any other."""
    name: Any = visit.body.get("model") or visit.body.get("name") or ""
    if not name or visit.dialect.no_model(str(name)):
        return visit.refuse(Refusal(f"model '{name}' not found", 404))
    return visit.reply(
        {
            "modelfile": f"FROM {name}\n",
            "parameters": "temperature 1",
            "template": "{{ .Prompt }}",
            "details": _DETAILS,
            "model_info": {"general.architecture": "qwen3vl", "qwen3vl.context_length": 262_144},
            "capabilities": ["completion", "vision", "tools", "thinking"],
            "modified_at": visit.moment(),
        }
    )


def _model(name: str, visit: Visit) -> Json:
    there = {"modified_at": visit.moment(), "size": 3_295_648_256, "digest": "1343d82ebee3" + "0" * 52}
    return {"name": name, "model": name, **there, "details": _DETAILS}


ROUTES = (
    ("GET", re.compile(r"/api/version$"), version),
    ("GET", re.compile(r"/api/tags$"), tags),
    ("POST", re.compile(r"/api/show$"), show),
)
