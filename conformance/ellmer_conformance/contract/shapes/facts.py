"""What is known of the object types of an API: which faults it refuses, and which it accepts, each with its evidence.

A shape says what the official types exclude. That is no evidence of a refusal. A fact says what the API does with a
fault at a type, wherever the type is used. It is refused (on record at that type, or at a type under the same validator)
or accepted (on record at that field). A fault without a fact is unknown: a preview reports it, and nothing refuses it.
The facts are data: `known_faults/<shape>.toml`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from ..request import Request
from ..scope import Scope
from .checker import Fault, FaultKind, shape

#: Faults that no fact about another kind decides: a null for an optional field, and an empty text or list.
NULL, EMPTY = "null", "empty"


@dataclass(frozen=True)
class Fact:
    """What an API does with one kind of fault at some object types.

    Args:
        refused: Whether it refuses the request; otherwise it accepts the fault.
        fault: A kind of fault (`FaultKind`), `null` (for an optional field) or `empty`.
        types: Patterns of the names of the object types.
        fields: Patterns of the fields.
        apart: Names of types that it is not about, although a pattern matches.
        values: The JSON types or values that it is about; empty for all.
        providers: The providers that it is about; empty for all with this shape.
        models: The models that it is about, as `Scope` has them; empty for all.
        versions: The API versions that it is about; empty for all.
        betas: The beta features that it is about; empty for all requests.
        since: The first day on which it holds; `None` for always.
        until: The first day on which it no longer holds; `None` if it still does.
        evidence: Links to the refusals or the accepted requests.
        because: What the evidence shows, if the links do not say it.
    """

    refused: bool
    fault: str
    types: tuple[str, ...] = ("*",)
    fields: tuple[str, ...] = ("*",)
    apart: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    betas: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    evidence: tuple[str, ...] = ()
    because: str = ""

    @cached_property
    def scope(self) -> Scope:
        """Where and when the fact holds."""
        return Scope(self.models, self.providers, self.versions, self.betas, self.since, self.until)

    def decides(self, fault: Fault, provider: str, request: Request | None = None) -> bool:
        """Tells whether this fact decides a fault at a provider, in a request if there is one."""
        return (
            self.fault == aspect(fault)
            and (not self.providers or provider in self.providers)
            and _any(fault.owner, self.types)
            and not _any(fault.owner, self.apart)
            and _any(_field(fault), self.fields)
            and (not self.values or _value(fault) in self.values)
            and (request is None or self.scope.holds(request))
        )

    @property
    def sentence(self) -> str:
        """The fact in words, with its evidence."""
        types = "every type" if self.types == ("*",) else ", ".join(self.types)
        where = types if self.fields == ("*",) else f"{', '.join(self.fields)} of {types}"
        more = f" (not {', '.join(self.apart)})" if self.apart else ""
        of = f" ({', '.join(self.values)})" if self.values else ""
        at = f" at {', '.join(self.providers)}" if self.providers else ""
        verb = "refused" if self.refused else "accepted"
        shown = "; ".join(part for part in (self.because, " ".join(self.evidence)) if part)
        return f"{self.fault}{of} {verb} in {where}{more}{at}: {shown}"


def aspect(fault: Fault) -> str:
    """Returns the kind of a fault as the facts name it."""
    if fault.kind is FaultKind.WRONG_TYPE and fault.value is None and not fault.required:
        return NULL
    if fault.kind is FaultKind.OUT_OF_RANGE and fault.bound in {"minItems", "minLength"} and not fault.value:
        return EMPTY
    return fault.kind


def deciding(name: str, fault: Fault, provider: str, request: Request | None = None) -> Fact | None:
    """Returns the fact that decides a fault in a shape, or `None` if nothing is known. What is accepted on record at a
    field comes before what is refused at its type. Without a request, every model, version and day counts.
    """
    return next((fact for fact in facts(name) if fact.decides(fault, provider, request)), None)


@cache
def facts(name: str) -> tuple[Fact, ...]:
    """Returns the facts of a shape: the accepted faults, then the refused ones."""
    file = files("ellmer_conformance.contract.shapes") / "known_faults" / f"{name}.toml"
    told = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    return (*_read(told.get("accepted", ()), False), *_read(told.get("refused", ()), True))


@cache
def root_fields(name: str) -> frozenset[str]:
    """Returns the fields of a request: those of its type, and those that accepted requests have beside them."""
    root = shape(name)["root"]["object"]
    more = (
        fact.fields
        for fact in facts(name)
        if not fact.refused and fact.fault == FaultKind.UNKNOWN_FIELD and root["type"] in fact.types
    )
    return frozenset((*root["fields"], *(field for fields in more for field in fields)))


def _read(entries: Sequence[Mapping[str, Any]], refused: bool) -> list[Fact]:
    return [Fact(refused=refused, **{key: _tuple(value) for key, value in each.items()}) for each in entries]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _field(fault: Fault) -> str:
    """Returns the field, and the tag that is missing in its value as `tools/type`."""
    tag = fault.kind is FaultKind.MISSING_FIELD and fault.key != fault.field
    return f"{fault.field}/{fault.key}" if tag else fault.field


def _value(fault: Fault) -> str:
    """Returns the JSON type of a value of a wrong type, and the value or the tag otherwise."""
    if fault.kind is FaultKind.WRONG_TYPE:
        return _NAMES.get(type(fault.value), "object")
    return str(fault.value[fault.key] if fault.kind is FaultKind.WRONG_VARIANT else fault.value)


_NAMES = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array"}


# --- Places of a request, by what judges their type ----------------------------------------------------

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


def shape_of(wire: str, provider: str) -> str | None:
    """Returns the name of the shape by which a provider judges requests; `None` if its validator is not known."""
    return _SHAPES.get((wire, provider))


_OF_TYPE = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


def judged_places(wire: str, provider: str, body: Any) -> Counter[str]:
    """Returns how many places of a request are judged by evidence, by a preview, or not at all.

    A place is a field or an element, whose type is judged, or an object, whose further fields are judged.

    Args:
        wire: Name of the wire format.
        provider: Name of the provider.
        body: The JSON body.
    """
    found: Counter[str] = Counter()
    name = shape_of(wire, provider)
    if name is None:
        found[NOTHING] = _size(body)
        return found
    tree = shape(name) if name not in _KNOWN else _KNOWN[name]
    _Walk(name, provider, _KNOWN.setdefault(name, tree), found).value(body, tree["root"], "", "")
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
            self._count(FaultKind.WRONG_TYPE, owner, field, described=spec is not None)
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
        owner = spec.get("type") or "*"
        if "others" not in spec:
            self._count(FaultKind.UNKNOWN_FIELD, owner, "", described="fields" in spec)
        for key, each in value.items():
            self.value(each, spec.get("fields", {}).get(key), owner, key)
        return None

    def _count(self, kind: FaultKind, owner: str, field: str, *, described: bool) -> None:
        self._found[_verdict(self._name, self._provider, kind, owner, field) if described else NOTHING] += 1


@cache
def _verdict(name: str, provider: str, kind: FaultKind, owner: str, field: str) -> str:
    """Returns what judges a value of another type, or one more field of an object, at a place of the types."""
    fact = deciding(name, Fault(kind, object(), owner=owner, field=field, required=True), provider)
    return EVIDENCE if fact else PREVIEW


def _size(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(1 + _size(each) for each in inner)
