"""Calls and responses: a turn with function calls is followed by a turn with as many responses; and the values beside a
response's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ...counts import counted
from ...observed.exchange import Json, Request
from ...readers.gemini import contents, declarations, get, key_of, parts, repeated
from ...readers.json_access import text_of
from ...rule import Finding, broken, met
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    LOSS,
    MUST,
    REJECT,
    SIGNED,
    TOOLS,
    answer,
    body,
    book,
    call,
    model,
    refused,
    text,
    user,
)

# --- The conversation as the API judges it --------------------------------------------------------------

# The Gemini API merges consecutive contents of one role, Vertex AI merges only the model's: a recording at Vertex shows that a call and
# an empty text in two contents, then the response, are accepted (gemini-3.5-flash).


@dataclass
class Turn:
    """The parts of one role, each with its pointer; `index` is that of the first content."""

    index: int
    pointer: str
    model: bool
    parts: list[tuple[str, Json]] = field(default_factory=list)

    def of(self, key: str) -> list[tuple[str, Json]]:
        """Returns the calls (`functionCall`) or responses (`functionResponse`) with the pointers of their
        parts.
        """
        return [(pointer, value) for pointer, part in self.parts if isinstance(value := get(part, key), dict)]


@lru_cache(maxsize=4)
def turns(request: Request) -> list[Turn]:
    """Returns the turns of a request."""
    found: list[Turn] = []
    for index, (pointer, content) in enumerate(contents(request.body)):
        model = content.get("role") == "model"
        if not found or found[-1].model != model or (request.provider == "vertex" and not model):
            found.append(Turn(index, pointer, model))
        found[-1].parts += parts(content, pointer)
    return found


def exchanges(request: Request) -> Iterator[tuple[Turn, Turn]]:
    """Yields each turn that calls functions, with the next turn. The last turn is not answered yet."""
    found = turns(request)
    for turn, following in pairwise(found):
        if turn.model and turn.of("functionCall"):
            yield turn, following


# --- Rules ----------------------------------------------------------------------------------------------


COUNT = refused(
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
#: Recorded by others, in public.
_UNCALLED = (
    "https://github.com/werdnum/family-assistant/blob/e7c0a0dbb9af5ca5d08585edc72aaaebbfe53a31/tests/"
    "cassettes/llm/test_thought_signature_multiturn_with_api.yaml"
)
PLACE = refused("Please ensure that function response turn comes immediately after a function call turn.")
COUNTED = [
    "recorded twice over: Vertex AI refused what the Gemini API, which merges, accepted",
    "https://github.com/google-gemini/gemini-cli/issues/16904",
]
OTHERS = ("text", "inlineData", "fileData")


@book.rule(
    "ORD-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/google-gemini/gemini-cli/issues/26486",
        "https://github.com/google-gemini/gemini-cli/issues/11814",
    ],
    refusal=refused(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    ),
    examples=[body(user(text("")), model(call()), user(answer()))],
    counterexamples=[body(model(call()), user(answer()))],
)
def the_user_starts(request: Request) -> Iterator[Finding]:
    """A conversation does not start with a function call.

    Why: the history was truncated. Fix: put a user content in front of it. An empty text is enough.
    """
    for turn in turns(request)[:1] if not get(request.body, "cachedContent") else ():
        calls = turn.model and bool(turn.of("functionCall"))
        yield broken(turn.pointer, "the conversation starts with a call") if calls else met(turn.pointer)


@book.rule(
    "PAIR-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/issues/27799",
        "https://github.com/google-gemini/deprecated-generative-ai-js/issues/267",
        f"accepted of gemini-2.0-flash-thinking-exp in November 2025: {_UNCALLED}",
        "https://github.com/maximhq/bifrost/pull/2222 (in a content of the model)",
    ],
    refusal=PLACE,
    models=["!gemini-2.0-flash-thinking*"],
    examples=[body(ASK, model(call()), user(answer()))],
    counterexamples=[
        body(ASK, user(answer())),
        body(ASK, model(text("5")), user(answer())),
        body(ASK, model(call()), model(answer())),
    ],
)
def responses_follow_calls(request: Request) -> Iterator[Finding]:
    """A turn with function responses comes directly after a turn with function calls. It is not a turn of the model.

    Fix: keep a call and its response together, in a turn of the model and in the user's turn after it.
    """
    before: Turn | None = None
    cached = bool(get(request.body, "cachedContent"))  # the call may be in there
    for turn in turns(request):
        for pointer, _ in turn.of("functionResponse")[:1]:
            called = bool(before and before.model and before.of("functionCall")) or (cached and not before)
            yield met(pointer) if called else broken(pointer, "the function response has no call before it")
        before = turn


@book.rule(
    "ORD-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain-google/pull/921 (media in front, tested against the API)",
        (
            "https://github.com/smstoslack/req_llm/blob/4f3a58b325b9dfc41fa91d3a29406957f2a7b40c/test/support/fixtures/"
            "google/gemini_3_1_pro_preview/tool_round_trip_2.json"
        ),
    ],
    refusal=PLACE,
    preview=True,  # the second source is an accepted text in front, and no refusal is on record
    examples=[
        body(ASK, model(call()), user(answer(), text("And 3 + 4?"))),
        body(ASK, model(call()), user(answer()), user(IMAGE)),
        body(ASK, model(call()), user(IMAGE, answer())),
    ],
    counterexamples=[
        body(ASK, model(call()), user(text("Here you are:"), answer())),
        body(ASK, model(call()), user(text("Here you are:")), user(answer())),
    ],
)
def responses_come_first(request: Request) -> Iterator[Finding]:
    """In the turn after function calls, function responses come before text.

    Fix: send the responses first, in the order of the calls, then the rest, preferably in a content of its own.
    """
    for _, following in exchanges(request):
        after_text = False
        for pointer, part in following.parts:
            if get(part, "functionResponse") is not None:
                yield broken(pointer, "a function response comes after text") if after_text else met(pointer)
            after_text = after_text or get(part, "text") is not None


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=[*COUNTED, "a call, and no function declared: recorded as accepted"],
    refusal=COUNT,
    models=["!gemini-1.5*", "!gemini-2*"],  # which accept it: llmrb/llm.rb has recordings of 2025
    examples=[
        body(ASK, model(call(**SIGNED)), user(answer()), tools=TOOLS, named="gemini-3.5-flash"),
        body(ASK, model(call(**SIGNED)), user(text("Never mind.")), named="gemini-3.5-flash"),
    ],
    counterexamples=[
        body(ASK, model(call(**SIGNED)), user(text("Never mind.")), tools=TOOLS, named="gemini-3.5-flash")
    ],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """If functions are declared, a turn with function calls is followed by their responses.

    Why: the function was cancelled, crashed, or ran into a limit. Fix: send a response that says what happened.
    """
    declared = any(True for _ in declarations(request.body))
    for turn, following in exchanges(request) if declared else ():
        names = ", ".join(text_of(each.get("name")) for _, each in turn.of("functionCall"))
        fine = bool(following.of("functionResponse"))
        yield met(turn.pointer) if fine else broken(turn.pointer, f"there is no response to {names}")


@book.rule(
    "PAR-003",
    MUST,
    REJECT,
    source=COUNTED,
    refusal=COUNT,
    examples=[
        body(ASK, model(call(), call()), user(answer(), answer())),
        body(ASK, model(call(), call()), user(answer()), user(answer())),
        body(ASK, model(call()), model(call()), user(answer(), answer())),
    ],
    counterexamples=[
        body(ASK, model(call(), call()), user(answer())),
        body(ASK, model(call()), user(answer(), answer())),
    ],
)
def as_many_responses_as_calls(request: Request) -> Iterator[Finding]:
    """A turn has as many function responses as the turn before it has function calls.

    Why: the Gemini API counts after it merges contents of one role; Vertex AI counts each content. Fix: put
    all responses of parallel calls into one content.
    """
    for turn, following in exchanges(request):
        calls, responses = len(turn.of("functionCall")), len(following.of("functionResponse"))
        if responses:
            problem = f"{counted(responses, 'response')} to {counted(calls, 'call')}"
            yield met(following.pointer) if calls == responses else broken(following.pointer, problem)


@book.rule(
    "PAIR-008",
    MUST,
    LOSS,
    source="https://ai.google.dev/gemini-api/docs/function-calling",
    examples=[
        body(ASK, model(call("add"), call("mul")), user(answer("add"), answer("mul"))),
        body(ASK, model(call("add"), call("mul")), user(answer("mul"), answer("add"))),
    ],
    counterexamples=[
        body(ASK, model(call("add")), user(answer("sum"))),
        body(
            *(ASK, model(call("add"), call("add"), call("mul"))),
            user(answer("add"), answer("mul"), answer("add")),
        ),
    ],
)
def responses_name_their_function(request: Request) -> Iterator[Finding]:
    """A function response has the name of the function that was called, matched by id, by unique name, or by
    the order of the calls.

    Why: without ids, the model can tell results apart only by name and order. Fix: remember the name of each call, and
    write it into the response.
    """
    for turn, following in exchanges(request):
        calls, answers = turn.of("functionCall"), following.of("functionResponse")
        ids = {each["id"]: each.get("name") for _, each in calls if text_of(each.get("id"))}
        names = [text_of(each.get("name")) for _, each in calls]
        named = len(set(names)) == len(names) and {text_of(each.get("name")) for _, each in answers} == set(
            names
        )
        for (_, function_call), (pointer, response) in zip(calls, answers, strict=False):
            wanted, name = ids.get(response.get("id"), function_call.get("name")), response.get("name")
            problem = f"a response of {name!r} to a call of {wanted!r}"
            yield met(pointer) if named or name == wanted else broken(pointer, problem)


@book.rule(
    "THK-003",
    MUST,
    REJECT,
    source=[
        "https://github.com/lbjlaq/Antigravity-Manager/issues/733",
        "https://github.com/nanbingxyz/5ire/issues/405",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
    ],
    refusal=refused(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
        "correctly, and missing thought_signature may lead to degraded model performance. Additional data, function "
        "call `default_api:{name}` , position {position}. Please refer to "
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    ),
    models=["gemini-3*"],
    examples=[
        body(ASK, model(call(**SIGNED), call()), user(answer(), answer()), named="gemini-3-flash-preview"),
        body(ASK, model(call()), user(answer()), ASK, named="gemini-3-flash-preview"),
    ],
    counterexamples=[body(ASK, model(call()), user(answer()), named="gemini-3-flash-preview")],
)
def calls_are_signed(request: Request) -> Iterator[Finding]:
    """From Gemini 3 on, the first function call of each step after the user's last text has its `thoughtSignature`.

    Why: the model continues its reasoning from the signature. Fix: send the part back unchanged. For a call
    from another model, or from a history that the caller wrote, send the value
    `skip_thought_signature_validator`, which Google documents for this purpose.
    """
    found = turns(request)
    spoke = max((i for i, turn in enumerate(found) if not turn.model and _speaks(turn)), default=-1)
    for turn in found[spoke + 1 :]:
        for pointer, part in turn.parts if turn.model else ():
            if isinstance(function_call := get(part, "functionCall"), dict):
                facts = {"name": function_call.get("name"), "position": turn.index + 1}
                signed = bool(get(part, "thoughtSignature"))
                yield met(pointer) if signed else broken(pointer, "the call is not signed", **facts)
                break


def _speaks(turn: Turn) -> bool:
    return any(_says(part) for _, part in turn.parts)


def _says(part: Json) -> bool:
    return any(get(part, key) is not None for key in OTHERS)


_SCHEMA = {"properties": {"x": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"type": "string"}}}
_WRITTEN = {"properties": {"x": {"_ref": "#/$defs/X"}}}


@book.rule(
    "TRM-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/14369",
        "https://github.com/twentyhq/twenty/issues/21712 (whatever the model)",
        "https://github.com/googleapis/python-genai/issues/2792",
    ],
    refusal=refused(
        "The referenced name `{name}` in function_response.response does not match to a display_name in the "
        "function_response.parts."
    ),
    examples=[body(ASK, model(call()), user(answer(response=_WRITTEN)), tools=TOOLS)],
    counterexamples=[body(ASK, model(call()), user(answer(response=_SCHEMA)), tools=TOOLS)],
)
def references_name_a_part(request: Request) -> Iterator[Finding]:
    """In the response of a function, `$ref` names a part of the same response by its display name.

    Why: the API reads every `$ref` in the response as such a name. Fix: send a result that contains a JSON Schema as text.
    """
    for pointer, content in contents(request.body):
        for place, part in parts(content, pointer):
            response = get(part, "functionResponse")
            if not isinstance(response, dict):
                continue
            shown = {_display_name(each) for _, each in repeated(response, "parts", place)}
            lost = [name for name in _names(response.get("response")) if name not in shown]
            where = f"{place}/{key_of(part, 'functionResponse')}/response"
            yield broken(where, f"{lost[0]} names no part", name=lost[0]) if lost else met(where)


def _display_name(part: Any) -> Any:
    return get(get(part, "inlineData"), "displayName") or get(get(part, "fileData"), "displayName")


def _names(value: Any) -> Iterator[str]:
    """Yields the names in all values of `$ref`, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _names(each)


#: Models whose refusal of a trailing model turn is on record. Gemini 2 to 3.1 and 3.5 Flash accept one.
_NO_PREFILL = ["gemini-3.5-flash-lite", "gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash"]


@book.rule(
    "ORD-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/LibreChat-AI/agents/pull/323 (gemini-3.6-flash, gemini-3.5-flash-lite)",
        "https://github.com/anomalyco/opencode/issues/45359 (gemini-3.7-flash)",
        "https://github.com/anomalyco/opencode/issues/47034 (gemini-3.8-flash)",
    ],
    refusal=refused("Requests ending with a model turn are not supported."),
    models=_NO_PREFILL,
    examples=[
        body(ASK, named="gemini-3.6-flash"),
        body(ASK, model(text("{")), ASK, named="gemini-3.8-flash"),
    ],
    counterexamples=[body(ASK, model(text("{")), named=name) for name in _NO_PREFILL],
)
def the_last_turn_is_no_turn_of_the_model(request: Request) -> Iterator[Finding]:
    """From Gemini 3.5 Flash-Lite and 3.6 Flash on, the last turn is not a turn of the model.

    Older models continue such a turn. Fix: ask for structured output instead of beginning the answer.
    """
    if found := turns(request):
        last = found[-1]
        yield (
            broken(last.pointer, "the last turn is a turn of the model") if last.model else met(last.pointer)
        )
