"""The tools of a request: their schemas are complete, and the same in every request."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ....observed.exchange import Json
from ....observed.run import Run
from ....readers.gemini import key_of
from ....readers.json_access import items_of, object_of, read_once, text_of
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, SHOULD, book, found, objects, taken


@book.rule("SCH-006", SHOULD, LOSS, source="https://github.com/elidickinson/pi-claude-bridge/issues/44")
def schemas_mean_the_same(run: Run) -> Iterator[Finding]:
    """The properties, enums, descriptions, nested objects and arrays of a tool's schema reach the provider.

    Why: a model chooses arguments by the schema, and guesses if there is no schema. Fix: pass the tool's schema on
    whole, and change only the keywords that this provider refuses.
    """
    wanted = {tool.name: tool.parameters for tool in run.case.tools}
    for index, exchange in enumerate(run.exchanges):
        for name, schema in _schemas(exchange.request.body):
            lost = sorted(_words(wanted.get(name, {})) - _words(schema))
            yield found(not lost, f"/exchanges/{index}/request", f"the schema of {name} lost {lost}")


@book.rule(
    "SCH-026",
    MUST,
    LOSS,
    source=[
        "https://json-schema.org/understanding-json-schema/reference/object#required",
        "https://github.com/maximhq/bifrost/issues/3362",
        "https://github.com/BerriAI/litellm/pull/34237 (types in capitals)",
        "https://github.com/BerriAI/litellm/pull/24054 (nullable)",
        "https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5.3 (required: the elements are unique)",
        "https://github.com/ComposioHQ/composio/pull/3028 (required twice)",
    ],
)
def schemas_arrive_whole(run: Run) -> Iterator[Finding]:
    """Each level of a tool's schema reaches the provider, and nothing is added to it.

    Why: a model may leave out an argument that is not required, may invent a value if there is no enum, and may pass an argument
    that the tool does not take. A level has a type, properties, required names, enums, items and descriptions. Neither a property
    that the tool does not have nor a required name without a property is added, and a name is required once. A dialect may write a
    level differently: with `$ref`, or with null for optional properties. Only Gemini's dialect has types in capitals, and `nullable`:
    in JSON Schema, null is a type. Fix: send the schema as the caller gave it.
    """
    wanted = {tool.name: dict(tool.parameters) for tool in run.case.tools}
    for schema in wanted.values():
        schema.pop("description", None)  # of the whole schema: the tool's own, which SCH-006 compares
    for index, _ in taken(run):
        body, place = run.exchanges[index].request.body, f"/exchanges/{index}/request"
        for name, schema in _schemas(body):
            lost = list(lost_of(wanted.get(name, {}), schema, schema, name))
            more = list(added_to(wanted[name], schema, schema, name)) if name in wanted else []
            told = [*lost, *more, *unknown_words(wanted.get(name, {}), schema, name, body)]
            yield found(not told, place, "; ".join(told[:3]))
        for name in _without_schema(body):
            if object_of(wanted.get(name, {}).get("properties")):
                yield broken(place, f"{name} is declared without its parameters")


@book.rule(
    "SCH-028",
    MUST,
    LOSS,
    source=[
        "https://json-schema.org/draft/2020-12/json-schema-validation",
        "https://github.com/ollama/ollama/issues/17142",
    ],
)
def constraints_arrive(run: Run) -> Iterator[Finding]:
    """The bounds, lengths, patterns, formats and defaults of a tool's parameters reach the provider with their values, and so do the
    forms that a value may have. Properties that the schema excludes stay excluded.

    Why: a model keeps to a bound that it can read, and a tool fails or guesses where it cannot. A constraint may be
    told in the description, for an API that does not take its keyword. A strict tool has no defaults, because each
    value is required. Fix: copy each keyword that the API takes, and write the others into the description.
    """
    wanted = {tool.name: dict(tool.parameters) for tool in run.case.tools}
    for index, _ in taken(run):
        body = run.exchanges[index].request.body
        strict = {tool.get("name") for tool in objects(body.get("tools")) if tool.get("strict") is True}
        for name, sent in _schemas(body):
            schema = wanted.get(name, {})
            words = CONSTRAINTS - ({"default"} if name in strict else set())
            lost = list(lost_constraints(Nested(schema, schema), Nested(sent, sent), name, words))
            yield found(not lost, f"/exchanges/{index}/request", "; ".join(lost[:3]))


@book.rule(
    "SCH-029",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/function-calling",
        "https://github.com/0xPlaygrounds/rig/issues/2477",
        "https://github.com/crmne/ruby_llm/issues/843",
        "https://github.com/open-webui/open-webui/pull/30046",
    ],
)
def strictness_is_told(run: Run) -> Iterator[Finding]:
    """A tool with arguments that may be left out says in Responses whether it is strict (`strict`).

    Why: OpenAI makes a tool strict that does not say so, and a strict tool has no optional arguments. The model then fills in each
    of them, with blank texts and zeros. Chat Completions does the opposite. Fix: send `"strict": false`, or a strict schema in which
    optional arguments may be null. OpenAI reads `"strict": null` as false.
    """
    if run.wire != "openai-responses" or run.provider not in _NORMALIZING:
        return
    for index, _ in taken(run):
        body = run.exchanges[index].request.body
        optional = {name for name, schema in _schemas(body) if any(map(_has_optional, objects(schema)))}
        told = {tool.get("name") for tool in objects(body.get("tools")) if tool.get("strict", "") in _TOLD}
        if optional:
            silent = ", ".join(sorted(optional - told))
            problem = f"{silent!r} has optional arguments, and does not say whether it is strict"
            yield found(not silent, f"/exchanges/{index}/request", problem)


#: What says whether a tool is strict: OpenAI answers `null` with `"strict": false`, and no field with `"strict": true`.
_TOLD = (True, False, None)

#: Providers that read a tool without `strict` as strict.
_NORMALIZING = {"openai", "azure"}


def _has_optional(schema: Json) -> bool:
    """Tells whether a schema has properties that may be left out."""
    return bool({*object_of(schema.get("properties"))} - {*map(str, schema.get("required") or ())})


class Nested(NamedTuple):
    """A part of a schema, and the whole schema, which has its definitions."""

    part: Json
    root: Json

    def named(self, name: str) -> Nested:
        """Returns a property, or the items of a list (`[]`)."""
        held = [
            each.get("items") if name == "[]" else object_of(each.get("properties")).get(name)
            for each in self.branches
        ]
        return Nested(object_of(next(filter(None, held), {})), self.root)

    @property
    def branches(self) -> list[Json]:
        """The schema with those that it refers to or allows."""
        return list(_branches(self.part, self.root))


def lost_constraints(wanted: Nested, sent: Nested, name: str, words: Collection[str]) -> Iterator[str]:
    """Yields the constraints of a schema that were lost or changed, at all levels. What refers to itself is looked at once.

    Args:
        wanted: The schema.
        sent: What was sent of it.
        name: What the schema is called.
        words: The keywords that are compared.
    """
    parts, seen = [(wanted, sent, name)], set[int]()
    for whole, told, place in parts:
        if id(whole.part) not in seen:
            seen.add(id(whole.part))
            yield from _lost_in_part(whole, told, place, words)
            names = [each for branch in whole.branches for each in object_of(branch.get("properties"))]
            names += ["[]"] if any("items" in each for each in whole.branches) else []
            parts += [(whole.named(each), told.named(each), f"{place}.{each}") for each in names]


def _lost_in_part(wanted: Nested, sent: Nested, place: str, words: Collection[str]) -> Iterator[str]:
    """Yields the constraints of one part that were lost or changed."""
    told = " ".join(str(each.get("description", "")) for each in sent.branches)
    for branch in wanted.branches:
        for word in (each for each in branch if each in words):
            kept = any(_means(each, word, branch[word]) for each in sent.branches)
            if not kept and str(branch[word]) not in told:
                yield f"{place} lost its {word} of {branch[word]!r}"
    opened = any(each.get("additionalProperties") is True for each in sent.branches)
    if opened and wanted.part.get("additionalProperties") is False:
        yield f"{place} may have other properties, which it excludes"
    lost = _types(wanted.branches) - _types(sent.branches) - _types_of_values(sent.branches) - {"null"}
    if lost and len(wanted.branches) > 1:
        yield f"{place} can no longer be {' or '.join(sorted(lost))}"


def _means(schema: Json, word: str, value: Any) -> bool:
    """Tells whether a schema has a constraint. Gemini writes counts as text, and a constant is an enum of one value."""
    if word == "const" and schema.get("enum") == [value]:
        return True
    dialect = text_of(schema.get("type")) in _IN_CAPITALS
    key = key_of(schema, word) if dialect else word
    as_text = dialect and word in _COUNTS and schema.get(key) == str(value)
    return as_text or (key in schema and schema[key] == value)


#: Words whose numbers Gemini's own dialect, which has its types in capitals, writes as text. It takes each word in both spellings.
_COUNTS = {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
_IN_CAPITALS = {"STRING", "ARRAY", "OBJECT"}


#: The keywords that say what a value may be, beside its type.
CONSTRAINTS = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("pattern", "format", "minItems", "maxItems", "uniqueItems", "default", "const"),
}


#: Where a tool has functions. Gemini takes the names of fields in both spellings.
_FUNCTIONS = ("functionDeclarations", "function_declarations", "function")


def _without_schema(body: Json) -> set[str]:
    """Returns the names of tools that are declared without a schema."""
    config = object_of(body.get("toolConfig"))
    held = [body.get("tools"), config.get("tools")]
    functions = [each.get(key) for each in objects(held) for key in _FUNCTIONS]
    named = {
        tool["name"]
        for tools in (*held, *functions)
        for tool in (tools if isinstance(tools, list) else [tools])
        if isinstance(tool, dict)
        and isinstance(tool.get("name"), str)
        and str(tool.get("type", "function")) == "function"
    }
    return named - {name for name, _ in _schemas(body)}


def added_to(wanted: Json, sent: Json, root: Json, place: str) -> Iterator[str]:
    """Yields what was sent of a schema and the schema has not: properties, and required names without a property.

    Args:
        wanted: The schema.
        sent: What was sent of it.
        root: The whole schema that was sent.
        place: What the schema is called.
    """
    branches = list(_branches(sent, root))
    has = object_of(wanted.get("properties"))
    properties = {
        name: inner for each in branches for name, inner in object_of(each.get("properties")).items()
    }
    closed = (
        bool(has) or place.isidentifier()
    )  # an object without properties may have any, unless it is the whole schema
    if not closed:
        return
    yield from (
        f"{place} has a property {name}, which the tool does not take"
        for name in properties
        if name not in has
    )
    yield from (
        f"{place} requires {name}, which it does not declare"
        for name in sorted(_required(branches) - {*properties, *has})
    )
    for name in (name for name in properties if name in has):
        inner, given = has[name], properties[name]
        if isinstance(inner, dict) and isinstance(given, dict) and "properties" in inner:
            yield from added_to(inner, given, root, f"{place}.{name}")
        elif object_of(object_of(given).get("properties")) and not _may_be_an_object(object_of(inner)):
            yield f"{place}.{name} has properties, and the tool takes no object there"


def _may_be_an_object(schema: Json) -> bool:
    """Tells whether a schema allows an object, as far as it says so: what it refers to is not looked up."""
    forms = list(objects(schema))
    untyped = not _types(list(_branches(schema, schema)))
    return untyped or any(
        "$ref" in each or "properties" in each or "object" in _types([each]) for each in forms
    )


def unknown_words(wanted: Json, schema: Json, place: str, body: Json) -> Iterator[str]:
    """Yields the types of a schema that neither JSON Schema nor the caller has, and null that only `nullable` allows. Only the schemas
    of Gemini's own dialect have capitals and `nullable`. Names that are required twice are no JSON Schema in any dialect.

    Args:
        wanted: The schema.
        schema: What was sent of it.
        place: What the schema is called.
        body: The request that has it.
    """
    dialect = "contents" in body and any(
        each.get(key) is schema for each in objects(body) for key in _DIALECT
    )
    known = [*_KINDS, *_named_types(wanted)]
    for kind in _named_types(schema):
        if (str(kind).lower() if dialect else kind) not in known:
            yield f"{place} has the type {kind!r}, which JSON Schema does not have"
    if not dialect:
        if any(isinstance(each.get("any_of"), list) for each in objects(schema)):
            yield f"{place} has several forms by `any_of`, which JSON Schema does not have"
        may_be_null = {name for name, inner in _properties(wanted) if _has_null(inner, wanted)}
        for name, inner in _properties(schema):
            if name in may_be_null and inner.get("nullable") is True and not _has_null(inner, schema):
                yield f"{place} has null for {name} only by `nullable`, which JSON Schema does not have"
    for required in (items_of(each.get("required")) for each in objects(schema)):
        if twice := sorted({str(name) for name in required if required.count(name) > 1}):
            yield f"{place} requires {', '.join(twice)} twice"


def _properties(schema: Json) -> Iterator[tuple[str, Json]]:
    """Yields each property of a schema, at any depth."""
    for each in objects(schema):
        for name, inner in object_of(each.get("properties")).items():
            if isinstance(inner, dict):
                yield name, inner


def _has_null(schema: Json, root: Json) -> bool:
    """Tells whether a schema allows null in the words of JSON Schema."""
    return any(_allows_null({**each, "nullable": False}) for each in _branches(schema, root))


def _named_types(schema: Json) -> list[Any]:
    """Returns each type that a schema names, at any depth."""
    named = [each.get("type") for each in objects(schema)]
    return [
        kind
        for one in named
        for kind in (one if isinstance(one, list) else [one] if isinstance(one, str) else [])
    ]


#: Where Gemini has schemas of its own dialect.
_DIALECT = ("parameters", "responseSchema", "response_schema")
_KINDS = ("array", "boolean", "integer", "null", "number", "object", "string")


def lost_of(wanted: Json, sent: Json, root: Json, place: str) -> Iterator[str]:
    """Yields what a schema has and what was sent of it has not.

    Args:
        wanted: The schema.
        sent: What was sent of it.
        root: The whole schema that was sent.
        place: What the schema is called.
    """
    yield from _lost(Nested(wanted, wanted), Nested(sent, root), place, set())


def _lost(wanted: Nested, sent: Nested, place: str, seen: set[tuple[int, int]]) -> Iterator[str]:
    """Yields the same, also of the schemas that both refer to or allow. What refers to itself is looked at once."""
    if (both := (id(wanted.part), id(sent.part))) in seen:
        return
    seen.add(both)
    parts, branches = wanted.branches, sent.branches
    yield from _lost_properties(wanted, sent, place, seen)
    yield from _lost_types(wanted, branches, place)
    if any(isinstance(each.get("items"), dict) for each in parts):
        yield from _lost(wanted.named("[]"), sent.named("[]"), f"{place}[]", seen)
    values = [value for each in branches for value in [*items_of(each.get("enum")), each.get("const")]]
    for value in (value for each in parts for value in items_of(each.get("enum"))):
        if value is not None and value not in values and str(value) not in values:
            yield f"{place} lost its value {value!r}"
    told = next((each["description"] for each in parts if each.get("description")), "")
    if told and not any(told in text_of(each.get("description")) for each in branches):
        yield f"{place} lost its description"


def _lost_properties(wanted: Nested, sent: Nested, place: str, seen: set[tuple[int, int]]) -> Iterator[str]:
    """Yields the properties that are gone or changed, and those that are required no more, or now."""
    forced, required = _required(sent.branches), _required(wanted.branches)
    properties = [object_of(each.get("properties")) for each in sent.branches]
    for each in wanted.branches:
        for name, inner in object_of(each.get("properties")).items():
            found_in = [held[name] for held in properties if isinstance(held.get(name), dict)]
            if not found_in:
                yield f"{place} lost its property {name}"
            elif isinstance(inner, dict):
                part, at = Nested(inner, wanted.root), f"{place}.{name}"
                yield from min(
                    (list(_lost(part, Nested(one, sent.root), at, seen)) for one in found_in), key=len
                )
                if name in forced - required and not _is_nullable(found_in[0], sent.root):
                    yield f"{place} requires {name}, which may be left out"
    yield from (f"{place} no longer requires {name}" for name in sorted(required - forced))


def _required(branches: Sequence[Json]) -> set[str]:
    """Returns the names that a schema requires."""
    return {str(name) for each in branches for name in items_of(each.get("required"))}


def _is_nullable(schema: Json, root: Json) -> bool:
    """Tells whether a schema allows null. One without a type allows anything, and a list of values only what it has."""
    branches = list(_branches(schema, root))
    return not _types(branches) or any(map(_allows_null, branches))


def _types(branches: Sequence[Json]) -> set[str]:
    """Returns the types that a schema names, in small letters."""
    named = [each.get("type") for each in branches]
    return {str(each).lower() for one in named for each in (one if isinstance(one, list) else [one]) if each}


def _types_of_values(branches: Sequence[Json]) -> set[str]:
    """Returns the types of the values that a schema lists."""
    values = [each for branch in branches for each in items_of(branch.get("enum"))]
    return {_KIND_OF[type(each)] for each in values if type(each) in _KIND_OF}


_KIND_OF: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _lost_types(wanted: Nested, branches: Sequence[Json], place: str) -> Iterator[str]:
    """Yields the types that a schema allows and that are not named any more, and those that are named now. An enum says its type by
    its values.
    """
    types, sent = _types([wanted.part]) - {"null"}, _types(branches)
    valued = any(each.get("enum") or "const" in each or "properties" in each for each in branches)
    missing = types - sent
    if missing and not (valued and not sent):
        yield f"{place} accepts {' or '.join(sorted(sent)) or 'anything'} and no longer {' or '.join(sorted(missing))}"
    elif "null" in _types([wanted.part]) and sent and not any(map(_allows_null, branches)):
        yield f"{place} can no longer be null"
    whole = _types(wanted.branches)
    more = sent - whole - {"null"} - ({"integer"} if "number" in whole else set())
    if types and more and not missing:
        yield f"{place} accepts {' or '.join(sorted(more))}, which the tool does not take"


def _allows_null(schema: Json) -> bool:
    """Tells whether one schema allows null. A list of values has to name it, but not in OpenAPI (`nullable`)."""
    values = schema.get("enum")
    return bool(schema.get("nullable")) or (None in values if values else "null" in _types([schema]))


def _branches(schema: Json, root: Json, depth: int = 0) -> Iterator[Json]:
    """Yields a schema and those that it refers to or allows, without references in a circle."""
    yield schema
    if depth > _DEEPEST:
        return
    named = str(schema.get("$ref", "")).rpartition("/")[2]
    definitions = object_of(root.get("$defs")) | object_of(root.get("definitions"))
    inner = [definitions[named]] if named in definitions else []
    inner += [each for key in _COMBINED for each in items_of(schema.get(key))]
    for each in inner:
        if isinstance(each, dict):
            yield from _branches(each, root, depth + 1)


_DEEPEST = 8
#: The words for several forms; Gemini's own dialect takes the first in both spellings.
_COMBINED = ("anyOf", "any_of", "oneOf", "allOf")


@book.rule("SCH-007", SHOULD, LOSS, source="https://github.com/maximhq/bifrost/issues/3362")
def tools_are_written_alike(run: Run) -> Iterator[Finding]:
    """Every request of a conversation has the same tools in the same order and form.

    Why: providers cache the beginning of a request, which contains the tools, byte for byte. Fix: build the list of
    tools once, in the order of the caller, and send the same list in every request.
    """
    written = [json.dumps(list(_schemas(e.request.body))) for e in run.exchanges]
    for index, (before, after) in enumerate(pairwise(written)):
        if before != "[]":
            yield found(before == after, f"/exchanges/{index + 1}/request", "the tools changed")


@read_once
def _schemas(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the tools of a request with their schemas, in any format."""
    for tool in objects([body.get("tools"), body.get("toolConfig")]):
        keys = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema", "inputSchema")
        schema = next((tool[key] for key in keys if isinstance(tool.get(key), dict)), None)
        if schema is not None and isinstance(tool.get("name"), str):
            yield tool["name"], schema.get("json", schema)


def _words(schema: Any) -> set[str]:
    """Returns the names, values and descriptions of a schema: all that a model reads of it."""
    found: set[str] = set()
    for node in objects(schema):
        found |= set(node.get("properties") or {}) if isinstance(node.get("properties"), dict) else set()
        found |= {str(value) for value in node.get("enum") or () if value is not None}
        found |= {node["description"]} if isinstance(node.get("description"), str) else set()
    return found
