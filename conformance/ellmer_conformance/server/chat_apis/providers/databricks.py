"""Databricks: counts in each chunk, also without a request for them, and empty content beside calls.

https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ....contract.observed.exchange import Json
from ....scenarios.script import Answer
from ..base import Frame, compact, sse
from .base import Compatible


class Databricks(Compatible):
    """Chat Completions of a Databricks workspace."""

    provider: ClassVar[str] = "databricks"

    def frames(self, answer: Answer) -> Iterator[Frame]:
        self.counted = self.usage(answer.usage)
        yield from super().frames(answer)

    def closing(self, answer: Answer) -> Iterator[Frame]:
        yield Frame("end", self.chunk({}, finish=self.stops[answer.reason]))
        yield Frame("end", sse("[DONE]"))

    def event(self, rest: Json) -> bytes:
        return sse(compact(self.chunk_head | rest | {"usage": self.counted}))
