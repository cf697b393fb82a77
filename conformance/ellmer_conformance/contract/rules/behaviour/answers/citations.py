"""Citations: the sources of an answer's texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .....scenarios.messages import Source
from .....scenarios.script import Answer, Say, answers_of
from ....observed.run import Run
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found

#: Formats that name the characters that a source is for; elsewhere it is for a block of text.
_SPANS = {"openai-chat", "openai-responses", "gemini", "cohere"}


@book.rule(
    "CIT-001",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/tools-web-search",
        "https://github.com/openai/openai-agents-python/pull/4222",
        "https://github.com/openai/openai-agents-js/pull/1617 (each once)",
    ],
)
def sources_are_handed_over(run: Run) -> Iterator[Finding]:
    """The caller gets the sources of an answer, each once, with its URL and the words that it supports.

    Why: the terms of the search tools ask for visible links, and an answer without them cannot be checked. Fix: read
    the annotations, citations or grounding metadata beside the text, streamed or not.
    """
    for index, (ask, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        for part in _cited(run, ask.text) if ask.outcome == "answered" and not run.refused else ():
            for source in part.sources:
                told = [(got.url, got.cited) for got in reply.sources]
                problem = f"{source.url} is the source of {source.cited!r}; the caller is told {told}"
                yield found(_named(run, part, source, reply.sources), f"/replies/{index}", problem)
        named = [source.url for part in _cited(run, ask.text) for source in part.sources]
        twice = [got.url for got in reply.sources if reply.sources.count(got) > max(1, named.count(got.url))]
        if named and ask.outcome == "answered" and not run.refused:
            yield found(not twice, f"/replies/{index}", f"{', '.join(sorted({*twice}))} is handed over twice")


def _cited(run: Run, text: str) -> list[Say]:
    """Returns the texts with sources of the answer with this text."""
    answers = [answer for step in run.case.script for answer in answers_of(step) if answer.text == text]
    return [part for answer in answers[:1] for part in _texts(answer) if part.sources]


def _texts(answer: Answer) -> list[Say]:
    return [part for part in answer.parts if isinstance(part, Say)]


def _named(run: Run, part: Say, source: Source, told: Sequence[Source]) -> bool:
    """Tells whether the caller gets a source for its passage, or for the whole text if none is named."""
    words = (source.cited if run.wire in _SPANS else "") or part.text
    return any(got.url == source.url and (got.cited or part.text) == words for got in told)
