"""Fields that Groq requires, and fields of other providers that it refuses."""

from __future__ import annotations

from collections.abc import Iterator

from .....exchange import Request
from .....readers.json_access import words
from .....readers.openai_chat import messages
from .....rule import Finding, broken, met
from ..._rulebook import ASK, MUST, REJECT, body, call, result
from ._rulebook import groq, refused

FOREIGN_OPTIONS = frozenset(
    words("verbosity reasoning thinking enable_thinking top_k min_p repetition_penalty")
)
FOREIGN = {"assistant": ("status", "reasoning_content"), "user": ("tool_calls",)}


@groq.rule(
    "ORD-014",
    MUST,
    REJECT,
    source="https://github.com/hackclub/ai/issues/22",
    refusal=refused("'messages.{index}' : for 'role:tool' the following must be satisfied[({what})]"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(ASK, call("a"), {"role": "tool", "content": "5"}),
        body(ASK, call("a"), {"role": "tool", "tool_call_id": "a"}),
    ],
)
def results_are_whole(request: Request) -> Iterator[Finding]:
    """A tool message has a `tool_call_id` and content."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "tool":
            for key in ("tool_call_id", "content"):
                what = f"'messages.{index}.{key}' : property '{key}' is missing"
                given = message.get(key) is not None
                yield (
                    met(pointer) if given else broken(pointer, f"`{key}` is missing", index=index, what=what)
                )


@groq.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=[
        "https://github.com/CherryHQ/cherry-studio/issues/11435 (verbosity)",
        "https://github.com/musistudio/llms/pull/64 (reasoning)",
    ],
    refusal=refused("property '{key}' is unsupported"),
    examples=[body(ASK, reasoning_effort="low")],
    counterexamples=[body(ASK, verbosity="low"), body(ASK, reasoning={"effort": "low"}), body(ASK, top_k=5)],
)
def there_are_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """The request has no options of other providers, such as `verbosity` and `reasoning`.

    Why: Groq checks requests against a closed schema.
    """
    for key in request.body:
        known = key not in FOREIGN_OPTIONS
        yield met(f"/{key}") if known else broken(f"/{key}", f"`{key}` is not a parameter", key=key)


@groq.rule(
    "REQ-045",
    MUST,
    REJECT,
    source=[
        "https://github.com/run-llama/llama_index/issues/14701",
        "https://github.com/julep-ai/julep/issues/885",
        "https://github.com/NousResearch/hermes-agent/issues/11089 (reasoning_content)",
    ],
    refusal=refused(
        "'messages.{index}' : for 'role:{role}' the following must be "
        "satisfied[('messages.{index}' : property '{key}' is unsupported)]"
    ),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(ASK, {"role": "assistant", "content": "5", "status": "completed"}, ASK),
        body(ASK, {"role": "assistant", "content": "5", "reasoning_content": "2 + 3 …"}, ASK),
        body({**ASK, "tool_calls": []}),
    ],
)
def messages_have_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """An assistant message has no `status` and no `reasoning_content`, and a user message has no `tool_calls`.

    Why: Groq checks messages against a closed schema. Fix: send only the fields of the format, and do not
    send whole answers back.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        role = message.get("role")
        for key in FOREIGN.get(str(role), ()):
            facts = {"index": index, "role": role, "key": key}
            problem, given = f"`{key}` is none of its fields", message.get(key) is not None
            yield broken(f"{pointer}/{key}", problem, **facts) if given else met(pointer)
