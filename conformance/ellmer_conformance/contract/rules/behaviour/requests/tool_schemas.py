"""The tools of a request: their schemas are complete, and the same in every request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ....exchange import Json
from ....observed_run import Run
from ....rule import Finding
from .._rulebook import LOSS, SHOULD, book, found, objects


@book.rule("SCH-006", SHOULD, LOSS, source="https://github.com/elidickinson/pi-claude-bridge/issues/44")
def schemas_mean_the_same(run: Run) -> Iterator[Finding]:
    """The properties, enums, descriptions, nested objects and arrays of a tool's schema reach the provider.

    Why: a model chooses arguments by the schema, and guesses where it has none.
    """
    wanted = {tool.name: tool.parameters for tool in run.case.tools}
    for index, exchange in enumerate(run.exchanges):
        for name, schema in _schemas(exchange.request.body):
            lost = sorted(_words(wanted.get(name, {})) - _words(schema))
            yield found(not lost, f"/exchanges/{index}/request", f"the schema of {name} lost {lost}")


@book.rule("SCH-007", SHOULD, LOSS, source="https://github.com/maximhq/bifrost/issues/3362")
def tools_are_written_alike(run: Run) -> Iterator[Finding]:
    """Every request of a conversation has the same tools in the same order and form.

    Why: providers cache the beginning of a request, which contains the tools, byte for byte.
    """
    written = [json.dumps(list(_schemas(e.request.body))) for e in run.exchanges]
    for index, (before, after) in enumerate(pairwise(written)):
        if before != "[]":
            yield found(before == after, f"/exchanges/{index + 1}/request", "the tools changed")


def _schemas(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the tools of a request with their schemas, in any format."""
    for tool in objects([body.get("tools"), body.get("toolConfig")]):
        keys = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
        schema = next((tool[key] for key in keys if isinstance(tool.get(key), dict)), None)
        if schema is not None and isinstance(tool.get("name"), str):
            yield tool["name"], schema.get("json", schema)


def _words(schema: Any) -> set[str]:
    """Returns the names, values and descriptions of a schema: all that a model reads of it."""
    found: set[str] = set()
    for one in objects(schema):
        found |= set(one.get("properties") or {}) if isinstance(one.get("properties"), dict) else set()
        found |= {str(value) for value in one.get("enum") or () if value is not None}
        found |= {one["description"]} if isinstance(one.get("description"), str) else set()
    return found
