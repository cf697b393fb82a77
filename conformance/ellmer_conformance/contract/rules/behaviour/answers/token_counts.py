"""Token counts: requested where the API wants that, and reported as the provider counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .....scenarios.messages import Reply
from .....scenarios.script import Usage
from .....scenarios.variations.unusual_events import TOKENS_OF_TOOLS
from ....counts import listed
from ....observed.run import Run
from ....rule import Finding, broken
from .._rulebook import LOSS, MUST, SHOULD, book, found, varied_at
from .replies import answers_to, is_whole
from .streams import same_as_plain


@book.rule("USG-001", MUST, LOSS, source="https://github.com/tensorzero/tensorzero/issues/5481")
def usage_is_the_providers(run: Run) -> Iterator[Finding]:
    """The reported token counts are the provider's, streamed or not: those of the last answer, or their sum.

    Why: callers compute costs and limits from these counts. The counts may include cached and reasoning tokens or not:
    OpenAI includes both, Anthropic's `input_tokens` exclude cached tokens, and Gemini's `candidatesTokenCount` excludes
    thinking. The provider's own count is accepted, and so is the sum of its parts. Fix: take each count as the provider
    sent it, a 0 too, and take it once.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        answers = answers_to(run, wanted.text) if wanted.outcome == "answered" else []
        usages = [answer.usage for answer in answers]
        if usages and reply.usage and is_whole(run, reply.text, wanted.text, answers):
            want = _counts(usages[-1:])
            got = {key: reply.usage.get(key) for key in want}
            problem = f"the provider counted {_told(want)}, and the caller got {_told(got)}"
            yield found(_is_counted(got, usages), f"/replies/{index}", problem)


@book.rule(
    "USG-002",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "https://github.com/microsoft/agent-framework/issues/7143",
        "https://github.com/rashidrazak/opencode-cmd-provider/pull/213",
        "https://github.com/ankit373/hydra/pull/861",
    ],
)
def counts_come_from_where_they_are(run: Run) -> Iterator[Finding]:
    """Input tokens are read from `message_start` if `message_delta` has none, and output tokens are not added up. Counts in each chunk
    of Chat Completions do not end the answer. Cohere's `billed_units` are not its tokens.

    Why: the counts of `message_delta` and of each chunk are totals, so a sum counts the same tokens twice. Fix: let a
    later count take the place of the one before it.
    """
    yield from same_as_plain(run, "USG-002")


@book.rule(
    "USG-003",
    MUST,
    LOSS,
    source="https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create",
)
def streamed_counts_are_asked_for(run: Run) -> Iterator[Finding]:
    """A client that reports token counts of streams requests them from Chat Completions (`stream_options`).

    Why: Chat Completions sends the counts of a stream only if they are requested. Fix: set `stream_options:
    {"include_usage": true}` in streamed requests.
    """
    if run.wire != "openai-chat" or run.provider != "openai":
        return
    if any(reply.usage.get("input") is not None for reply in run.replies):
        for index, exchange in enumerate(run.exchanges):
            asked = (exchange.request.body.get("stream_options") or {}).get("include_usage")
            if exchange.request.stream:
                yield found(asked, f"/exchanges/{index}/request", "`stream_options.include_usage` is missing")


@book.rule(
    "USG-004",
    MUST,
    LOSS,
    source="https://github.com/laravel/ai/pull/1021",
)
def parts_of_counts_are_kept(run: Run) -> Iterator[Finding]:
    """Tokens that were read from a cache or written to it are reported as parts of the input, and reasoning tokens as part of the output.

    Why: providers count differently, and costs are wrong if a count means something else for each of them. Fix: add the
    cached tokens to the input where the provider counts them apart, as Anthropic does, and not where it counts them in.
    """
    for index, (wanted, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        usage = next((a.usage for a in answers_to(run, wanted.text)[-1:]), None)
        for name in _PARTS if usage and reply.error is None else ():
            want, got = getattr(usage, name), reply.usage.get(name)
            if not want or name not in reply.usage or not _provider_counted(run, name):
                continue
            if got is not None:
                yield found(got == want, f"/replies/{index}", f"{name} is {got}, the provider counted {want}")
            else:
                yield broken(f"/replies/{index}", f"{name} is not reported; the provider counted {want}")


@book.rule(
    "USG-007",
    MUST,
    LOSS,
    source=[
        "https://ai.google.dev/api/generate-content#UsageMetadata",
        "https://github.com/strands-agents/harness-sdk/pull/3892",
        "https://github.com/agentscope-ai/agentscope-java/pull/3034",
    ],
)
def tokens_of_the_providers_tools_are_input(run: Run) -> Iterator[Finding]:
    """The tokens that Gemini's own tools took (`toolUsePromptTokenCount`) are reported as input, and not as output.

    Why: they are a part of the total beside the prompt, the answer and the thoughts. A caller who computes with the
    prompt alone pays for more than is reported, and one who subtracts the prompt from the total pays the price of
    output for them. Fix: add `toolUsePromptTokenCount` to the input tokens.
    """
    for varied in run.varied:
        for plain, reply in zip(run.replies, varied.run.replies, strict=False):
            before, after = (dict(each.usage) for each in (plain, reply))
            if varied.variation.rule != "USG-007" or not before.get("input") or not after.get("input"):
                continue
            more = {name: (after.get(name) or 0) - (before.get(name) or 0) for name in ("input", "output")}
            fine = more["output"] == 0 and more["input"] > 0 and more["input"] % TOKENS_OF_TOOLS == 0
            problem = f"{TOKENS_OF_TOOLS} tokens of tools add {more['input']} to the input and {more['output']} to the output"
            yield found(fine, varied_at(varied), problem)


@book.rule(
    "USG-008",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/api/messages (usage)",
        "https://github.com/hekmon/comfyui-openai-api/issues/5",
    ],
)
def counts_need_no_parts(run: Run) -> Iterator[Finding]:
    """Token counts are read where their parts, such as cached input, are null. The answer is the same.

    Why: Anthropic documents these fields as nullable, and compatible servers have no parts. A client that looks into them fails after
    the answer has arrived. Fix: take null for nothing.
    """
    for varied in run.varied:
        if varied.variation.rule == "USG-008":
            before, after = (", ".join(map(_whole_count, each.replies)) for each in (run, varied.run))
            problem = f"under {varied.variation.told}, the replies were {before} and are {after}"
            yield found(before == after, varied_at(varied), problem)


def _whole_count(reply: Reply) -> str:
    """Returns a reply with its counts, without their parts."""
    return f"{reply.text!r} ({reply.usage.get('input')} input, {reply.usage.get('output')} output)"


@book.rule("USG-005", SHOULD, LOSS, source="https://github.com/simonw/llm/issues/1697")
def missing_counts_are_none(run: Run) -> Iterator[Finding]:
    """Token counts that the provider did not send are reported as None, not 0, and the caller still gets the
    answer.

    Why: a 0 says that nothing was used, and an answer without counts is still an answer. Fix: read the counts with a
    default of None, and add only those that are there.
    """
    for varied in run.varied:
        if varied.variation.rule != "USG-005":
            continue
        counts = [count for reply in varied.run.replies for count in reply.usage.values()]
        problem = f"nothing was counted, and {listed(counts)} is reported"
        yield found(not any(count == 0 for count in counts), varied_at(varied), problem)
        yield found(
            _texts(varied.run) == _texts(run), varied_at(varied), f"the replies are {_texts(varied.run)}"
        )


def _told(counts: Mapping[str, int | None]) -> str:
    """Returns counts for a message: `12 input and 7 output tokens`."""
    return f"{counts['input']} input and {counts['output']} output tokens"


def _counts(usages: Sequence[Usage]) -> dict[str, int]:
    """Returns the tokens of one answer, or of all answers to a question."""
    return {"input": sum(each.input for each in usages), "output": sum(each.output for each in usages)}


def _is_counted(got: Mapping[str, int | None], usages: Sequence[Usage]) -> bool:
    """Tells whether these are the counts of the last answer, or the sum over all answers, with their parts or
    without.
    """
    return any(
        got["input"] in _inputs(total["input"], some)
        and got["output"] in (total["output"], total["output"] - sum(each.reasoning for each in some))
        for some in (usages[-1:], usages)
        for total in [_counts(some)]
    )


def _inputs(total: int, usages: Sequence[Usage]) -> tuple[int, int, int]:
    """Returns the counts of the input that are right: with all its parts, without what was read from a cache, and also without what
    was written to one.
    """
    uncached = total - sum(each.cached for each in usages)
    return total, uncached, uncached - sum(each.cache_write for each in usages)


#: The parts of the counts, each with the names that providers give it.
_PARTS = {
    "cached": rb"cache",
    "reasoning": rb"reasoning_tokens|thinking_tokens|thoughtsTokenCount",
    "cache_write": rb"cache_?(creation|write)",
}


def _provider_counted(run: Run, name: str) -> bool:
    """Tells whether the provider's answer has counts. Not every format has them."""
    key = _PARTS[name]
    bodies = [e.response.body for e in run.exchanges if e.response]
    return any(re.search(key, body, re.IGNORECASE) for body in bodies)


def _texts(run: Run) -> list[str]:
    return [reply.text for reply in run.replies]
