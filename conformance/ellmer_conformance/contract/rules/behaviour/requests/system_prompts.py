"""The system prompt: whole, once, and in the place that the wire format defines for it."""

from __future__ import annotations

from collections.abc import Iterator

from .....scenarios.messages import Text
from ....counts import times
from ....observed.exchange import Item
from ....observed.run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found, taken

#: Formats whose system prompt is a message, the first one.
_AMONG_MESSAGES = {"openai-chat", "mistral", "cohere", "ollama"}


@book.rule(
    "SYS-001",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/api/messages",
        "https://github.com/interviewstreet/hiring-agent/issues/342",
    ],
)
def system_prompts_are_in_their_place(run: Run) -> Iterator[Finding]:
    """Every request has the current system prompt, in the place that the wire format defines for it.

    Why: in another place, the model reads it as words of the user or of its own. A prompt that the caller replaced is
    not sent any more. Fix: put the prompt into the format's own field or message, and read it anew for each request.
    """
    for index, items in taken(run):
        prompt, replaced = _prompts(run, index)
        texts = "\n".join(item.text for item in items if item.kind == "system" or item.role == "system")
        place = f"/exchanges/{index}/request"
        if prompt:
            first = next((at for at, item in enumerate(items) if item.role not in {"system", ""}), len(items))
            told = any(prompt in item.text for item in items[:first]) or run.wire not in _AMONG_MESSAGES
            yield found(prompt in texts and told, place, "the system prompt is not in its place")
        for old in replaced:
            yield found(old not in texts, place, f"the caller replaced the prompt {old[:60]!r}")


@book.rule("SYS-003", MUST, LOSS, source="https://github.com/olimorris/codecompanion.nvim/issues/2522")
def system_prompts_arrive_once(run: Run) -> Iterator[Finding]:
    """The whole system prompt is sent once and in order.

    Why: a model does not follow instructions that it did not get. Fix: join the parts of the prompt in order, and add
    it while the request is built, not to the history.
    """
    users = [part.text for ask in run.case.steps for part in ask.parts if isinstance(part, Text)]
    for index, items in enumerate(run.sent_items):
        prompt, _ = _prompts(run, index)
        if not prompt or not run.case.system:
            continue
        told = any(prompt in text for text in users)  # the user may say the same
        count = sum(item.text.count(prompt) for item in items if _is_said(item, alone=told))
        yield found(count == 1, f"/exchanges/{index}/request", f"the system prompt is sent {times(count)}")


def _prompts(run: Run, index: int) -> tuple[str, list[str]]:
    """Returns the system prompt that holds for a request, and the ones that it replaced."""
    step = run.step_of(index)
    if step is None or "changed_prompt" in run.refused:
        return run.case.system or "", []
    set_before = [ask.instructed for ask in run.case.steps[: step + 1] if ask.instructed]
    *replaced, prompt = [run.case.system or "", *set_before]
    return prompt, [old for old in replaced if old and old not in prompt]


def _is_said(item: Item, *, alone: bool) -> bool:
    """Tells whether this item has the system prompt. A repetition by the model does not count; with `alone`, one in
    the user's text does not count either.
    """
    return item.kind == "system" or (item.role == "user" and item.kind == "text" and not alone)
