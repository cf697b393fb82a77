"""Counts the places of a request by what judges their type: evidence, a preview, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from . import shape
from .facts import deciding
from .fault import Fault, FaultKind

__all__ = ["EVIDENCE", "NOTHING", "PREVIEW", "judged_places"]

EVIDENCE, PREVIEW, NOTHING = "by evidence", "by preview", "not at all"
#: The shapes of providers that have a validator of their own.
_SHAPES: Mapping[tuple[str, str], str] = {
    ("openai-chat", "openai"): "openai-chat",
    ("openai-chat", "azure"): "openai-chat",
    ("openai-chat", "groq"): "groq",
    ("openai-chat", "cerebras"): "cerebras",
    ("openai-responses", "openai"): "openai-responses",
    ("openai-responses", "azure"): "openai-responses",
    ("anthropic", "anthropic"): "anthropic",
    ("gemini", "google"): "gemini",
    ("gemini", "vertex"): "vertex",
    ("bedrock", "bedrock"): "bedrock",
    ("cohere", "cohere"): "cohere",
    ("mistral", "mistral"): "mistral",
    ("ollama", "ollama"): "ollama",
}
_OF_TYPE = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


def judged_places(wire: str, provider: str, body: Any) -> Counter[str]:
    """Returns how many fields and elements of a request are judged by evidence, by a preview, or not at all.

    Args:
        wire: Name of the wire format.
        provider: Name of the provider.
        body: The JSON body.
    """
    found: Counter[str] = Counter()
    name = _SHAPES.get((wire, provider))
    if name is None:
        found[NOTHING] = _size(body)
        return found
    known = shape(name) if name not in _KNOWN else _KNOWN[name]
    _Walk(name, provider, _KNOWN.setdefault(name, known), found).value(body, known["root"], "", "")
    return found


_KNOWN: dict[str, dict[str, Any]] = {}


class _Walk:
    """Walks through a body and its shape."""

    def __init__(self, name: str, provider: str, shape: Mapping[str, Any], found: Counter[str]) -> None:
        self._name, self._provider, self._nodes, self._found = name, provider, shape["nodes"], found

    def value(self, value: Any, node: Any, owner: str, field: str) -> None:
        """Counts a value and what is inside. `owner` and `field` are its place in the types."""
        node = self._nodes[node["ref"]] if node and "ref" in node else node
        spec = (node or {}).get(_OF_TYPE.get(type(value), "null"))
        if owner:
            self._found[
                _verdict(self._name, self._provider, owner, field) if spec is not None else NOTHING
            ] += 1
        if isinstance(value, list):
            for each in value:
                self.value(each, (spec or {}).get("items"), owner, field)
        elif isinstance(value, dict):
            self._object(value, spec or {})

    def _object(self, value: Mapping[str, Any], spec: Any) -> None:
        spec = self._nodes[spec["ref"]] if "ref" in spec else spec
        if "tag" in spec:
            tag = value.get(spec["tag"])
            inner = spec["variants"].get(tag) if isinstance(tag, str) else spec.get("untagged")
            return self._object(value, inner or {})
        for key, each in value.items():
            self.value(each, spec.get("fields", {}).get(key), spec.get("type") or "*", key)
        return None


@cache
def _verdict(name: str, provider: str, owner: str, field: str) -> str:
    """Returns what judges a value of another type at a place of the types."""
    fault = Fault(FaultKind.WRONG_TYPE, object(), owner=owner, field=field, required=True)
    fact = deciding(name, fault, provider)
    return EVIDENCE if fact else PREVIEW


def _size(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(1 + _size(each) for each in inner)
