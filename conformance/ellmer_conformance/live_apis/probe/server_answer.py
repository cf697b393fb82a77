"""The answer of a server: the bytes, and the content in neutral terms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...contract.exchange import Exchange
from ...contract.provider_answers.answer import Event, Told, events_of
from .questions import Question

__all__ = ["Heard"]


@dataclass(frozen=True)
class Heard:
    """A question and its answer. `plain` is the answer to the same question without a stream."""

    wire: str
    question: Question
    exchange: Exchange
    kind: str = "question"  # or what is wrong with the request: "malformed", "rule", "example"
    rule: str = ""
    able: Mapping[str, bool] = field(default_factory=dict)
    told: Told | None = None
    plain: Told | None = None
    steady: bool = False  # the server answers the same question in the same words

    @property
    def status(self) -> int:
        """The HTTP status; 0 if no answer arrived."""
        return self.exchange.response.status if self.exchange.response else 0

    @property
    def content_type(self) -> str:
        """The content type of the answer, without parameters."""
        headers = self.exchange.response.headers if self.exchange.response else {}
        return headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def value(self) -> Any:
        """The body as JSON, or `None` if it is not JSON."""
        try:
            return json.loads(self.exchange.response.body) if self.exchange.response else None
        except ValueError:
            return None

    @cached_property
    def events(self) -> list[Event]:
        """The events of a stream."""
        return events_of(self.wire, self.exchange.response.body) if self.exchange.response else []

    @property
    def streamed(self) -> bool:
        """Whether a stream was requested and arrived."""
        return self.question.stream and self.kind == "question" and self.status == 200

    @property
    def answered(self) -> bool:
        """Whether it is an answer to a question, not an error."""
        return self.kind == "question" and self.status == 200
