"""The requested form of the answer."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Json
from ....readers.json_access import object_of

__all__ = ["answer_formats"]


def answer_formats(request: Json) -> Iterator[tuple[str, Json]]:
    """Yields each form with its place: `output_config.format`, or `output_format`, its name in the beta."""
    found = {
        "output_config.format": object_of(request.get("output_config")).get("format"),
        "output_format": request.get("output_format"),
    }
    yield from ((place, form) for place, form in found.items() if isinstance(form, dict))
