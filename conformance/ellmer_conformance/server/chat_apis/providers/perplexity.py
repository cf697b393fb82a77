"""Perplexity: CRLF, no `[DONE]`, and in each chunk everything so far: text, counts and sources.

https://docs.perplexity.ai/api-reference/chat-completions-post; as recorded (66 streams, none with a `[DONE]`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from ....contract.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Say
from ...http.messages import Headers
from .._citations import sources_of
from .._openai import fields
from ..base import FailureKind, Frame, compact, utf8, words
from .base import Compatible


class Perplexity(Compatible):
    """The host api.perplexity.ai."""

    provider: ClassVar[str] = "perplexity"
    carries: ClassVar[frozenset[str]] = frozenset()
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "rate-limit": Refusal("Request rate limit exceeded.", 429, "requests_rate_limit_exceeded"),
        "context-length": Refusal(
            "The total length of all messages is too long.", 400, "too_many_prompt_tokens"
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "Invalid model '{model}'. Permitted models can be found in the documentation at "
        "https://docs.perplexity.ai/guides/model-cards.",
        400,
        "invalid_model",
    )

    def completion(self, answer: Answer) -> Json:
        return super().completion(answer) | sources(answer)

    def frames(self, answer: Answer) -> Iterator[Frame]:
        pieces = [piece for part in answer.parts if isinstance(part, Say) for piece in words(part)]
        rest = {"usage": self.usage(answer.usage), **sources(answer)}
        for place, piece in enumerate(pieces):
            yield Frame("text", self.cumulative(piece, "".join(pieces[: place + 1]), rest))
        yield Frame("end", self.cumulative("", "".join(pieces), rest, self.stops[answer.reason]))

    def cumulative(self, piece: str, text: str, rest: Json, finish: str | None = None) -> bytes:
        """Returns a chunk with the new piece and everything so far."""
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": piece},
            "finish_reason": finish,
            "message": {"role": "assistant", "content": text},
        }
        return self.event({"choices": [choice], **rest})

    def event(self, rest: Json) -> bytes:
        return utf8(f"data: {compact(self.chunk_head | rest)}\r\n\r\n")

    @property
    def id(self) -> str:
        return self.ticket.uuid("completion")

    def headers(self, *, stream: bool) -> Headers:
        return (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),)

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        if super().locked(headers, query) is None:
            return None
        sentence = "Invalid API key provided. Ensure your API key is correct and active."
        return Refusal(sentence, 401, "invalid_api_key")

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:  # noqa: ARG002
        """Yields an error in the form of its error bodies. This is UNVERIFIED: no recording shows one."""
        yield utf8(f"data: {compact({'error': fields(self.failures[kind])})}\r\n\r\n")


def sources(answer: Answer) -> Json:
    """Returns the pages that the text cites. The fields are in every answer."""
    found = {source.url: source.title for _, source in sources_of(answer)}
    results = [{"title": title, "url": url, "date": None} for url, title in found.items()]
    return {"citations": [*found], "search_results": results}
