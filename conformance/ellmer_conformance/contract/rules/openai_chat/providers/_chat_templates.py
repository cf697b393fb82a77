"""What the chat templates of open models ask of the messages. Each server that renders them refuses in the template's words, within its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....observed.exchange import Request
from ....readers.openai_chat import messages
from ....rule import Finding, Refusal, broken, met
from ....rulebook import RuleBook
from .._refusals_and_examples import ASK, MUST, REJECT, body

_SAID = {"role": "assistant", "content": "5"}
_BRIEF = {"role": "system", "content": "Be brief."}
_ANY_QWEN = "*[Qq]wen3.[56]*"
_GEMMA, _QWEN, _OSS = "google/gemma-3-27b-it", "Qwen/Qwen3.6-27B", "openai/gpt-oss-20b"
_CALLS = {
    "role": "assistant",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}],
}
_RESULT = {"role": "tool", "tool_call_id": "a", "content": "5"}


def add_template_rules(book: RuleBook, worded: Callable[[str], Refusal]) -> None:
    """Adds the rules of chat templates to the book of a server.

    Args:
        book: The book of the server.
        worded: A function that returns the server's answer for the words of a template.
    """
    for rule in (_sides_alternate, _the_system_prompt_is_first, _the_user_asks, _results_follow_calls):
        rule(book, worded)


def _sides_alternate(book: RuleBook, worded: Callable[[str], Refusal]) -> None:
    book.rule(
        "ORD-009",
        MUST,
        REJECT,
        source=[
            "https://github.com/nextai-translator/raycast-openai-translator/issues/34 (gemma-3-27b-it)",
            "https://github.com/idiap/sdialog/issues/122 (gemma3 and ministral3)",
            "https://github.com/mistralai/mistral-vibe/issues/1006 (Devstral Small 2 and Mistral Small)",
            "https://github.com/vllm-project/vllm/issues/12742 (deepseek-vl2, a template of this kind)",
        ],
        refusal=worded("Conversation roles must alternate user/assistant/user/assistant/..."),
        formerly=[
            worded(
                "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."
            )
        ],
        models=["*gemma-3*", "*gemma3*", "*[Dd]evstral*", "*[Mm]inistral*"],
        examples=[body(_BRIEF, ASK, _SAID, ASK, model=_GEMMA)],
        counterexamples=[body(ASK, ASK, model=_GEMMA)],
    )(sides_alternate)


def _the_system_prompt_is_first(book: RuleBook, worded: Callable[[str], Refusal]) -> None:
    book.rule(
        "SYS-008",
        MUST,
        REJECT,
        source=[
            "https://github.com/vllm-project/vllm/issues/41114 (Qwen3.6-27B)",
            "https://github.com/intuitem/ciso-assistant-community/issues/4679 (Qwen3.5 122B)",
        ],
        refusal=worded("System message must be at the beginning."),
        models=[_ANY_QWEN],
        examples=[body(_BRIEF, ASK, model=_QWEN)],
        counterexamples=[body(ASK, _SAID, _BRIEF, ASK, model=_QWEN)],
    )(the_system_prompt_is_first)


def _the_user_asks(book: RuleBook, worded: Callable[[str], Refusal]) -> None:
    book.rule(
        "REQ-149",
        MUST,
        REJECT,
        source=[
            "https://github.com/langgenius/dify/issues/33152 (Qwen3.5-27B)",
            "https://huggingface.co/Qwen/Qwen3.5-27B/blob/main/chat_template.jinja",
        ],
        refusal=worded("No user query found in messages."),
        models=[_ANY_QWEN],
        examples=[body(ASK, model=_QWEN)],
        counterexamples=[body(_BRIEF, model=_QWEN)],
    )(the_user_asks)


def _results_follow_calls(book: RuleBook, worded: Callable[[str], Refusal]) -> None:
    book.rule(
        "PAIR-023",
        MUST,
        REJECT,
        source=[
            "https://github.com/HKUDS/nanobot/issues/2007",
            "https://github.com/openai/codex/issues/8816",
            "https://huggingface.co/openai/gpt-oss-20b/blob/main/chat_template.jinja",
            "https://huggingface.co/MiniMaxAI/MiniMax-M2/blob/main/chat_template.jinja",
        ],
        refusal=worded(
            "Message has tool role, but there was no previous assistant message with a tool call!"
        ),
        models=["*gpt-oss*", "*[Mm]ini[Mm]ax-[Mm]2*"],
        examples=[body(ASK, _CALLS, _RESULT, _RESULT, model=_OSS)],
        counterexamples=[body(ASK, _RESULT, model=_OSS), body(ASK, _CALLS, _SAID, _RESULT, model=_OSS)],
    )(results_follow_calls)


def sides_alternate(request: Request) -> Iterator[Finding]:
    """After the system messages, user and assistant messages alternate, starting with the user.

    Fix: merge consecutive user messages.
    """
    found = [(pointer, message.get("role")) for pointer, message in messages(request.body)]
    while found and found[0][1] == "system":
        found.pop(0)
    before = "assistant"
    for pointer, role in found:
        side = "assistant" if role == "assistant" else "user"
        wrong = side == before and role != "tool"
        yield (
            broken(pointer, f"a message of the role {role} follows one of the role {before}")
            if wrong
            else met(pointer)
        )
        before = side


def the_system_prompt_is_first(request: Request) -> Iterator[Finding]:
    """A system message is the first message.

    Fix: put the text into the system prompt, or into a message of the user.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "system":
            yield broken(pointer, "messages stand before it") if index else met(pointer)


def the_user_asks(request: Request) -> Iterator[Finding]:
    """At least one message is the user's.

    Fix: when you shorten the history, keep the last question.
    """
    asked = any(message.get("role") == "user" for _, message in messages(request.body))
    yield met("/messages") if asked else broken("/messages", "no message is the user's")


def results_follow_calls(request: Request) -> Iterator[Finding]:
    """The last assistant message before a tool message has tool calls.

    Fix: when you shorten the history, drop a call and its results together.
    """
    calls = False
    for pointer, message in messages(request.body):
        if message.get("role") == "assistant":
            calls = bool(message.get("tool_calls"))
        elif message.get("role") == "tool":
            yield met(pointer) if calls else broken(pointer, "no call is before this result")
