"""Structured output: the requested value, or an error that says why there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from .....scenarios.case import Ask
from .....scenarios.messages import Reply
from .....scenarios.script import Answer, StructuredAnswer
from ....observed.exchange import Json
from ....observed.run import Run
from ....readers.json_access import items_of, object_of
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found, objects
from ..requests.tool_schemas import CONSTRAINTS, Nested, lost_constraints, lost_of, unknown_words


@book.rule(
    "STO-011",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/structured-outputs",
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
        "https://github.com/quarkiverse/quarkus-langchain4j/issues/1423",
        "https://github.com/stella/stella/pull/1548 (bounds)",
        "https://github.com/pydantic/pydantic-ai/pull/6590 (words beside a reference)",
    ],
)
def schemas_are_sent(run: Run) -> Iterator[Finding]:
    """A request for structured output sends the schema: as a response format, as a tool, or in words if the
    API supports neither.

    Why: a model that does not get the schema answers in a form of its own. After tools have been called, the request that gets
    the value has the schema, too. A bound, a pattern or another constraint may be told in a description, for an API that does not take
    its keyword; so may the words beside a reference, where an API takes none, at what it refers to.
    Fix: send the schema as the caller gave it, and write what the API does not take into a description.
    """
    for index, schema in _due(run).items():
        exchange = run.exchanges[index]
        body = json.dumps(exchange.request.body).replace("\\", "")  # also where it is JSON in a text
        missing = [name for name in schema.get("properties", ()) if f'"{name}"' not in body]
        problem = f"the request says nothing of {', '.join(missing)}"
        yield found(not missing, f"/exchanges/{index}/request", problem)
        for sent in () if missing else _schemas_with(schema, exchange.request.body):
            root = _definitions(exchange.request.body)
            lost = list(lost_of(dict(schema), sent, root, "value"))
            whole = Nested(dict(schema), dict(schema)), Nested(sent, root)
            lost += lost_constraints(*whole, "value", CONSTRAINTS - {"default"})
            lost += unknown_words(dict(schema), sent, "value", exchange.request.body)
            yield found(not lost, f"/exchanges/{index}/request", "; ".join(lost[:3]))


@book.rule("STO-002", MUST, LOSS, source="https://github.com/agno-agi/agno/issues/5901")
def values_are_handed_over(run: Run) -> Iterator[Finding]:
    """A value that matches its schema reaches the caller unchanged.

    Why: a changed value is wrong data, and no error says so. A program of `--command` may round whole numbers above
    2^53, because its language may have no others. Fix: parse the JSON once, and return the parsed value; do not round
    numbers or rename keys.
    """
    for index, wanted, reply in _asked(run):
        if wanted.outcome == "answered":
            problem = f"the value is {reply.value!r}, the model said {wanted.value!r} ({reply.error!r})"
            yield found(_same(run, reply.value, wanted.value), f"/replies/{index}", problem)


def _same(run: Run, got: object, wanted: object) -> bool:
    if run.way != "command":
        return got == wanted
    rounded, said = (json.loads(json.dumps(each), parse_int=float) for each in (got, wanted))
    return bool(rounded == said)


@book.rule("STO-003", MUST, LOSS, source="https://github.com/ValueCell-ai/valuecell/issues/218")
def misfits_are_errors(run: Run) -> Iterator[Finding]:
    """A value that does not match its schema raises an error and is not returned.

    Why: a value of another type fails later, in another place of the program. Fix: validate the value against its
    schema before it is handed over.
    """
    for index, wanted, reply in _asked(run):
        if wanted.outcome == "incomplete" and not _short(run):
            yield found(reply.error is not None, f"/replies/{index}", f"{reply.value!r} was handed over")


@book.rule("STO-004", MUST, LOSS, source="https://github.com/posit-dev/chatlas/issues/315")
def short_values_say_so(run: Run) -> Iterator[Finding]:
    """A value that the token limit truncated raises an error that names the limit, not the JSON.

    Why: the caller can raise a limit that the error names, and would otherwise blame the JSON. Fix: look at the stop
    reason before the JSON is parsed.
    """
    for index, wanted, reply in _asked(run):
        if wanted.outcome == "incomplete" and _short(run):
            message = f"{type(reply.error).__name__} {reply.error}".lower()
            named = any(
                word in message for word in ("length", "limit", "max", "truncat", "incomplete", "cut")
            )
            problem = f"it raises {reply.error!r}" if reply.error else f"{reply.value!r} was handed over"
            yield found(reply.error is not None and named, f"/replies/{index}", problem)


def _due(run: Run) -> Mapping[int, Mapping[str, Any]]:
    """Returns the requests that need a schema, with the schema: the first ones, and those that got the value."""
    asked = [wanted.schema for _, wanted, _ in _asked(run) if wanted.schema]
    with_value = (index for index, step in run.answered() if isinstance(step, StructuredAnswer))
    due = {**dict(enumerate(asked)), **dict.fromkeys(with_value, asked[-1] if asked else {})}
    return {index: schema for index, schema in due.items() if index < len(run.exchanges)}


def _schemas_with(schema: Mapping[str, Any], body: Json) -> Iterator[Json]:
    """Yields the schema in a request that has most of the wanted one: the first, as its parts may be alike. The names that it
    requires tell it, too, if its properties are lost.
    """
    wanted = {*schema.get("properties", ())}
    elsewhere = {"messages", "input", "contents"}
    held = list(
        objects([{key: value for key, value in body.items() if key not in elsewhere}, *_parsed(body)])
    )
    has = [
        (
            len(wanted & {*object_of(each.get("properties"))}),
            len(wanted & {*map(str, items_of(each.get("required")))}),
        )
        for each in held
    ]
    if any(map(any, has)):
        yield held[has.index(max(has))]


def _definitions(body: Json) -> Json:
    """Returns all named schemas of a request. A schema may be one of them, and refer to another."""
    held = objects([body, *_parsed(body)])
    named = [object_of(each.get(key)) for each in held for key in ("$defs", "definitions")]
    return {"$defs": {name: schema for each in named for name, schema in each.items()}}


def _parsed(body: Json) -> Iterator[Json]:
    """Yields a schema that a request has as JSON text (Bedrock)."""
    held = object_of(object_of(object_of(body.get("outputConfig")).get("textFormat")).get("structure"))
    text = object_of(held.get("jsonSchema")).get("schema")
    if isinstance(text, str):
        with suppress(ValueError):
            yield object_of(json.loads(text))


def _asked(run: Run) -> Iterator[tuple[int, Ask, Reply]]:
    """Yields each step that asks for a value, with its reply."""
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if wanted.schema is not None and not run.refused:
            yield index, wanted, reply


def _short(run: Run) -> bool:
    return any(isinstance(step, Answer) and step.stop == "length" for step in run.case.script)
