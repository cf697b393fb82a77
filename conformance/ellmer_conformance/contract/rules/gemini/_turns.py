"""The conversation as the API judges it: the Gemini API merges consecutive contents of one role, Vertex AI
merges only the model's.

A recording at Vertex shows that a call and an empty text in two contents, then the response, are accepted
(gemini-3.5-flash).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from ...exchange import Json, Request
from ...readers.gemini import contents, get, parts


@dataclass
class Turn:
    """The parts of one role, each with its pointer; `index` is that of the first content."""

    index: int
    pointer: str
    model: bool
    parts: list[tuple[str, Json]] = field(default_factory=list)

    def of(self, key: str) -> list[tuple[str, Json]]:
        """Returns the calls (`functionCall`) or responses (`functionResponse`) with the pointers of their
        parts.
        """
        return [(pointer, value) for pointer, part in self.parts if isinstance(value := get(part, key), dict)]


@lru_cache(maxsize=4)
def turns(request: Request) -> list[Turn]:
    """Returns the turns of a request."""
    found: list[Turn] = []
    for index, (pointer, content) in enumerate(contents(request.body)):
        model = content.get("role") == "model"
        if not found or found[-1].model != model or (request.provider == "vertex" and not model):
            found.append(Turn(index, pointer, model))
        found[-1].parts += parts(content, pointer)
    return found


def exchanges(request: Request) -> Iterator[tuple[Turn, Turn]]:
    """Yields each turn that calls functions, with the next turn. The last turn is not answered yet."""
    found = turns(request)
    for turn, following in pairwise(found):
        if turn.model and turn.of("functionCall"):
            yield turn, following
