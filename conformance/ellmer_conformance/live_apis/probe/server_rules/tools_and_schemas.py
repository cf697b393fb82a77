"""Tool calls, their results, and values that fit a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ....contract.rule import Finding
from ..answer_fields import misfits
from ..questions import SCHEMA, TOOL
from ..server_answer import Heard
from ._rulebook import HERE, LOSS, MUST, REFERENCE, book, found


@book.rule("SRV-020", MUST, LOSS, source=REFERENCE)
def calls_are_whole(heard: Heard) -> Iterator[Finding]:
    """A forced tool is called: by its name, with an id, and with arguments that match its schema.

    Why: a client runs the tool with these arguments. An answer that the token limit ended is not judged.
    """
    if not heard.answered or heard.question.name != "tool_call" or heard.told is None:
        return
    if heard.told.stop == "length":
        return
    yield found(heard.told.calls or heard.wire == "ollama", HERE, "no tool is called")
    ids = [call.id for call in heard.told.calls]
    yield found(len(set(ids)) == len(ids), HERE, f"calls share an id: {ids}")
    for call in heard.told.calls:
        yield found(call.id or heard.wire in {"gemini", "ollama"}, HERE, "the call has no id")
        yield found(call.name == TOOL[0], HERE, f"{call.name!r} is called, and {TOOL[0]!r} was offered")
        named = set(SCHEMA["required"])
        fits = call.arguments is not None and named <= set(call.arguments)
        fits = fits and all(isinstance(value, str) for value in (call.arguments or {}).values())
        yield found(fits, HERE, f"the arguments {call.text or call.arguments!r} do not fit the schema")


@book.rule("SRV-021", MUST, LOSS, source=REFERENCE)
def results_are_taken(heard: Heard) -> Iterator[Finding]:
    """A call that is sent back with its result is answered.

    Why: a conversation with tools consists of such rounds.
    """
    if heard.kind == "question" and heard.question.name == "tool_result" and heard.able.get("tools"):
        told = heard.told
        fine = heard.status == 200 and told is not None and (told.text or told.calls)
        yield found(fine, HERE, f"the answer is {heard.status}: {heard.value!r:.200}")


@book.rule("SRV-022", MUST, LOSS, source="https://developers.openai.com/api/docs/guides/structured-outputs")
def values_fit_their_schema(heard: Heard) -> Iterator[Finding]:
    """An answer to a question with a schema is JSON that matches it. An answer that the token limit ended is not
    judged.

    Why: a value that does not fit its schema fails later, far from its cause.
    """
    if (
        heard.answered
        and heard.question.schema
        and heard.told is not None
        and heard.told.stop != "length"
        and heard.able.get("structured output")
    ):
        wrong = next((problem for _, problem in misfits(_json(heard.told.text), {"city": str})), "")
        yield found(not wrong, HERE, f"{heard.told.text[:80]!r}: {wrong}")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
