"""OpenAPI 3.1 documents of the chat endpoints, one for each wire format and provider, with the error answers.

A schema refuses only what the API is on record to refuse at every model, version and day. What only the official types
exclude is described, and accepted. A request that fits the schema can still break a rule, because most rules are about more
than one value; the errors of these rules are the examples of the answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..contract import rules
from ..contract.readers import host_of
from ..contract.rule import Rule, verdict
from ..contract.rulebook import RuleBook
from ..contract.rules._shape_faults import RULES
from ..contract.shapes.checker import Fault, FaultKind, shape
from ..contract.shapes.facts import Fact, facts, shape_of

__all__ = ["document", "places"]

Schema = dict[str, Any]
VERSION = "1"  # of the form of these documents


def places() -> Iterator[tuple[str, str]]:
    """Yields the wire formats with their providers that have a document.

    Examples:
        >>> ("anthropic", "bedrock") in places()
        True
    """
    for book in rules.books():
        if book.provider not in _OTHER_FORMATS:
            yield book.wire, book.provider


def document(wire: str, provider: str = "") -> dict[str, Any]:
    """Returns the OpenAPI document of the chat endpoint of a provider.

    Args:
        wire: Name of the wire format.
        provider: Name of the provider. Default: the one whose own format it is.

    Raises:
        LookupError: The wire format is unknown.

    Examples:
        >>> sorted(document("openai-chat")["paths"])
        ['/v1/chat/completions']
    """
    book = rules.book(wire, provider)
    schemas = _Schemas(shape_of(wire, book.provider) or "", wire, book.provider)
    body = schemas.root()
    paths = {
        path: {"parameters": _parameters(path, wire), "post": _operation(book, endpoint, body)}
        for path, endpoint in (_AT_HOSTS.get((wire, book.provider)) or ENDPOINTS[wire]).items()
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{wire} at {book.provider}",
            "version": VERSION,
            "description": " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
        },
        "servers": [{"url": f"https://{host_of(book.provider) or 'localhost'}"}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {"schemas": schemas.named, "securitySchemes": {"key": _SECURITY.get(wire, _BEARER)}},
    }


# --- Endpoints -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Endpoint:
    """An endpoint. `answer` are the fields that every answer has, and `stream` is the media type of a stream.

    `always` tells whether it answers with a stream only, and `listed` whether the stream is a JSON array unless events are asked for.
    """

    answer: tuple[str, ...] = ()
    stream: str = "text/event-stream"
    always: bool = False
    listed: bool = False


_CHAT = Endpoint(("choices",))
_GEMINI = Endpoint(())
ENDPOINTS: Mapping[str, Mapping[str, Endpoint]] = {
    "openai-chat": {"/v1/chat/completions": _CHAT},
    "openai-responses": {"/v1/responses": Endpoint(("id", "output"))},
    "anthropic": {"/v1/messages": Endpoint(("type", "role", "content"))},
    "gemini": {
        "/v1beta/models/{model}:generateContent": _GEMINI,
        "/v1beta/models/{model}:streamGenerateContent": Endpoint((), always=True, listed=True),
    },
    "bedrock": {
        "/model/{model}/converse": Endpoint(("output", "stopReason", "usage")),
        "/model/{model}/converse-stream": Endpoint((), "application/vnd.amazon.eventstream", always=True),
    },
    "ollama": {"/api/chat": Endpoint(("message", "done"), "application/x-ndjson")},
    "mistral": {"/v1/chat/completions": _CHAT},
    "cohere": {"/v2/chat": Endpoint(("message", "finish_reason"))},
}
_MESSAGE = ENDPOINTS["anthropic"]["/v1/messages"]
#: The endpoints of hosts that have the model in the address.
_AT_HOSTS: Mapping[tuple[str, str], Mapping[str, Endpoint]] = {
    ("anthropic", "bedrock"): {"/model/{model}/invoke": _MESSAGE},
    ("anthropic", "vertex"): {
        "/v1/projects/{project}/locations/{location}/publishers/anthropic/models/{model}:rawPredict": _MESSAGE
    },
}
#: Names in the rules for other formats, which repeat the objects of these.
_OTHER_FORMATS = {"bedrock-invoke", "cohere-v1", "gemini-interactions"}
_BEARER = {"type": "http", "scheme": "bearer"}
_SECURITY = {
    "anthropic": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "gemini": {"type": "apiKey", "in": "header", "name": "x-goog-api-key"},
}


def _parameters(path: str, wire: str) -> list[Schema]:
    found = [_parameter(name, "path") for name in re.findall(r"\{(\w+)\}", path)]
    if wire == "anthropic" and not found:
        found += [
            _parameter("anthropic-version", "header", enum=["2023-06-01"]),
            _parameter("anthropic-beta", "header"),
        ]
        found[-1]["required"] = False
    return found


def _parameter(name: str, place: str, **more: Any) -> Schema:
    return {"name": name, "in": place, "required": True, "schema": {"type": "string", "minLength": 1, **more}}


def _operation(book: RuleBook, endpoint: Endpoint, body: Schema) -> Schema:
    properties: Schema = {name: {} for name in endpoint.answer}
    answer: Schema = {"type": "object", "properties": properties, "required": list(endpoint.answer)}
    whole = {"type": "array"} if endpoint.listed else answer
    contents = {"application/json": {"schema": whole}} if endpoint.listed or not endpoint.always else {}
    return {
        "operationId": "stream" if endpoint.always else "chat",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {
                "description": "An answer of the model.",
                "content": {**contents, endpoint.stream: {"schema": {}}},
            },
            **_errors(book),
        },
    }


# --- Error answers ---------------------------------------------------------------------------------------


@cache
def _refused(wire: str, provider: str) -> dict[int, dict[str, tuple[Rule, Any]]]:
    """Returns the error bodies by status and rule: what the API answers to the first counterexample of each rule."""
    book = rules.book(wire, provider)
    found: dict[int, dict[str, tuple[Rule, Any]]] = {}
    for id, rule in book.rules.items():
        if not (rule.refuses and rule.refusal and rule.counterexamples):
            continue
        violations = verdict(rule, book.request(rule.counterexamples[0])).violations
        for violation in violations[:1]:
            status, _, body = book.refuse(violation)
            found.setdefault(status, {})[id] = rule, _parsed(body)
    return found


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode()


def _errors(book: RuleBook) -> dict[str, Schema]:
    """Returns the error answers by status, and `default` for those that no request alone decides (a key, a limit)."""
    refused = _refused(book.wire, book.provider)
    found = {
        str(status): _answer(
            "The API refuses the request. The examples are named after the rules.",
            [body for _, body in answers.values()],
            {id: {"summary": _sentence(rule), "value": body} for id, (rule, body) in answers.items()},
        )
        for status, answers in sorted(refused.items())
    }
    other = {
        "description": "Another error: of the key, a limit, or the server.",
        "content": {"*/*": {"schema": {}}},
    }
    return {**found, "default": other}


def _answer(description: str, bodies: Sequence[Any], examples: Schema) -> Schema:
    kind = "application/json" if all(isinstance(each, dict | list) for each in bodies) else "text/plain"
    content: Schema = {"schema": inferred(bodies)}
    return {"description": description, "content": {kind: {**content, "examples": examples}}}


def _sentence(rule: Rule) -> str:
    return " ".join(rule.sentence.split())


_JSON_TYPES = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def inferred(values: Sequence[Any], depth: int = 2) -> Schema:
    """Returns a schema that fits all values, and others with the same fields.

    Args:
        values: Values of JSON.
        depth: How many levels of objects and lists it describes. What is deeper in an error repeats the request. Default: 2.

    Examples:
        >>> inferred([{"a": 1}, {"a": None}])
        {'type': 'object', 'properties': {'a': {'type': ['integer', 'null']}}, 'required': ['a']}
    """
    types = sorted({_type_of(value) for value in values})
    objects = [value for value in values if isinstance(value, dict)]
    items = [each for value in values if isinstance(value, list) for each in value]
    found: Schema = {"type": types[0] if len(types) == 1 else types} if types else {}
    if objects and depth:
        names = sorted({name for value in objects for name in value})
        found["properties"] = {
            name: inferred([value[name] for value in objects if name in value], depth - 1) for name in names
        }
        found["required"] = [name for name in names if all(name in value for value in objects)]
    if items and depth:
        found["items"] = inferred(items, depth - 1) if depth > 1 else {}
    return found


def _type_of(value: Any) -> str:
    return next((name for type_, name in _JSON_TYPES if isinstance(value, type_)), "null")


# --- Schemas of requests ---------------------------------------------------------------------------------


#: A name, a text or a tag that no API knows: what it does with it, it does with every other one.
OTHER = "\0other"
#: Texts that pydantic reads as numbers and as booleans.
NUMERAL = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
TRUTH = "^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[01tTfFyYnN]|[yY][eE][sS]|[nN][oO]|[oO][nN]|[oO][fF][fF])$"
#: One value of each type of JSON.
SAMPLES = {"null": None, "boolean": True, "number": 1.5, "string": OTHER, "array": [0], "object": {OTHER: 0}}
_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
)


@dataclass
class _Schemas:
    """Makes the schemas of a shape, with those restrictions that a fact proves at every model and on every day."""

    name: str
    wire: str
    provider: str
    named: dict[str, Schema] = field(default_factory=dict)
    _specs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._shape = shape(self.name or self.wire)
        self._facts: tuple[Fact, ...] = facts(self.name) if self.name else ()
        self._reader = self._shape.get("reader", "")
        held = rules.book(self.wire, self.provider).rules
        self._held = {kind for kind, (id, _) in RULES.items() if id in held and held[id].refuses}

    def root(self) -> Schema:
        """Returns the schema of a request."""
        return self._object(self._shape["root"]["object"], "Request")

    # What is known of a fault

    def _refuses(self, fault: Fault) -> bool:
        """Tells whether the API refuses a fault always: no request that has it is on record as accepted."""
        for fact in self._facts if fault.kind in self._held else ():
            if fact.decides(fault, self.provider):
                if not fact.refused:
                    return False
                if not _is_scoped(fact):
                    return True
        return False

    def _accepted(self, kind: str, owner: str, name: str) -> Iterator[Fact]:
        """Yields the facts that accept a kind of fault at a field."""
        for fact in self._facts:
            probe = Fault(FaultKind(kind), OTHER, key=name, owner=owner, field=name)
            if not fact.refused and _about(fact, probe, self.provider):
                yield fact

    # Objects

    def _object(self, spec: Mapping[str, Any], hint: str) -> Schema:
        spec = self._named(spec)
        if "tag" in spec:
            raise TypeError("a union cannot be a named object")
        name = re.sub(r"\W", "_", str(spec.get("type") or hint))
        while name in self._specs and self._specs[name] is not spec:
            name += "_"
        if name not in self._specs:
            self._specs[name] = spec
            self.named[name] = {}
            self.named[name].update(self._fields(spec))
        return {"$ref": f"#/components/schemas/{name}"}

    def _fields(self, spec: Mapping[str, Any]) -> Schema:
        owner = spec.get("type", "")
        required = set(spec.get("required", ()))
        found: Schema = {"type": "object"}
        properties = {
            name: self._value(node, owner, name, required=name in required)
            for name, node in spec.get("fields", {}).items()
        }
        found["properties"] = {**properties, **self._spelt_with_underscores(properties)}
        held = [name for name in spec.get("required", ()) if self._is_required(owner, name)]
        if held and self._reader != "proto":
            found["required"] = held
        if "others" in spec:
            found["additionalProperties"] = self._value(spec["others"], owner, OTHER, required=False)
        elif self._refuses(Fault(FaultKind.UNKNOWN_FIELD, OTHER, key=OTHER, owner=owner, field=OTHER)):
            found["additionalProperties"] = False
            self._open_for(found, owner)
        else:
            self._close_for(found, owner)
        return found

    def _close_for(self, found: Schema, owner: str) -> None:
        """Adds the unknown fields that an open object does not take."""
        for fact in self._facts:
            for name in fact.fields if fact.refused and fact.fault == FaultKind.UNKNOWN_FIELD else ():
                if self._refuses(Fault(FaultKind.UNKNOWN_FIELD, OTHER, key=name, owner=owner, field=name)):
                    found["properties"].setdefault(name, False)

    def _spelt_with_underscores(self, properties: Mapping[str, Schema]) -> Schema:
        """Returns the fields of protocol buffers once more, because their readers take both spellings."""
        if self._reader != "proto":
            return {}
        other = {
            re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower(): each for name, each in properties.items()
        }
        return {name: each for name, each in other.items() if name not in properties}

    def _is_required(self, owner: str, name: str) -> bool:
        if (self.provider, name) in {("bedrock", "model"), ("vertex", "model")}:
            return False  # it is in the address
        return self._refuses(
            Fault(FaultKind.MISSING_FIELD, {}, key=name, owner=owner, field=name, required=True)
        )

    def _open_for(self, found: Schema, owner: str) -> None:
        """Adds the unknown fields that accepted requests have."""
        for fact in self._facts:
            probe = Fault(FaultKind.UNKNOWN_FIELD, OTHER, owner=owner)
            if fact.refused or not _about(fact, probe, self.provider, any_field=True):
                continue
            for name in fact.fields:
                if "*" in name or "?" in name:
                    pattern = "^" + re.escape(name).replace(r"\*", ".*").replace(r"\?", ".") + "$"
                    found.setdefault("patternProperties", {})[pattern] = {}
                else:
                    found["properties"].setdefault(name, {})

    # Values

    def _value(self, node: Mapping[str, Any], owner: str, name: str, *, required: bool) -> Schema:
        node = self._named(node)
        if "any" in node:
            return {}
        place = _Place(owner, name, required=required)
        wider = [type_ for type_ in SAMPLES if type_ not in node and not self._is_misfit(place, type_)]
        options = [self._option(type_, spec, place) for type_, spec in node.items()]
        converted = self._converted(node)
        wider = [type_ for type_ in wider if type_ not in {each["type"] for each in converted}]
        options += converted
        if wider:
            options += [{"type": wider[0] if len(wider) == 1 else wider}]
        if (
            wider
            and len(wider) + len(node) == len(SAMPLES)
            and all(each.keys() <= {"type"} for each in options)
        ):
            return {"description": f"The official types say: {' or '.join(sorted(node))}."}
        plain = [each["type"] for each in options if each.keys() == {"type"}]
        if len(plain) == len(options):
            types = sorted({type_ for each in plain for type_ in ([each] if isinstance(each, str) else each)})
            return {"type": types[0] if len(types) == 1 else types}
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _is_misfit(self, place: _Place, type_: str) -> bool:
        """Tells whether the API refuses a type that the official types do not have at this place."""
        return self._refuses(place.fault(FaultKind.WRONG_TYPE, SAMPLES[type_]))

    def _option(self, type_: str, spec: Mapping[str, Any], place: _Place) -> Schema:
        if type_ == "object":
            spec = self._named(spec)
            return (
                self._union(spec, place)
                if "tag" in spec
                else self._object(spec, f"{place.owner}.{place.name}")
            )
        found: Schema = {"type": type_}
        if type_ == "number" and spec.get("integer"):
            found["type"] = "integer" if self._refuses(place.fault(FaultKind.WRONG_TYPE, 1.5)) else "number"
        if type_ == "array":
            found["items"] = self._value(spec["items"], place.owner, place.name, required=place.required)
        if "values" in spec:
            return self._one_of(spec["values"], place)
        return found | {
            bound: spec[bound] for bound in _BOUNDS if bound in spec and self._is_bound(place, bound, spec)
        }

    def _converted(self, node: Mapping[str, Any]) -> list[Schema]:
        """Returns the values of other types that pydantic converts to a number or a boolean."""
        if self._reader != "pydantic":
            return []
        if "number" in node:
            return [{"type": "string", "pattern": NUMERAL}, {"type": "boolean"}]
        return (
            [{"type": "string", "pattern": TRUTH}, {"type": "number", "enum": [0, 1]}]
            if "boolean" in node
            else []
        )

    def _is_bound(self, place: _Place, bound: str, spec: Mapping[str, Any]) -> bool:
        """Tells whether the API refuses what is beyond a bound. Empty texts and lists have facts of their own."""
        if any(self._accepted(FaultKind.OUT_OF_RANGE, place.owner, place.name)):
            return False  # some value beyond a bound was accepted
        if bound == "pattern" and self._refuses(place.fault(FaultKind.WRONG_TYPE, OTHER)):
            return True  # a text that is read as a number
        empty = {"minLength": "", "minItems": []}.get(bound)
        values = (
            [OTHER, empty] if empty is not None and spec[bound] > 1 else [OTHER if empty is None else empty]
        )
        return all(self._refuses(place.fault(FaultKind.OUT_OF_RANGE, value, bound=bound)) for value in values)

    def _one_of(self, values: Sequence[Any], place: _Place) -> Schema:
        if not self._refuses(place.fault(FaultKind.UNKNOWN_VALUE, OTHER)):
            return {"type": "string", "examples": list(values)}
        accepted = self._accepted(FaultKind.UNKNOWN_VALUE, place.owner, place.name)
        every = [*values, *sorted({value for fact in accepted for value in fact.values} - {*values})]
        if self._reader == "proto":  # which ignores case
            return {"type": "string", "pattern": _in_any_case(every), "examples": every}
        return {"type": "string", "enum": every}

    def _union(self, spec: Mapping[str, Any], place: _Place) -> Schema:
        """Returns the variants of an object. Other variants are open, unless the API refuses them."""
        tag = spec["tag"]
        options = [*self._tagged(spec, place), *self._untagged(spec, place)]
        odd = [type_ for type_ in SAMPLES if type_ != "string" and not self._is_odd_tag(place, tag, type_)]
        if odd:
            options.append({"type": "object", "properties": {tag: {"type": odd}}, "required": [tag]})
        return {"anyOf": [*options, *self._other_variants(spec, place)]}

    def _tagged(self, spec: Mapping[str, Any], place: _Place) -> Iterator[Schema]:
        tag = spec["tag"]
        for name, each in spec["variants"].items():
            named = {"properties": {tag: {"const": name}}, "required": [tag]}
            yield {"allOf": [self._object(each, f"{place.name}.{name}"), named]}

    def _untagged(self, spec: Mapping[str, Any], place: _Place) -> Iterator[Schema]:
        """Yields the variant without a tag: the one that has none, or any unless the API refuses it."""
        tag = spec["tag"]
        missing = Fault(
            FaultKind.MISSING_FIELD, {}, [*spec["variants"]], tag, owner=place.owner, field=place.name
        )
        if "untagged" in spec:
            inner = self._object(spec["untagged"], f"{place.name}.untagged")
            yield {"allOf": [inner, {"not": {"required": [tag]}}]}
        elif not self._refuses(missing):
            yield {"type": "object", "not": {"required": [tag]}}

    def _other_variants(self, spec: Mapping[str, Any], place: _Place) -> Iterator[Schema]:
        """Yields all other tags, or the accepted ones if the API refuses the others."""
        tag = spec["tag"]
        if not self._refuses(place.fault(FaultKind.WRONG_VARIANT, {tag: OTHER}, key=tag)):
            others = {"properties": {tag: {"not": {"enum": [*spec["variants"]]}}}, "required": [tag]}
            yield {"type": "object", **others}
            return
        accepted = self._accepted(FaultKind.WRONG_VARIANT, place.owner, place.name)
        for each in sorted({value for fact in accepted for value in fact.values}):
            yield {"type": "object", "properties": {tag: {"const": each}}, "required": [tag]}

    def _is_odd_tag(self, place: _Place, tag: str, type_: str) -> bool:
        """Tells whether the API refuses a tag of this type, which is not text."""
        return self._refuses(place.fault(FaultKind.WRONG_TYPE, SAMPLES[type_], key=tag))

    def _named(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._shape["nodes"][node["ref"]] if "ref" in node else node
        return found


@dataclass(frozen=True)
class _Place:
    """A field of an object type."""

    owner: str
    name: str
    required: bool

    def fault(self, kind: FaultKind, value: Any, *, key: str = "", bound: str = "") -> Fault:
        """Returns a fault at this place."""
        return Fault(kind, value, None, key, bound, self.owner, self.name, self.required)


def _in_any_case(values: Sequence[str]) -> str:
    """Returns a pattern for some words, with any letter in upper or lower case."""
    words = (
        "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else re.escape(c) for c in word) for word in values
    )
    return f"^({'|'.join(words)})$"


def _is_scoped(fact: Fact) -> bool:
    return bool(fact.models or fact.versions or fact.betas or fact.since or fact.until)


def _about(fact: Fact, probe: Fault, provider: str, *, any_field: bool = False) -> bool:
    """Tells whether a fact is about a kind of fault at a place, whatever the value."""
    return Fact(
        refused=False,
        fault=fact.fault,
        types=fact.types,
        fields=("*",) if any_field else fact.fields,
        apart=fact.apart,
        providers=fact.providers,
    ).decides(probe, provider)
