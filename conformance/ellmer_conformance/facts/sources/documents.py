"""What the providers' own documents say (`documents.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from ..cell import Answer, Cell, Evidence, cell_at
from ..related_models import ModelKey, Spot
from .recordings import known_places


@dataclass(frozen=True)
class Document:
    """What a provider's own document says of features.

    Args:
        link: The page, or the line of a published file.
        words: What it says.
        day: The day on which the words were read, on the page or in a stored copy of it.
        at: The places that it is about: regular expressions for `"wire provider model"`.
        yes: The features that the API has.
        no: The features that it does not have.
        ignored: The features that it accepts and does nothing with.
        note: A restriction in words.
        inferred: Whether it is about the same models at another provider. Default: False.

    Examples:
        >>> Document("https://example.com", "It does.", "2026-11-27", ("gemini google .*",), ("seed",)).no
        ()
    """

    link: str
    words: str
    day: str
    at: tuple[str, ...]
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    note: str = ""
    inferred: bool = False

    @property
    def places(self) -> list[ModelKey]:
        """The known models that it is about, each with its wire format and provider."""
        return _about(self.at)

    def cells(self) -> Iterator[Cell]:
        """Yields what the document says of each model and feature."""
        proof = Evidence("document", self.link, self.words, self.day)
        told: tuple[tuple[Answer, tuple[str, ...]], ...] = (
            ("yes", self.yes),
            ("no", self.no),
            ("ignored", self.ignored),
        )
        for place in self.places:
            for answer, features in told:
                for each in features:
                    cell = cell_at(each, place, answer, proof, note=self.note)
                    yield replace(cell, inferred=self.inferred or self._about_another(place[1]))

    def _about_another(self, provider: str) -> bool:
        """Tells whether it is a page of the Gemini API, which Vertex AI has beside it with the same models."""
        return provider == "vertex" and self.link.startswith("https://ai.google.dev/")


@cache
def _about(at: tuple[str, ...]) -> list[ModelKey]:
    about = re.compile("|".join(at))
    return [place for place in known_places() if about.fullmatch(" ".join(place))]


@cache
def documents() -> tuple[Document, ...]:
    """Returns the documents of the providers that `documents.toml` lists.

    Examples:
        >>> all(each.words for each in documents())
        True
    """
    import tomllib  # noqa: PLC0415 - only this table is TOML

    told = tomllib.loads(files("ellmer_conformance.facts").joinpath("documents.toml").read_text("utf-8"))[
        "document"
    ]
    return tuple(_document(each) for each in told)


def _document(told: dict[str, Any]) -> Document:
    lists = {name: tuple(told.get(name, ())) for name in ("at", "yes", "no", "ignored")}
    day, note, inferred = told["read"].isoformat(), told.get("note", ""), told.get("inferred", False)
    return Document(told["link"], told["words"], day, note=note, inferred=inferred, **lists)


def of_documents(spots: list[Spot]) -> Iterator[Cell]:
    wanted = {(*place, feature) for place, feature in spots}
    for document in documents():
        yield from (cell for cell in document.cells() if cell.place in wanted)
