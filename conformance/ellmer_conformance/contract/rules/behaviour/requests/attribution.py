"""Each text, call and thought of a request has the role of the speaker who said it in this conversation.

These rules hold in every run, whatever its case: after a cancelled, cut, failed, repeated, restored or shortened turn, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .....scenarios.messages import PDF, Audio, Image, Text, ToolCall, ToolResult, Upload
from .....scenarios.script import Answer, Cut, Delivery, Failure, Step, StructuredAnswer, answers_of
from ....observed.exchange import Item
from ....observed.run import Run, all_media_of, exact_call
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found, squeezed, taken


@dataclass(frozen=True)
class _Said:
    """A text that somebody said. `partly` says that a beginning of it may be sent, `optional` that it may be left out."""

    said: str
    partly: bool = False
    optional: bool = True

    @cached_property
    def text(self) -> str:
        """The text without white space, which is compared."""
        return squeezed(self.said)


@book.rule(
    "HIS-011",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/working-with-messages",
        "https://github.com/NousResearch/hermes-agent/issues/100670",
    ],
)
def models_say_what_they_said(run: Run) -> Iterator[Finding]:
    """The model's turns in a request contain the model's own words from this conversation, in order, and no others.

    Why: a model continues from what it reads as its own words. An invented, changed or repeated turn makes it continue a
    conversation that nobody had. The beginning of an answer that was cut or cancelled may be kept, as it came. A
    placeholder without a word, such as the dot where Bedrock requires a text, does not count. A bracket does: it begins an answer
    that the model is to complete. Requests after a call that cannot be sent back are not judged, because the library has to
    describe this call in its own words.
    Fix: send answers back as they came, and leave out what the model did not say.
    """
    if not _is_followed(run):
        return
    for index, items in taken(run):
        sent = _joined(items, "assistant", "text")
        if sent and not _has_unreadable_calls(run, index):
            rest = _beyond(sent, [*_past(run, "assistant"), *_answers(run, index)])
            strange = _tail(_told(items, "assistant", "text"), rest)
            problem = f"the model did not say {strange[:80]!r} here"
            begun = any(each in rest for each in _BRACKETS)
            yield found(not begun and not _has_words(rest), f"/exchanges/{index}/request", problem)


@book.rule(
    "HIS-012",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
)
def models_called_what_they_called(run: Run) -> Iterator[Finding]:
    """Each tool call in a request is one that the model made in this conversation. The calls keep their order and their
    arguments, digit by digit.

    Why: the model takes every call in the history for its own, and relies on something that did not happen. A JSON
    number keeps its digits: 9007199254740993 is not 9007199254740992. Fix: keep the text of the arguments as it came,
    and send that back.
    """
    if not _is_followed(run):
        return
    earlier = [part for turn in run.case.history for part in turn.parts if isinstance(part, ToolCall)]
    for index, items in taken(run):
        sent = [item for item in items if item.kind == "call"]
        calls = [exact_call(call.name, call.arguments) for call in earlier]
        for _, step in _used(run, index):
            calls += [exact_call(c.name, c.arguments) for a in _possible(step) for c in a.calls]
            calls += _calls_that_fill(step, sent)
        open_ended = _has_unreadable_calls(run, index)
        strange = None if open_ended else _first_out_of_order(sent, calls)
        if sent:
            told = exact_call(strange.name, strange.arguments) if strange else ""
            yield found(
                not strange, f"/exchanges/{index}/request", f"the model did not call {told[:120]} here"
            )


@book.rule(
    "THK-028",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/build-with-claude/extended-thinking: preserve thinking blocks",
)
def models_thought_what_they_thought(run: Run) -> Iterator[Finding]:
    """The thoughts in a request are the model's own from this conversation, unchanged and in order.

    Why: an API that signs thoughts refuses a changed one. At other APIs, the model continues from the changed thought.
    A placeholder without a word, such as the dot where Moonshot requires a thought, does not count. Fix: keep thoughts
    as they arrived, with their signatures, and send these objects back.
    """
    if not _is_followed(run):
        return
    for index, items in taken(run):
        sent = _joined(items, "assistant", "thinking")
        if not sent:
            continue
        thought = [
            _Said(a.thinking, partly=_is_partial(step))
            for _, step in _used(run, index)
            for a in _possible(step)
        ]
        rest = _beyond(sent, thought)
        strange = _tail(_told(items, "assistant", "thinking"), rest)
        problem = f"the model did not think {strange[:80]!r} here"
        yield found(not _has_words(rest), f"/exchanges/{index}/request", problem)


@book.rule("HIS-013", MUST, LOSS, source="https://developers.openai.com/api/docs/guides/conversation-state")
def nobodys_words_are_lost(run: Run) -> Iterator[Finding]:
    """Every request contains what the user said and what the model answered before, except for turns that failed.

    Why: a model that does not see what was said before contradicts it. A turn that ended in an error, was cancelled or
    was cut may be left out or kept. The turns before it are kept, and so is an answer that ended at the token limit, if
    the caller got it. Fix: add each question and its answer to the history before the next request is made.
    """
    if (
        not _is_followed(run)
        or run.refused
        or _is_rewritten(run)
        or any(ask.schema for ask in run.case.steps)
    ):
        return
    for index, items in taken(run):
        step = run.step_of(index)
        if step is None:
            continue
        for role, texts in (
            ("user", _asked(run, step)),
            ("assistant", [*_past(run, "assistant"), *_answers_handed_over(run, step)]),
        ):
            lost = _first_missing(_joined(items, role, "text"), texts)
            problem = (
                f"what the {'model' if role == 'assistant' else role} said is not sent: {(lost or '')[:80]!r}"
            )
            yield found(lost is None, f"/exchanges/{index}/request", problem)


@book.rule(
    "HIS-014",
    MUST,
    LOSS,
    source="https://github.com/NousResearch/hermes-agent/issues/100670",
)
def users_are_not_put_words_into_the_mouth(run: Run) -> Iterator[Finding]:
    """The user's turns contain only the user's own words, in order. This holds with tools and after an error, too.

    Why: the model would answer words that the user did not say. A case is not judged if the library must explain media
    or ask for a value. Fix: make each request of the stored turns, and keep the library's own words out of them.
    """
    needs_words = (
        any(ask.schema for ask in run.case.steps) or run.refused or _has_media(run) or _is_rewritten(run)
    )
    if not _is_followed(run) or needs_words:
        return
    for index, items in taken(run):
        step = run.step_of(index)
        sent = _joined(items, "user", "text")
        if step is None or not sent or _has_unreadable_calls(run, index):
            continue
        prompt = _Said(run.case.system or "")  # in the wrong place, which is SYS-001's finding
        rest = _beyond(sent, [prompt, *_asked(run, step)])
        strange = _tail(_told(items, "user", "text"), rest)
        problem = f"the user did not say {strange[:80]!r} here"
        yield found(not _has_words(rest), f"/exchanges/{index}/request", problem)


# --- Texts in order --------------------------------------------------------------------------------------


def _beyond(sent: str, texts: Sequence[_Said]) -> str:
    """Returns what was sent and not said. White space is not compared here.

    Texts are taken in order. A text that was said in part (a cut answer) may be sent in part.
    """
    rest = sent
    for each in texts:
        if each.text and rest.startswith(each.text):
            rest = rest[len(each.text) :]
        elif each.partly:
            rest = rest[_shared(rest, each.text) :]
    return rest


#: What an answer in JSON or in markup begins with.
_BRACKETS = "{[<"


def _has_words(text: str) -> bool:
    """Tells whether a text is more than a placeholder, such as the dot where a format requires a text."""
    return any(map(str.isalnum, text))


def _first_missing(sent: str, texts: Sequence[_Said]) -> str | None:
    """Returns the first text that has to be sent and is not, or `None`. Texts are looked for in order."""
    place = 0
    for each in texts:
        at = sent.find(each.text, place)
        if at >= 0:
            place = at + len(each.text)
        elif not each.optional:
            return each.said
    return None


def _shared(first: str, second: str) -> int:
    """Returns how many characters two texts begin with alike."""
    length = min(len(first), len(second))
    return next((at for at in range(length) if first[at] != second[at]), length)


def _joined(items: Sequence[Item], role: str, kind: str) -> str:
    """Returns everything that one speaker says in a request, without white space."""
    return squeezed(_told(items, role, kind))


def _told(items: Sequence[Item], role: str, kind: str) -> str:
    """Returns everything that one speaker says in a request, without the parts of tool results."""
    return "".join(i.text for i in items if (i.role, i.kind) == (role, kind) and i.within is None)


def _tail(text: str, words: str) -> str:
    """Returns the end of a text that has these words, with its white space."""
    if not words:
        return ""
    places = [at for at, character in enumerate(text) if not character.isspace()]
    return text[places[-len(words)] :].rstrip()


# --- What was said ---------------------------------------------------------------------------------------


def _is_followed(run: Run) -> bool:
    """Tells whether the conversation can be followed: one speaker, a known script, and no summary in place of turns."""
    followable = run.way not in {"observe", "proxy", "probe"} and len(run.case.speakers) == 1
    return followable and not any(ask.compacted for ask in run.case.steps)


def _used(run: Run, before: int) -> list[tuple[int, Step]]:
    """Returns the steps of the script that were used before an exchange."""
    return [(index, step) for index, step in run.answered() if index < before]


def _calls_that_fill(step: Step, sent: Sequence[Item]) -> list[str]:
    """Returns the calls with the value of a step that fills a schema. The value is the arguments of a tool if the request forces
    one, and that tool is the library's own.
    """
    inner = step.step if isinstance(step, Delivery) else step
    if not isinstance(inner, StructuredAnswer):
        return []
    return [exact_call(call.name, call.arguments) for call in sent if call.arguments == inner.value]


def _possible(step: Step) -> list[Answer]:
    """Returns the answers that a step may have given, whole or in part."""
    inner = step.step if isinstance(step, Delivery) else step
    if isinstance(inner, Cut):
        return [inner.answer]
    if isinstance(inner, Failure):
        return [inner.after] if inner.after else []
    return answers_of(inner)


def _is_partial(step: Step) -> bool:
    """Tells whether the answer of a step does not arrive whole."""
    broken = isinstance(step, Delivery) and (step.after is not None or step.ending != "end")
    inner = step.step if isinstance(step, Delivery) else step
    return broken or isinstance(inner, Cut | Failure)


def _answers(run: Run, before: int) -> Iterator[_Said]:
    """Yields the model's texts before an exchange. Cohere's models say their plan beside their calls."""
    for _, step in _used(run, before):
        partly = _is_partial(step)
        inner = step.step if isinstance(step, Delivery) else step
        if isinstance(inner, StructuredAnswer):
            yield _Said(json.dumps(inner.value, ensure_ascii=False))
        for answer in _possible(step):
            planned = answer.thinking if run.wire == "cohere" else ""
            yield _Said(planned)
            yield _Said(answer.text, partly=partly or answer.reason in {"length", "filter"})
            yield _Said(answer.refusal)


def _past(run: Run, role: str) -> list[_Said]:
    """Returns the texts of a speaker in the history that the conversation starts from."""
    turns = [turn for turn in run.case.history if turn.role == role]
    texts = [part.text for turn in turns for part in turn.parts if isinstance(part, Text)]
    return [_Said(text, optional=False) for text in texts]


def _asked(run: Run, step: int) -> list[_Said]:
    """Returns the user's texts up to a step."""
    asked = _past(run, "user")
    for index, ask in enumerate(run.case.steps[: step + 1]):
        optional = index < step and _may_be_left_out(run, index)
        asked += [_Said(part.text, optional=optional) for part in ask.parts if isinstance(part, Text)]
    return asked


def _answers_handed_over(run: Run, step: int) -> list[_Said]:
    """Returns the model's answers that the caller got before a step."""
    told = []
    for index, (ask, reply) in enumerate(zip(run.case.steps[:step], run.replies, strict=False)):
        handed_over = reply.error is None and not ask.cancelled and _ended_at_limit(run, ask.text)
        whole = reply.text == ask.text and (handed_over or not _may_be_left_out(run, index))
        told.append(_Said(ask.text, optional=not whole))
    return told


def _ended_at_limit(run: Run, text: str) -> bool:
    """Tells whether the token limit ended an answer. The caller has its text, so that the conversation goes on from it."""
    answers = [answer for step in run.case.script for answer in answers_of(step)]
    return any(answer.text == text and answer.reason == "length" for answer in answers)


def _may_be_left_out(run: Run, step: int) -> bool:
    """Tells whether a turn ended in an error, or before its end."""
    reply = run.replies[step] if step < len(run.replies) else None
    ask = run.case.steps[step]
    failed = reply is None or reply.error is not None or not reply.complete
    return failed or ask.cancelled or ask.outcome != "answered"


def _has_media(run: Run) -> bool:
    parts = [part for ask in run.case.steps for part in ask.parts]
    parts += [part for turn in run.case.history for part in turn.parts]
    earlier = [part.value for part in parts if isinstance(part, ToolResult)]
    returned = any(map(all_media_of, [*earlier, *(each.value for each in run.tool_runs)]))
    return returned or any(isinstance(p, Audio | Image | PDF | Upload) for p in parts)


def _is_rewritten(run: Run) -> bool:
    """Tells whether a text of the user is in no request: changed, which is UNI-001's finding, or half a character."""
    asks = run.case.steps[: len(run.replies)]
    texts = [squeezed(part.text) for ask in asks for part in ask.parts if isinstance(part, Text)]
    sent = [_joined(items, "user", "text") for items in run.sent_items]
    return any(not any(text in request for request in sent) for text in texts)


def _has_unreadable_calls(run: Run, before: int) -> bool:
    """Tells whether the model made a call that cannot be sent back: its arguments are not JSON, or were cut.

    A library has to tell the model of it in words of its own.
    """
    return any(
        call.text is not None or _is_partial(step)
        for _, step in _used(run, before)
        for answer in _possible(step)
        for call in answer.calls
    )


def _first_out_of_order(sent: Sequence[Item], calls: Sequence[str]) -> Item | None:
    """Returns the first call that does not follow the calls that the model made."""
    rest = iter(calls)
    return next((item for item in sent if exact_call(item.name, item.arguments) not in rest), None)
