"""Structured output for SDKs that accept a Pydantic model and return an instance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, create_model

from ...scenarios.messages import Part, Reply
from .sdk_session import Said, SDKSession

__all__ = ["Parsing", "model_of"]

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


def model_of(schema: Mapping[str, Any]) -> type[BaseModel]:
    """Returns the model for a flat schema, with every property required, as a caller would write it."""
    fields: dict[str, Any] = {name: (_TYPES[of["type"]], ...) for name, of in schema["properties"].items()}
    return create_model("Value", **fields)


class Parsing(SDKSession, ABC):
    """A conversation over an SDK that parses answers. Its result is the value."""

    @abstractmethod
    def parse(self, model: type[BaseModel]) -> tuple[Said, Any]:
        """Sends the messages. Returns the answer and the SDK's parsed value."""

    @abstractmethod
    async def aparse(self, model: type[BaseModel]) -> tuple[Said, Any]:
        """Works as `parse()`, without blocking."""

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        """Returns a value that fits the schema, or the SDK's error."""
        try:
            with self._asking(parts):
                said, value = self.parse(model_of(schema))
                while self.ran_tools(said):
                    said, value = self.parse(model_of(schema))
                return _reply(value)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return Reply(complete=False, error=error)

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        """Works as `extract()`, without blocking."""
        try:
            with self._asking(parts):
                said, value = await self.aparse(model_of(schema))
                while self.ran_tools(said):
                    said, value = await self.aparse(model_of(schema))
                return _reply(value)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return Reply(complete=False, error=error)

    @contextmanager
    def _asking(self, parts: Sequence[Part]) -> Iterator[None]:
        """Adds the user's message for one request only, because a value is not a turn of the conversation."""
        before = len(self.messages)
        self.messages += self.user([], parts)
        try:
            yield
        finally:
            del self.messages[before:]


def _reply(value: Any) -> Reply:
    return Reply(value=value.model_dump() if isinstance(value, BaseModel) else value)
