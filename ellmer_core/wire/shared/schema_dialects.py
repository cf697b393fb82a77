"""Converts JSON Schema to the keywords that a provider's grammar supports. Unsupported keywords are described in the
description, for the model. The conversion of the answer checks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...schemas.refs_and_defs import DATA
from .json_bodies import json_text

__all__ = ["ANTHROPIC", "OPENAI", "Dialect", "bare_references"]

Json = dict[str, Any]

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)  # of strings, that both know
_MAPS = frozenset({"properties", "$defs", "definitions"})
_LISTS = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})


class Dialect(NamedTuple):
    """A dialect. `unknown`: keywords that are refused. `closes`: objects have no other properties by default."""

    unknown: frozenset[str]
    formats: frozenset[str]
    renamed: Mapping[str, str] = MappingProxyType({})
    closes: bool = False

    def say(self, schema: Any) -> Any:
        """Returns the schema in this dialect. The original does not change."""
        if not isinstance(schema, Mapping):
            return schema
        said = {self.renamed.get(k, k): self._inside(k, v) for k, v in schema.items() if self._knows(k, v)}
        notes = [f"{k}: {json_text(v)}" for k, v in schema.items() if not self._knows(k, v) and k[:1] != "$"]
        if self.closes and (said.get("type") == "object" or "properties" in said):
            said.setdefault("additionalProperties", False)
        if notes:
            description = said.get("description")
            said["description"] = "\n\n".join([*([description] if description else []), ", ".join(notes)])
        return said

    def _knows(self, keyword: str, value: Any) -> bool:
        if keyword == "format":
            return str(value) in self.formats
        if keyword == "minItems" and self.closes:
            return value in (0, 1)
        return keyword not in self.unknown

    def _inside(self, keyword: str, value: Any) -> Any:
        if keyword in _MAPS and isinstance(value, Mapping):
            return {name: self.say(inner) for name, inner in value.items()}
        if keyword in _LISTS and isinstance(value, list):
            return [self.say(inner) for inner in value]
        return self.say(value) if keyword in {"items", "additionalProperties"} else value


def bare_references(schema: Any) -> Any:
    """Returns the schema with nothing beside a reference: `If $ref is set on a sub-schema, no other properties … may
    be set` (Google).
    """
    if isinstance(schema, list):
        return [bare_references(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    alone = isinstance(schema.get("$ref"), str)
    return {k: v if k in DATA else bare_references(v) for k, v in schema.items() if not alone or k[:1] == "$"}


#: https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas; `'uri' is not a valid format`
#: (cyanheads/git-mcp-server#47), lengths depend on the model (openai/openai-node#1988).
OPENAI = Dialect(frozenset({"minLength", "maxLength", "default"}), _FORMATS)

#: https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations; Bedrock has the
#: same: `For 'integer' type, property 'minimum' is not supported` (agentjido/req_llm#302).
ANTHROPIC = Dialect(
    frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"}
        | {"pattern", "maxItems", "uniqueItems", "prefixItems", "contains", "minProperties", "maxProperties"}
        | {"propertyNames", "patternProperties", "examples", "default", "$schema", "$id", "$comment"}
    ),
    _FORMATS | {"uri"},
    renamed={"oneOf": "anyOf"},
    closes=True,
)
