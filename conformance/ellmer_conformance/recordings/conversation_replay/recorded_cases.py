"""A recorded conversation as a case: the user's messages, the tools' results, and the model's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...contract.exchange import Item
from ...contract.provider_answers.answer import Called, Told
from ...runner.from_cassettes import as_answer
from ...scenarios.case import Ask, Case
from ...scenarios.messages import PDF, Image, Part, Text, ToolCall, ToolResult, Turn
from ...scenarios.script import Answer, Cut, Failure, Say, Step
from .adapter_input import CannotBeGiven, history, parts, split, system, value_of
from .conversations import Conversation, Recorded
from .recorded_reply import fails, is_cut, told_by
from .recorded_tools import RecordedResults, ToolFailed, declared
from .runnable_calls import check_calls

__all__ = ["END", "RecordedCase", "case_of"]

#: The answer if the client continues after the end of the recording, with the results of the last calls.
END = Answer((Say("The recording ends here."),))


@dataclass(frozen=True)
class RecordedCase:
    """A case with its recorded exchanges."""

    case: Case
    conversation: Conversation
    told: Sequence[Told]  # what each answer says

    @property
    def streamed(self) -> bool:
        """Whether its answers are streams."""
        return self.conversation.first.stream


def case_of(conversation: Conversation) -> RecordedCase:
    """Returns the case. Raises CannotBeGiven if the adapter protocol does not support the recorded input."""
    if (conversation.first.body.get("n") or 1) != 1:
        raise CannotBeGiven("several answers were requested at once")
    told = [told_by(each) for each in conversation.recorded]
    results = RecordedResults()
    said = conversation.said
    before, now = split(said[0])
    made = _Making(results, [_ask(now)])
    for number in range(1, len(said)):
        made.go_on(told[number - 1], _added(said[number - 1], said[number]))
    if not any(not isinstance(part, Text) or part.text.strip() for part in made.asks[0].parts):
        raise CannotBeGiven("the user says nothing")
    steps, script = _ended(made, told, conversation)
    tools = declared(conversation.first, results)
    check_calls(told, {tool.name: tool for tool in tools}, conversation.first.wire)
    case = Case(
        script=script,
        steps=steps,
        tools=tools,
        system=system(said[0]),
        history=_whole(history(before), made.asks[0]),
        needs=_needs(made.asks, tools),
        printed_alike=False,
        modes=("stream", "async-stream") if conversation.first.stream else ("sync", "async"),
        name=conversation.name,
        title=f"Recorded: {conversation.name}",
        area="recordings",
    )
    return RecordedCase(case, conversation, told)


def _whole(turns: list[Turn], ask: Ask) -> list[Turn]:
    """Returns the history. Each call without a result gets it from the new message."""
    given = [part for turn in turns for part in turn.parts] + [*ask.parts]
    open_ = {part.id for part in given if isinstance(part, ToolCall)}
    if open_ - {part.id for part in given if isinstance(part, ToolResult)}:
        raise CannotBeGiven("the history leaves a call without a result")
    return turns


@dataclass
class _Making:
    """A case under construction: the user's turns so far, each with its last answer."""

    results: RecordedResults
    asks: list[Ask]
    ends: list[int] = field(default_factory=list)
    answers: int = 1

    def go_on(self, told: Told, added: Sequence[Item]) -> None:
        """Adds the new content of the next request: the results of the calls, or a turn of the user."""
        results = [item for item in added if item.kind == "result"]
        if bool(results) != bool(told.calls):
            raise CannotBeGiven(
                "a call was left without a result" if told.calls else "a result answers no call"
            )
        if results:
            _enter(self.results, told.calls, added)
        else:
            self.ends.append(self.answers - 1)
            self.asks.append(_ask(added))
        self.answers += 1


def _added(before: Sequence[Item], after: Sequence[Item]) -> list[Item]:
    """Returns the new content of a request after the previous answer."""
    old = sum(item.kind not in {"system", "thinking"} for item in before)
    new = [item for item in after if item.kind not in {"system", "thinking"}][old:]
    first = next((n for n, item in enumerate(new) if item.role != "assistant"), len(new))
    if not new[first:] or any(item.role == "assistant" for item in new[first:]):
        raise CannotBeGiven("the client prefilled the model's answer")
    return new[first:]


def _ask(items: Sequence[Item]) -> Ask:
    if any(item.kind == "result" and not item.id for item in items):
        raise CannotBeGiven("the conversation begins with results that have no id")
    return Ask(tuple(parts(items)))


def _enter(results: RecordedResults, calls: Sequence[Called], added: Sequence[Item]) -> None:
    """Adds the tools' results. Content beside an only result belongs to it, because media are sent so in formats with
    text results.
    """
    own = [item for item in added if item.kind == "result"]
    beside = [item for item in added if item.kind != "result" and item.within is None]
    media = [item for item in beside if item.media]
    if beside and (not media or len(own) > 1):
        raise CannotBeGiven("a user message contains text besides tool results")
    for number, result in enumerate(own):
        inside = [item for item in added if item.within is not None and item.within == result.id]
        call = (
            next((c for c in calls if c.id and c.id == result.id), None) or calls[min(number, len(calls) - 1)]
        )
        value = value_of(result, [*inside, *media])
        results.add(call.name, call.arguments or {}, ToolFailed(result.text) if result.error else value)


def _ended(made: _Making, told: Sequence[Told], conversation: Conversation) -> tuple[list[Ask], list[Step]]:
    """Returns the user's turns, each with its last answer, and the script."""
    recorded = conversation.recorded
    script, ends = list(_script(told, recorded)), [*made.ends, len(told) - 1]
    asks = [
        replace(ask, outcome="incomplete")
        if fails(recorded[end]) or is_cut(recorded[end], told[end])
        else replace(ask, text=told[end].text)
        for ask, end in zip(made.asks, ends, strict=True)
    ]
    if told[-1].calls and asks[-1].outcome == "answered":
        return [*asks[:-1], replace(asks[-1], text=END.text)], [*script, END]
    return asks, script


def _script(told: Sequence[Told], recorded: Sequence[Recorded]) -> Iterator[Step]:
    for answer, each in zip(told, recorded, strict=True):
        status = each.recording.status or 0
        if status == 429 or status >= 500:
            yield Failure("rate-limit" if status == 429 else "server-error")
        elif is_cut(each, answer):
            yield Cut(as_answer(answer))
        elif not fails(each):
            yield as_answer(answer)


def _needs(asks: Sequence[Ask], tools: Sequence[object]) -> frozenset[str]:
    given: list[Part] = [part for ask in asks for part in ask.parts]
    found = {"tools"} if tools else set()
    found |= {"image_in_user"} if any(isinstance(part, Image) for part in given) else set()
    found |= {"pdf_in_user"} if any(isinstance(part, PDF) for part in given) else set()
    return frozenset(found)
