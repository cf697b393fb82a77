"""Approval: a person decides about a tool call before it is run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .....scenarios.script import Call
from ....counts import listed
from ....observed.run import Run, call_key
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found, results_after

_SAYS_NO = re.compile(r"den(y|ied)|reject|refus|declin|not (approv|allow|permit)", re.IGNORECASE)


@book.rule("APR-001", MUST, LOSS, source="https://openai.github.io/openai-agents-python/human_in_the_loop/")
def somebody_is_asked_about_calls(run: Run) -> Iterator[Finding]:
    """The approver is asked once about each call of a tool that needs an approval, and sees the model's arguments.

    Why: the tool may do something that cannot be undone. Fix: ask before a call is run, once for its id, and pass its
    arguments on.
    """
    calls = [call_key(call.name, call.arguments) for _, call in _calls(run)]
    if calls:
        asked = [call_key(name, arguments) for name, arguments in run.asked]
        problem = f"the model called {listed(calls)}, and the questions were about {listed(asked)}"
        yield found(Counter(asked) == Counter(calls), "/tool_runs", problem)


@book.rule(
    "APR-002",
    MUST,
    LOSS,
    source=[
        "https://openai.github.io/openai-agents-python/human_in_the_loop/",
        "https://github.com/vercel/eve/issues/312",
    ],
)
def denied_calls_are_answered(run: Run) -> Iterator[Finding]:
    """A call that was denied is not run, and its result tells the model that it was denied.

    Why: a model that is not told reports success, or calls the tool again. Fix: send a result for the call that says
    who denied it.
    """
    ran = {call_key(r.name, r.arguments) for r in run.tool_runs}
    for index, call in _calls(run):
        if run.approved(call) is not None:
            continue
        key = call_key(call.name, call.arguments)
        yield found(key not in ran, "/tool_runs", f"{key} was denied and run")
        told = any(_SAYS_NO.search(item.text) for item in results_after(run, index))
        yield found(told, f"/exchanges/{index + 1}/request", f"no result says that {key} was denied")


@book.rule("APR-003", MUST, LOSS, source="https://github.com/langchain-ai/langchain/issues/33787")
def edited_arguments_are_used(run: Run) -> Iterator[Finding]:
    """A call that was approved with other arguments is run with these, and not with the model's.

    Why: only the edited arguments were approved. Fix: run the tool with the arguments that the approver returned.
    """
    ran = [call_key(r.name, r.arguments) for r in run.tool_runs]
    for _, call in _calls(run):
        arguments, key = run.approved(call), call_key(call.name, call.arguments)
        edited = call_key(call.name, arguments)
        if arguments is not None and edited != key:
            problem = f"{edited} was approved in the place of {key}, and what ran is {listed(ran)}"
            yield found(edited in ran and key not in ran, "/tool_runs", problem)


def _calls(run: Run) -> Iterator[tuple[int, Call]]:
    """Yields the calls of tools that need an approval, each with its exchange, or nothing if the adapter cannot ask."""
    needy = {tool.name for tool in run.case.tools if tool.needs_approval}
    if run.case.approve is None or "approval" in run.refused:
        return
    for index, calls in run.calls():
        yield from ((index, call) for call in calls if call.name in needy)
