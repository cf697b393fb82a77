"""Pairing and parallel calls: what happens to every tool call."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from .....scenarios.messages import ToolCall
from .....scenarios.script import Answer
from ....counts import counted, listed, passive, times
from ....observed.exchange import Item
from ....observed.run import Run, call_key
from ....readers.json_access import items_of
from ....rule import Finding, broken, met
from .._rulebook import (
    LOSS,
    MUST,
    SHOULD,
    answer_refused,
    at,
    book,
    found,
    last,
    results_after,
    share_ids,
    taken,
)
from .results import is_written, results_with_runs


@book.rule(
    "PAIR-003",
    MUST,
    LOSS,
    source=[
        "https://github.com/tidyverse/ellmer/issues/643",
        "https://github.com/anthropics/claude-code/issues/2261",
    ],
)
def dangling_calls_are_repaired(run: Run) -> Iterator[Finding]:
    """A tool call without a result (after a cancellation, crash or limit) is repaired before the next request.

    Why: providers refuse a history with an unanswered call, so one interrupted turn makes every later request
    fail. Fix: send an error result for the call, or drop the call.
    """
    history = [part.id for turn in run.case.history for part in turn.parts if isinstance(part, ToolCall)]
    if not history or not run.sent_items:
        return
    calls = [item for item in run.sent_items[0] if item.kind == "call"]
    results = Counter(item.id or item.name for item in run.sent_items[0] if item.kind == "result")
    for item in calls:
        answers = results[item.id or item.name]
        fine = answers >= 1 and (not item.id or answers == 1)
        yield found(fine, at(0, item), f"{item.name} has {answers} results")
    if not calls:
        yield met("/exchanges/0/request")


@book.rule("PAIR-004", MUST, LOSS, source="https://github.com/cloudflare/ai/pull/384")
def ids_are_echoed(run: Run) -> Iterator[Finding]:
    """The ids of tool calls are sent back byte for byte, and never empty.

    Why: only the id ties a result to its call. Fix: keep the id that the provider sent. (An id from another
    provider may be mapped; this is not judged here.)
    """
    ids = {part.id for turn in run.case.history for part in turn.parts if isinstance(part, ToolCall)}
    recorded = run.way == "recordings"  # elsewhere the server gives the ids that a script leaves out
    nameless = recorded and any(not call.id for _, calls in run.calls() for call in calls)
    if share_ids(run) or (nameless and run.wire != "gemini"):  # an id had to be changed, or made
        return
    if ids and run.sent_items:  # what the first request has of them may be mapped
        ids |= {item.id for item in run.sent_items[0]}
    for index, items in enumerate(run.sent_items[1:], 1):
        received = b"".join(e.response.body for e in run.exchanges[:index] if e.response)
        renamed = _renamed(run, index, received) if run.wire == "openai-responses" else ()
        for item in items:
            if item.kind in {"call", "result"} and item.id and item.id not in ids:
                fine = _is_id_in(received, item.id, run.wire) or item.id in renamed
                problem = f"the id {item.id!r} was never sent by the provider"
                yield found(fine, at(index, item), problem)
            elif item.kind in {"call", "result"} and not item.id and run.wire in _WITH_IDS and not recorded:
                yield broken(at(index, item), "the id is empty, and the provider sent one")


#: Formats whose calls always have ids.
_WITH_IDS = {"openai-chat", "openai-responses", "anthropic", "bedrock"}


def _renamed(run: Run, index: int, received: bytes) -> set[str]:
    """Returns the ids of items that stand for the `call_id` of a call and of its result. OpenAI accepts that of a call without
    its own `id`, as recorded requests of chatlas show.
    """
    sent = items_of(run.exchanges[index].request.body.get("input"))
    calls = [each for each in sent if isinstance(each, dict) and each.get("type") == "function_call"]
    ids = {str(each.get("call_id")) for each in calls if "id" not in each}
    results = {item.id for item in run.sent_items[index] if item.kind == "result"}
    found = ids & results
    return {id for id in found if re.search(rb'"id"\s*:\s*"%s"' % re.escape(id.encode()), received)}


def _is_id_in(received: bytes, id: str, wire: str) -> bool:
    """Tells whether an answer has an id of a call. In Responses, the `id` of an item is another one than its `call_id`."""
    key = rb'"call_id"\s*:\s*' if wire == "openai-responses" else b""
    return re.search(key + b'"%s"' % re.escape(id.encode()), received) is not None


@book.rule(
    "PAIR-010",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html",
    ],
)
def failures_are_flagged(run: Run) -> Iterator[Finding]:
    """The result of a failed tool has the error flag, if the format has one, and says in its text that the
    tool failed.

    Why: a model that knows of the failure can correct the call. Fix: set `is_error`, or the format's own flag, and
    write that the tool failed.
    """
    for index, item, outcomes in results_with_runs(run):
        if all(each.error is not None for each in outcomes):
            flagged = item.error if run.wire in {"anthropic", "bedrock"} else bool(item.text)
            yield found(flagged, at(index, item), "the failure is not marked")


@book.rule("PAIR-012", SHOULD, LOSS, source="https://github.com/simonw/llm/issues/1104")
def unknown_tools_are_answered(run: Run) -> Iterator[Finding]:
    """A call of an unknown tool is answered with an error result, and the conversation goes on.

    Why: a model that is told can correct the name, and an exception ends the conversation. Fix: answer the call with an
    error result that lists the tools that there are.
    """
    offered = {tool.name for tool in run.case.tools}
    for index, calls in run.calls():
        for call in calls:
            if call.name in offered:
                continue
            place = f"/exchanges/{index + 1}/request"
            yield found(results_after(run, index), place, f"no result was sent for {call.name}")


@book.rule(
    "PAR-001",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use",
        "https://github.com/charmbracelet/fantasy/pull/223 (calls whose arguments are not JSON)",
    ],
)
def calls_are_answered_in_one_round_trip(run: Run) -> Iterator[Finding]:
    """If an answer has N tool calls, the next request has N results. A call whose arguments are not JSON is not dropped: the turn goes
    on, or ends in an error.

    Why: providers refuse a request in which a call has no result. RUN-003 and TXT-005 judge a turn that ended in an
    error without a further request. Fix: make a result for every call of the answer, also for one that could not be
    parsed or run.
    """
    for index, calls in [] if answer_refused(run) else run.calls():
        if _ended_in_an_error(run, index):
            continue
        place = f"/exchanges/{index + 1}/request"
        results = results_after(run, index)
        problem = f"{passive(len(calls), 'call', 'made')}, and {passive(len(results), 'result', 'sent')}"
        yield found(len(results) == len(calls), place, problem)
    for index, names in _malformed(run):
        goes_on = index + 1 < len(run.sent_items) and run.step_of(index) == run.step_of(index + 1)
        told = any(reply.error is not None or not reply.complete for reply in run.replies)
        problem = f"the call of {names} has no result, and the caller got no error"
        yield found(goes_on or told, f"/exchanges/{index}/response", problem)


def _malformed(run: Run) -> Iterator[tuple[int, str]]:
    """Yields each exchange whose answer has calls with arguments that are not JSON, though no limit cut them."""
    for index, step in run.answered() if run.wire != "gemini" else ():  # it reports them by a stop reason
        calls = step.calls if isinstance(step, Answer) and step.stop is None else ()
        if names := [call.name for call in calls if call.text is not None]:
            yield index, listed(names)


@book.rule(
    "PAR-009",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use",
        "https://developers.openai.com/api/docs/guides/function-calling",
    ],
)
def results_are_sent_once(run: Run) -> Iterator[Finding]:
    """A call has one result in each request, and a request that follows no call has no new result.

    Why: the model takes a second result for the result of another call, which did not happen. Fix: collect results by
    the call's id, and add them to the history once.
    """
    if share_ids(run) or answer_refused(run):
        return
    for index, items in taken(run):
        results = Counter(item.id for item in items if item.kind == "result" and item.id)
        twice = sorted(id for id, count in results.items() if count > 1)
        if results:
            yield found(not twice, f"/exchanges/{index}/request", f"{', '.join(twice)} has several results")


@book.rule(
    "PAR-008",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use",
)
def parallel_results_are_one_message(run: Run) -> Iterator[Finding]:
    """The results of parallel calls are in one message of the user (Anthropic, Bedrock).

    Why: the documentation calls separate messages wrong: Claude learns from them to make no parallel calls. Fix:
    collect the results of an answer, and send them in one user message.
    """
    if run.wire not in {"anthropic", "bedrock"}:
        return
    for index, calls in run.calls():
        results = results_after(run, index)
        if len(calls) > 1 and len(results) == len(calls):
            messages = {item.pointer.split("/")[2] for item in results}
            problem = f"{len(results)} results are in {counted(len(messages), 'message')}"
            yield found(len(messages) == 1, f"/exchanges/{index + 1}/request", problem)


def _ended_in_an_error(run: Run, index: int) -> bool:
    """Tells whether an exchange was the last one of a turn that ended in an error, or of the conversation, with an error."""
    if index + 1 >= len(run.sent_items):
        return any(reply.error is not None for reply in run.replies)
    step, following = run.step_of(index), run.step_of(index + 1)
    error = run.replies[step].error if step is not None and step < len(run.replies) else None
    return step != following and error is not None


@book.rule(
    "PAR-004",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use",
        "https://github.com/modelscope/ms-swift/pull/10174",
    ],
)
def results_belong_to_their_calls(run: Run) -> Iterator[Finding]:
    """Each result has the value of its own call, in whatever order the tools finished.

    Why: tools finish in any order, and a swapped result is a false one. Fix: store each result under its call's id, and
    not in the order in which tools finish.
    """
    ids_of_history = {
        part.id for turn in run.case.history for part in turn.parts if isinstance(part, ToolCall)
    }
    outcomes = defaultdict[str, list[Any]](list)  # equal calls may return different values, or fail
    for r in run.tool_runs:
        outcomes[call_key(r.name, r.arguments)].append(r.value)
    values = {
        key: each for key, each in outcomes.items() if all(isinstance(v, str) and v.strip() for v in each)
    }
    for index, items in enumerate(run.sent_items):
        ids = Counter(item.id for item in items if item.kind == "call")
        calls = {item.id: item for item in items if item.kind == "call" and item.id and ids[item.id] == 1}
        in_order = _by_order(items) if not ids_of_history and run.wire == "gemini" else {}
        for item in items:
            call = calls.get(item.id) if item.kind == "result" and item.id not in ids_of_history else None
            call = call or in_order.get(item.pointer)
            wanted = values.get(call_key(call.name, call.arguments), []) if call else []
            if wanted:
                fine = any(is_written(item.text, value) for value in wanted)
                problem = (
                    "" if fine else f"the result of {call.name if call else ''} should say {wanted[0]!r}"
                )
                yield found(fine, at(index, item), problem)


def _by_order(items: Sequence[Item]) -> dict[str, Item]:
    """Returns the calls of results without ids, by the results' pointers: those of a name answer its calls in their order."""
    named = defaultdict[str, list[Item]](list)
    for item in items:
        if item.kind == "call" and not item.id:
            named[item.name].append(item)
    places = defaultdict[str, Iterator[Item]](
        lambda: iter(()), {name: iter(calls) for name, calls in named.items()}
    )
    results = [item for item in items if item.kind == "result" and not item.id]
    pairs = [(item.pointer, next(places[item.name], None)) for item in results]
    return {pointer: call for pointer, call in pairs if call is not None}


@book.rule(
    "PAR-005",
    MUST,
    LOSS,
    source=[
        "https://github.com/unslothai/unsloth/issues/10379",
        "https://github.com/generative-computing/mellea/issues/1431",
    ],
)
def every_call_is_run(run: Run) -> Iterator[Finding]:
    """Every complete call of a known tool is run exactly once, even if another call is equal to it. A call that was
    denied is not run.

    Why: a model may need the same call twice, and each call needs its own result. After an error by which the library
    refuses what it has declared as refused, the calls that are left do not have to run. Fix: run the calls of an answer
    by their place in it, and not by name, id or arguments.
    """
    if answer_refused(run) or "structured_with_tools" in run.refused:
        return
    ended = bool(run.refused) and any(reply.error is not None for reply in run.replies)
    offered = {tool.name for tool in run.case.tools}
    pairs = [(c, run.approved(c)) for _, pairs in run.calls() for c in pairs if c.name in offered]
    wanted = Counter(call_key(call.name, arguments) for call, arguments in pairs if arguments is not None)
    ran = Counter(call_key(r.name, r.arguments) for r in run.tool_runs)
    for key in wanted:
        problem = f"{key} was called {times(wanted[key])} and run {times(ran[key])}"
        fine = ran[key] == wanted[key] or (ended and ran[key] < wanted[key])
        yield found(fine, "/tool_runs", problem, seen="calls")


@book.rule("PAR-006", SHOULD, LOSS, source="https://github.com/anthropics/claude-code/issues/64246")
def failing_siblings_drop_nothing(run: Run) -> Iterator[Finding]:
    """If one of several parallel tools fails, the results of the others are still sent.

    Why: the model can go on with the results of the tools that succeeded. Fix: catch the error of each tool by itself,
    for example with `gather(return_exceptions=True)`.
    """
    good = [r for r in run.tool_runs if r.error is None and isinstance(r.value, str)]
    if not any(r.error for r in run.tool_runs) or not run.sent_items:
        return
    texts = [item.text for item in run.sent_items[-1] if item.kind == "result"]
    for r in good:
        sent = any(str(r.value) in text for text in texts)
        yield found(sent, last(run), f"the result of {call_key(r.name, r.arguments)} is missing")
