"""Rules about a captured conversation. Each is a SHOULD, because the request itself may have been right."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...contract import readers
from ...contract.exchange import Json, Request
from ...contract.readers.gen_ai_span import WIRE
from ...contract.rule import Finding, Kind, Level, broken, met
from ...contract.rulebook import RuleBook
from ...contract.rules.common import enter
from ...scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn

__all__ = ["BOOK"]

BOOK = RuleBook(WIRE)
_SOURCE = "https://github.com/open-telemetry/semantic-conventions-genai"


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a body in the form of `spans`."""
    return {
        "messages": [{"role": turn.role, "parts": [_part(part) for part in turn.parts]} for turn in turns]
    }


def _part(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "text", "content": text}
        case ToolCall(id, name, arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": dict(arguments)}
        case ToolResult(id, value):
            return {"type": "tool_call_response", "id": id, "response": value}
        case Image(data, type):
            content = b64encode(data).decode()
            return {"type": "blob", "modality": "image", "mime_type": type, "content": content}
        case _:
            raise TypeError(f"no rule of spans has an example with {part!r}")


_ASK, _CALL, _RESULT = (
    Turn("user", (Text("Add."),)),
    Turn("assistant", (ToolCall("a", "add"),)),
    ToolResult("a", "5"),
)
_FINE = conversation([_ASK, _CALL, Turn("user", (_RESULT,))])


@BOOK.rule(
    "PAIR-001",
    Level.SHOULD,
    Kind.LOSS,
    source=_SOURCE,
    examples=[_FINE],
    counterexamples=[conversation([_ASK, _CALL, _ASK])],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every call has a result before the conversation goes on.

    Why: most APIs refuse the request, and otherwise the model lacks the result. Fix: send a result that says why
    there is none.
    """
    items = readers.read(request)
    answered = {item.id for item in items if item.kind == "result"}
    for item in items:
        if item.kind == "call" and item.id:
            fine = item.id in answered
            yield met(item.pointer) if fine else broken(item.pointer, f"no result for {item.id!r}")


@BOOK.rule(
    "PAIR-002",
    Level.SHOULD,
    Kind.LOSS,
    source=_SOURCE,
    examples=[_FINE],
    counterexamples=[conversation([_ASK, Turn("user", (_RESULT,))])],
)
def results_answer_calls(request: Request) -> Iterator[Finding]:
    """A result answers a call that comes before it.

    Why: a history that was truncated between the two is refused. Fix: drop or keep both.
    """
    called: set[str] = set()
    for item in readers.read(request):
        if item.kind == "call":
            called.add(item.id)
        elif item.kind == "result" and item.id:
            fine = item.id in called
            yield met(item.pointer) if fine else broken(item.pointer, f"no call {item.id!r} before it")


@BOOK.rule(
    "ORD-002",
    Level.SHOULD,
    Kind.LOSS,
    source=_SOURCE,
    examples=[_FINE],
    counterexamples=[conversation([_ASK, _CALL, Turn("user", (Text("Well?"), _RESULT))])],
)
def results_follow_their_calls(request: Request) -> Iterator[Finding]:
    """The results come directly after the calls, without other content between them.

    Why: Chat Completions and Anthropic refuse content between a call and its result. Fix: send the results first.
    """
    waiting: set[str] = set()
    between = False
    for item in readers.read(request):
        if item.kind == "call":
            waiting, between = waiting | {item.id}, False
        elif item.kind == "result" and item.id in waiting:
            yield (
                broken(item.pointer, "something is said before this result") if between else met(item.pointer)
            )
            waiting.discard(item.id)
        elif waiting and item.role == "user":
            between = True


enter(BOOK, conversation)
BOOK.rules |= {id: replace(rule, level=Level.SHOULD) for id, rule in BOOK.rules.items()}
