"""Messages: text only, and roles that DeepSeek knows."""

from __future__ import annotations

from collections.abc import Iterator

from .....exchange import Request
from .....readers.openai_chat import messages, parts
from .....rule import Finding, broken, met
from ..._rulebook import ASK, IMAGE, MUST, REJECT, body, call, result
from ._refusals import column, refused, unknown_role
from ._rulebook import deepseek


@deepseek.rule(
    "REQ-007",
    MUST,
    REJECT,
    source="recorded refusal of an object as content (deepseek-chat)",
    refusal=refused(
        "Failed to deserialize the JSON body into the target type: messages[{index}]: data did not match any variant "
        "of untagged enum ChatCompletionRequestContent at line 1 column 96",
        status=422,
    ),
    examples=[body(ASK, model="deepseek-chat")],
    counterexamples=[body({"role": "user", "content": {"type": "text"}}, model="deepseek-chat")],
)
def content_is_text_or_a_list(request: Request) -> Iterator[Finding]:
    """Content is a string or a list of parts."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        right, place = isinstance(message.get("content", ""), str | list | None), f"{pointer}/content"
        yield met(place) if right else broken(place, "neither a string nor a list", index=index)


_ROLES = "`system`, `user`, `assistant`, `tool`"


@deepseek.rule(
    "REQ-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/decolua/9router/issues/773 (deepseek-v4-pro)",
        "https://github.com/losesky/ai-auto-trading/issues/14 (deepseek-chat)",
        "https://github.com/eclipse-theia/theia/issues/15144 (2025)",
    ],
    refusal=unknown_role(f"{_ROLES}, `latest_reminder`"),
    formerly=[unknown_role(_ROLES), unknown_role(_ROLES, 422)],
    examples=[body({"role": "system", "content": "Be brief."}, ASK, model="deepseek-chat")],
    counterexamples=[body({"role": "developer", "content": "Be brief."}, ASK, model="deepseek-chat")],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is `system`, `user`, `assistant` or `tool`, not `developer`."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        role, place = message.get("role"), f"{pointer}/role"
        known = role in {"system", "user", "assistant", "tool", "latest_reminder"}
        facts = {
            "index": index,
            "role": role,
            "column": 0 if known else column(request.body, str(role), "role"),
        }
        yield met(place) if known else broken(place, f"{role!r} is not a role", **facts)


@deepseek.rule(
    "IMG-013",
    MUST,
    REJECT,
    source="recorded refusals of `image_url`, `file`, `input_audio` and `video_url` (deepseek-v4-flash)",
    refusal=refused(
        "Failed to deserialize the JSON body into the target type: messages[{index}]: unknown variant `{type}`, "
        "expected `text` at line 1 column {column}"
    ),
    models=["deepseek-v4*", "deepseek-chat", "deepseek-reasoner", "!*vision*"],
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, model="deepseek-chat")],
    counterexamples=[
        body({"role": "user", "content": [IMAGE]}, model="deepseek-chat"),
        body(ASK, call("a"), result("a", [IMAGE]), model="deepseek-chat"),
    ],
)
def parts_are_text(request: Request) -> Iterator[Finding]:
    """Every content part is text.

    Fix: describe the content in words.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for place, part in parts(message, pointer):
            kind = part.get("type")
            if isinstance(kind, str) and kind != "text":
                facts = {"index": index, "type": kind, "column": column(request.body, kind)}
                yield broken(place, f"a message has a part of type {kind}", **facts)
            else:
                yield met(place)
