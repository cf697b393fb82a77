"""The next request repeats the model's answer: its texts, its tool calls and its thinking."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby, pairwise, takewhile

from .....scenarios.messages import Text
from .....scenarios.script import Answer, AnswerByMedia, Call, Refuse, Say, Search, Think, answers_of
from ....counts import listed
from ....observed.exchange import Item, Json
from ....observed.run import Run, call_key
from ....provider_answers.answer import events_of
from ....readers.json_access import elements, object_of, text_of
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, answer_refused, book, found, objects

#: Formats whose answers have blocks of text, streamed or not; the others have one string, or lose the seam in a stream.
_BLOCKS = {"anthropic", "bedrock"}
#: Formats in which texts, thoughts and calls of an answer have an order.
_ORDERED = {"anthropic", "bedrock", "gemini", "openai-responses"}
#: Formats of an API that was seen to refuse a text behind a call: clients move the calls to the end.
_CALLS_MAY_BE_LAST = {"anthropic", "bedrock"}


@book.rule(
    "HIS-006",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/conversation-state",
        "https://github.com/langchain-ai/langchain-google/issues/1706",
        "https://github.com/anthropics/claude-code/issues/473 (a text behind a call was refused: calls may go back last)",
    ],
)
def answers_go_back_as_they_came(run: Run) -> Iterator[Finding]:
    """The next request contains the texts and tool calls of the answer, unchanged, with their arguments.

    Why: a model that does not see its own answer repeats or contradicts it. Every provider's guide appends
    the whole answer to the history. A response that `previous_response_id` names counts as sent. A truncated
    answer may be left out, and so may an answer that reached the caller as an error.
    Fix: keep the provider's whole message, including text beside the tool calls, and send it back.
    """
    for index, answers in _followed(run):
        items = _new(run, index)
        text = "".join(item.text for item in items if item.kind == "text")
        calls = [call_key(item.name, item.arguments) for item in items if item.kind == "call"]
        fine = any(text in _texts(run, index, answer) and calls == _calls(answer) for answer in answers)
        change = _change(answers[0], text, calls)
        problem = f"{change}: the model said {_shown_answer(answers[0])}, and what goes back is {_shown(text, calls)}"
        seen = text if calls == _calls(answers[0]) else "calls" if change == _CHANGED_CALLS else None
        yield found(fine, f"/exchanges/{index + 1}/request", problem, seen=seen)
        if fine and run.wire in _ORDERED and len(answers) == 1:
            wanted, sent = _kinds(answers[0], items)
            problem = (
                f"the answer had {', then '.join(wanted)}, and what goes back has {', then '.join(sent)}"
            )
            last = run.wire in _CALLS_MAY_BE_LAST and sent == ["text", "call"]
            yield found(sent == wanted or last, f"/exchanges/{index + 1}/request", problem)


@book.rule(
    "HIS-016",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools (pause_turn)",
)
def pending_searches_go_back(run: Run) -> Iterator[Finding]:
    """The request after a paused answer contains the search that the provider has begun.

    Why: the provider goes on with the paused answer. Without the search, its results have nothing to belong to, or it
    searches again. Fix: send the content of the paused answer back unchanged.
    """
    for index, step in run.answered():
        queries = [
            part.query
            for part in (step.parts if isinstance(step, Answer) and step.stop == "pause" else ())
            if isinstance(part, Search) and part.ran == "pending"
        ]
        for exchange in run.exchanges[index + 1 : index + 2] if queries else ():
            blocks = [
                each for each in objects(exchange.request.body) if each.get("type") == "server_tool_use"
            ]
            sent = [object_of(block.get("input")).get("query") for block in blocks]
            lost = [query for query in queries if query not in sent]
            problem = f"the search for {', '.join(map(repr, lost))} is pending, and does not go back"
            yield found(not lost, f"/exchanges/{index + 1}/request", problem)


@book.rule(
    "HIS-017",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool",
        "https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/messagephase",
        "https://github.com/vercel/ai/issues/17379",
        "https://github.com/agno-agi/agno/pull/6879",
        "https://github.com/ag2ai/ag2/pull/2695",
        "https://github.com/agentjido/req_llm/issues/634",
    ],
)
def additions_of_the_provider_go_back(run: Run) -> Iterator[Finding]:
    """The next request contains what the provider added to an answer: its own searches with their results, and the phase of each message.

    Why: the provider restores the results from what is sent back. Without the encrypted results and the references of citations
    (Anthropic), the model searches again, and cannot cite. Without its phase (Responses), a remark before a call is read as the final
    answer. Fix: keep the blocks or items of an answer as they came, also those that the library does not know.
    """
    lost_of = {"anthropic": _lost_searches, "openai-responses": _lost_phases}.get(run.wire)
    for index, _ in _followed(run) if lost_of else ():
        response, sent = run.exchanges[index].response, run.exchanges[index + 1].request.body
        if response is None or sent.get("previous_response_id") or sent.get("conversation"):
            continue
        lost = sorted({*lost_of(response.body, sent)}) if lost_of else []
        if lost or _ADDED.search(response.body):
            problem = f"{', '.join(lost)} of the answer does not go back"
            yield found(not lost, f"/exchanges/{index + 1}/request", problem)


#: What a provider adds to an answer.
_ADDED = re.compile(rb'"(?:encrypted_index|server_tool_use|web_search_call|phase)"')
_ENCRYPTED = re.compile(rb'"(encrypted_content|encrypted_index)": ?"([^"]+)"')


def _lost_searches(answer: bytes, sent: Json) -> Iterator[str]:
    """Yields what a request to Anthropic lacks of the searches and citations of an answer."""
    encrypted = _ENCRYPTED.findall(answer)
    written = json.dumps(sent) if encrypted else ""
    for name, value in encrypted:
        if value.decode() not in written:
            yield f"`{name.decode()}`"
    ids = [each.get("id") for each in objects(sent) if each.get("type") == "server_tool_use"]
    for block in _answered("anthropic", answer, "server_tool_use"):
        if ids.count(block.get("id")) != 1:
            yield f"the call of {text_of(block.get('name'))}"
    held = list(objects(sent))
    for kind, fields in _SHOWN.items():
        for each in _answered("anthropic", answer, kind):
            told = {name: each[name] for name in ("type", *fields) if each.get(name)}
            if not any(told.items() <= other.items() for other in held):
                yield f"the {kind.replace('_', ' ')} {text_of(each.get('title'))!r}"


#: What a reader sees of results and citations.
_SHOWN = {
    "web_search_result": ("url", "title"),
    "web_search_result_location": ("url", "title", "cited_text"),
}


def _lost_phases(answer: bytes, sent: Json) -> Iterator[str]:
    """Yields what a request to Responses lacks: the searches of an answer, and the phase of each message that is sent."""
    searched = len({each.get("id") for each in _answered("openai-responses", answer, "web_search_call")})
    if searched > sum(each.get("type") == "web_search_call" for each in objects(sent)):
        yield "the search"
    queries = [object_of(each.get("action")).get("query") for each in objects(sent)]
    for call in _answered("openai-responses", answer, "web_search_call") if searched else ():
        if (query := object_of(call.get("action")).get("query")) and query not in queries:
            yield f"the search for {text_of(query)!r}"
    said = [each for each in objects(sent) if each.get("role") == "assistant"]
    for message in _answered("openai-responses", answer, "message"):
        text = "".join(text_of(part.get("text")) for _, part in elements(message.get("content"), ""))
        same = [each for each in said if text and text in json.dumps(each, ensure_ascii=False)]
        if message.get("phase") and same and message["phase"] not in [each.get("phase") for each in same]:
            yield f"the phase {text_of(message['phase'])!r}"


def _answered(wire: str, answer: bytes, kind: str) -> list[Json]:
    """Returns the blocks or items of a kind in an answer, streamed or whole."""
    if kind.encode() not in answer:  # as nearly always
        return []
    with suppress(ValueError):
        return [each for each in objects(json.loads(answer)) if each.get("type") == kind]
    events = [event.data for event in events_of(wire, answer)]
    return [each for each in objects(events) if each.get("type") == kind]


@book.rule(
    "HIS-007",
    SHOULD,
    LOSS,
    source=[
        "https://github.com/TypeWhisper/typewhisper-win/pull/457",
        "https://github.com/langchain-ai/langchainjs/issues/11357",
    ],
)
def blocks_of_text_stay_apart(run: Run) -> Iterator[Finding]:
    """Separate texts of the user are not joined without a break, and the model's text blocks go back as
    separate blocks, each whole.

    Why: without a break, the last word of one text and the first word of the next become one word. A text that goes
    back in many blocks, as its pieces arrived, is no longer found in the provider's cache. Fix: send each text as a
    part of its own, and collect the pieces of a block into one block.
    """
    for index, ask in enumerate(run.case.steps[:1] if run.sent_items else ()):
        texts = [part.text if isinstance(part, Text) else "" for part in ask.parts]
        for first, second in pairwise(texts):
            if first and second:
                joined = any(first + second in item.text for item in run.sent_items[0])
                yield found(
                    not joined, f"/exchanges/{index}/request", f"{first + second!r} was made of two texts"
                )
    for index, answers in _followed(run) if run.wire in _BLOCKS else ():
        blocks = [part.text for part in answers[0].parts if isinstance(part, Say | Call | Refuse)]
        texts = [text for text in blocks if text]
        sent = [item.text for item in _new(run, index) if item.kind == "text"]
        split = len(sent) > len(texts) and "".join(sent) == "".join(texts)
        if split or (len(texts) > 1 and not answers[0].calls):
            yield found(sent == texts, f"/exchanges/{index + 1}/request", f"{texts} went back as {sent}")


@book.rule(
    "HIS-008",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/extended-thinking: preserve thinking blocks",
        "https://docs.ollama.com/capabilities/streaming",
        "https://github.com/davidmigloz/ai_clients_dart/pull/296",
        "https://api-docs.deepseek.com/guides/thinking_mode: it must be fully passed back in all subsequent requests",
        "https://github.com/spring-projects/spring-ai/pull/6520",
        "https://docs.cohere.com/docs/tool-use-overview: the tool_plan is appended with the calls",
    ],
)
def thoughts_before_calls_go_back(run: Run) -> Iterator[Finding]:
    """Thinking before a tool call is sent back with the call, if the provider requires it (Anthropic, Bedrock, DeepSeek, Ollama, and the plan of Cohere's models).

    Why: Anthropic refuses a call whose thinking is missing. Ollama's documentation requires it, because the model
    thinks again without it, and DeepSeek's, too: an empty `reasoning_content` is accepted, but the model has lost its
    thought. Gemini refuses a call without its signature, which Gemini's own rules check. OpenAI recommends it, and
    others do not require it. Fix: keep the thinking blocks of an answer with their signatures, also those without a
    text, and send them before its calls.
    """
    mark = _THOUGHT_OF.get(run.wire) or _THOUGHT_OF.get(f"{run.wire}/{run.provider}")
    for index, answers in _followed(run) if mark else ():
        response = run.exchanges[index].response
        told = mark is not None and response is not None and mark in response.body
        if told and answers[0].calls and answers[0].thinking:
            kinds = [item.kind for item in _new(run, index)]
            problem = (
                f"the model thought before its call, and what goes back has no thought, but {listed(kinds)}"
            )
            kept = "thinking" in kinds or (run.wire == "cohere" and "text" in kinds)  # a plan is a text there
            yield found(kept, f"/exchanges/{index + 1}/request", problem)


#: What an answer has if its thinking must go back.
_THOUGHT_OF = {
    "anthropic": b'"signature',
    "bedrock": b'"signature',
    "openai-chat/deepseek": b'"reasoning_content"',
    "ollama": b'"thinking"',
    "cohere": b'"tool_plan"',
}


def _kinds(answer: Answer, said: Sequence[Item]) -> tuple[list[str], list[str]]:
    """Returns in which order the answer had texts, thoughts and calls, and in which they go back. HIS-006 and HIS-008 report what is missing on one side."""
    names = {Say: "text", Think: "thinking", Call: "call"}
    wanted = [
        names[type(part)]
        for part in answer.parts
        if isinstance(part, Call) or (isinstance(part, Say | Think) and part.text.strip())
    ]
    sent = [
        item.kind
        for item in said
        if item.kind in names.values() and (item.kind != "text" or item.text.strip())
    ]
    both = {*wanted} & {*sent}
    return ([kind for kind, _ in groupby(k for k in kinds if k in both)] for kinds in (wanted, sent))  # type: ignore[return-value]  # a pair is made of a pair


def _followed(run: Run) -> Iterator[tuple[int, Sequence[Answer]]]:
    """Yields each complete answer that a later request of its conversation follows, with the accepted alternatives."""
    if len(run.case.speakers) > 1 or answer_refused(run) or _failed(run):
        return
    for index, step in run.answered():
        if not isinstance(step, Answer | AnswerByMedia) or index + 1 >= len(run.sent_items):
            continue
        answers = [answer for answer in answers_of(step) if answer.reason in {"stop", "tool"}]
        if answers and all(_is_telling(answer) for answer in answers):
            yield index, answers


def _failed(run: Run) -> bool:
    """Tells whether the caller got an error instead of an answer. The turn may then be left out."""
    steps = zip(run.case.steps, run.replies, strict=False)
    return any(reply.error is not None and ask.outcome == "answered" for ask, reply in steps)


def _is_telling(answer: Answer) -> bool:
    """Tells whether a call can be compared. Arguments that are not JSON cannot."""
    return bool(answer.parts) and all(call.text is None for call in answer.calls)


def _new(run: Run, index: int) -> list[Item]:
    """Returns the assistant's items that the request after an exchange adds."""
    before = sum(item.role == "assistant" for item in run.sent_items[index])
    spoken = 0
    for place, item in enumerate(run.sent_items[index + 1]):
        if spoken == before and item.role == "assistant":
            return [*takewhile(lambda each: each.role == "assistant", run.sent_items[index + 1][place:])]
        spoken += item.role == "assistant"
    return []


def _texts(run: Run, index: int, answer: Answer) -> set[str]:
    """Returns the forms in which the text may be sent back. Cohere's models state a plan before their calls, which is
    text there. Claude may write a blank block, which the API refuses in requests. The words of a refusal are a text in Responses.
    """
    planned = [answer.thinking + answer.text] if run.wire == "cohere" and answer.calls else []
    return {
        answer.text,
        answer.text + answer.refusal,
        *planned,
        *(_unblank(run, index) if run.wire == "anthropic" else []),
    }


def _unblank(run: Run, index: int) -> Iterator[str]:
    """Yields the text of a complete answer without its blank blocks."""
    response = run.exchanges[index].response
    with suppress(ValueError):
        answer = object_of(json.loads(response.body if response else b""))
        texts = [text_of(block.get("text")) for _, block in elements(answer.get("content"), "")]
        yield "".join(text for text in texts if text.strip())


def _calls(answer: Answer) -> list[str]:
    return [call_key(call.name, call.arguments) for call in answer.calls]


_CHANGED_CALLS = "its calls are changed"


def _change(answer: Answer, text: str, calls: Sequence[str]) -> str:
    """Returns what happened to an answer on its way back, in words that do not depend on its content."""
    wanted = _calls(answer)
    if calls == wanted:
        return "its text is changed" if text else "its text is lost"
    if sorted(calls) == sorted(wanted):
        return "its calls are in another order"
    return _CHANGED_CALLS if len(calls) >= len(wanted) else "calls are lost or merged"


def _shown_answer(answer: Answer) -> str:
    return _shown(answer.text, _calls(answer))


def _shown(text: str, calls: Sequence[str]) -> str:
    return " and ".join([*([repr(text[:80])] if text else []), *calls]) or "nothing"
