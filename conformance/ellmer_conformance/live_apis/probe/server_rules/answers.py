"""A whole answer: its status, fields, types, counts and stop reason."""

from __future__ import annotations

from collections.abc import Iterator

from ....contract.rule import Finding, broken, met
from ..answer_fields import ANSWERS, STOPS, misfits
from ..sdk_types import complaint
from ..server_answer import Heard
from ._rulebook import HERE, LOSS, MUST, REFERENCE, SHOULD, book, found


@book.rule("SRV-001", MUST, LOSS, source=REFERENCE)
def questions_are_answered(heard: Heard) -> Iterator[Finding]:
    """A plain question is answered with status 200 and JSON.

    Why: a client cannot use a server that does not answer a plain question.
    """
    if heard.kind == "question" and not heard.question.needs and not heard.question.stream:
        fine = heard.status == 200 and heard.content_type == "application/json"
        yield found(
            fine,
            HERE,
            f"the answer is {heard.status} and {heard.content_type!r}: {heard.value!r:.200}",
        )


@book.rule("SRV-002", MUST, LOSS, source=REFERENCE)
def answers_have_their_fields(heard: Heard) -> Iterator[Finding]:
    """An answer has all required fields, each with the right type.

    Why: clients read these fields without a check.
    """
    if heard.answered and not heard.question.stream:
        wrong = list(misfits(heard.value, ANSWERS[heard.wire]))
        yield from (broken(f"{HERE}{place}", problem) for place, problem in wrong)
        if not wrong:
            yield met(HERE)


@book.rule(
    "SRV-003",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/openai/openai-python",
        "https://github.com/anthropics/anthropic-sdk-python",
        "https://github.com/googleapis/python-genai",
    ],
)
def official_types_take_answers(heard: Heard) -> Iterator[Finding]:
    """The official SDK's type accepts an answer. This is judged if the SDK is installed beside the suite.

    Why: users of the official SDK read answers through these types. This is a SHOULD, because an SDK may be newer
    than the server.
    """
    if heard.answered and not heard.question.stream:
        told = complaint(heard.wire, heard.value)
        if told is not None:
            yield found(not told, HERE, told)


@book.rule("SRV-004", MUST, LOSS, source=REFERENCE)
def counts_add_up(heard: Heard) -> Iterator[Finding]:
    """Token counts are present, none is negative, and their total is their sum (thoughts may be counted besides the
    output).

    Why: callers compute costs and limits from these counts.
    """
    told = heard.told
    if heard.answered and told and (told.text or told.calls) and not heard.question.stream:
        counts = {"input": told.input, "output": told.output}
        missing = [name for name, count in counts.items() if not isinstance(count, int | float)]
        yield found(not missing, f"{HERE}/usage", f"no count of the {' and the '.join(missing)}")
        if not missing and isinstance(told.total, int):
            least = int(told.input or 0) + int(told.output or 0)
            yield found(told.total >= least, f"{HERE}/usage", f"{counts} have the total {told.total}")


@book.rule("SRV-005", MUST, LOSS, source=REFERENCE)
def stops_are_known(heard: Heard) -> Iterator[Finding]:
    """The stop reason of an answer is one of the format's, and names a tool call if there is one.

    Why: clients decide by the reason whether to run a tool or to ask for the rest.
    """
    if heard.answered and heard.told:
        stop = heard.told.stop
        yield found(stop in STOPS[heard.wire], HERE, f"the stop reason is {stop!r}")
        if heard.told.calls and heard.wire in {"openai-chat", "mistral", "anthropic", "bedrock", "cohere"}:
            named = stop in {"tool_calls", "tool_use", "TOOL_CALL"}
            yield found(named, HERE, f"a tool is called, and the stop reason is {stop!r}")
