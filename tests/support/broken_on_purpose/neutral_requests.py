"""A request's body in neutral terms, to be changed: texts, calls, results and tools of five wire formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock")


@dataclass
class Slot:
    """A place of a body that holds a text, or anything."""

    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        """What is there."""
        return self.holder[self.key]

    @value.setter
    def value(self, new: Any) -> None:
        self.holder[self.key] = new


@dataclass
class Call:
    """A tool call: the places of its id, name and arguments. `as_text` says that the arguments are JSON text."""

    id: Slot | None
    name: Slot
    given: Slot
    as_text: bool

    @property
    def arguments(self) -> Any:
        """The arguments."""
        return json.loads(self.given.value or "{}") if self.as_text else self.given.value

    @arguments.setter
    def arguments(self, new: Any) -> None:
        self.given.value = json.dumps(new) if self.as_text else new


@dataclass
class Result:
    """A tool result: the places of its id and text, and how it is marked as an error."""

    id: Slot | None
    text: Slot
    mark: Callable[[bool], None]


class Body:
    """A body of one of the five wire formats. `number` says which request of a conversation it is."""

    def __init__(self, wire: str, body: Json, number: int = 1) -> None:
        self.wire, self.body, self.number = wire, body, number

    @property
    def turns(self) -> list[Json]:
        """The messages, items or contents."""
        found: list[Json] = self.body.get("messages") or self.body.get("input") or self.body["contents"]
        return found

    def blocks(self, turn: Json) -> list[Json]:
        """Returns the parts of a message, or nothing if it has a string."""
        found = turn.get("content", turn.get("parts"))
        return found if isinstance(found, list) else []

    def texts(self, role: str) -> list[Slot]:
        """Returns the texts of `"user"`, `"assistant"` or `"system"`."""
        return list(self._texts(role))

    def _texts(self, role: str) -> Iterator[Slot]:
        if role == "system":
            yield from self._prompts()
            return
        named = {role, "model"} if role == "assistant" else {role}
        for turn in self.turns:
            if turn.get("role") not in named:
                continue
            if isinstance(turn.get("content"), str):
                yield Slot(turn, "content")
            for part in self.blocks(turn):
                if isinstance(part.get("text"), str) and not part.get("thought"):
                    yield Slot(part, "text")

    def _prompts(self) -> Iterator[Slot]:
        for key in ("system", "instructions"):
            if isinstance(self.body.get(key), str):
                yield Slot(self.body, key)
        held = self.body.get("system")
        held = (
            held
            if isinstance(held, list)
            else (self.body.get("systemInstruction") or self.body.get("system_instruction") or {}).get(
                "parts", []
            )
        )
        yield from (Slot(part, "text") for part in held if "text" in part)
        for turn in self.turns:
            if turn.get("role") in {"system", "developer"}:
                yield from (
                    [Slot(turn, "content")]
                    if isinstance(turn["content"], str)
                    else [Slot(p, "text") for p in self.blocks(turn)]
                )

    def calls(self) -> list[Call]:
        """Returns the tool calls."""
        return list(self._calls())

    def _calls(self) -> Iterator[Call]:
        for turn in self.turns:
            for call in turn.get("tool_calls") or ():
                function = call["function"]
                yield Call(
                    Slot(call, "id"), Slot(function, "name"), Slot(function, "arguments"), as_text=True
                )
            if turn.get("type") == "function_call":
                yield Call(Slot(turn, "call_id"), Slot(turn, "name"), Slot(turn, "arguments"), as_text=True)
            for part in self.blocks(turn):
                if part.get("type") == "tool_use":
                    yield Call(Slot(part, "id"), Slot(part, "name"), Slot(part, "input"), as_text=False)
                if "toolUse" in part:
                    use = part["toolUse"]
                    yield Call(Slot(use, "toolUseId"), Slot(use, "name"), Slot(use, "input"), as_text=False)
                if "functionCall" in part:
                    made = part["functionCall"]
                    made.setdefault("args", {})
                    id = Slot(made, "id") if "id" in made else None
                    yield Call(id, Slot(made, "name"), Slot(made, "args"), as_text=False)

    def results(self) -> list[Result]:
        """Returns the tool results."""
        return list(self._results())

    def _results(self) -> Iterator[Result]:
        for turn in self.turns:
            if turn.get("role") == "tool":
                yield Result(
                    Slot(turn, "tool_call_id"), Slot(turn, "content"), _saying(Slot(turn, "content"))
                )
            if turn.get("type") == "function_call_output":
                yield Result(Slot(turn, "call_id"), Slot(turn, "output"), _saying(Slot(turn, "output")))
            for part in self.blocks(turn):
                if part.get("type") == "tool_result":
                    yield Result(
                        Slot(part, "tool_use_id"), _inner(part), _flag(part, "is_error", (True, False))
                    )
                if "toolResult" in part:
                    held = part["toolResult"]
                    yield Result(
                        Slot(held, "toolUseId"), _inner(held), _flag(held, "status", ("error", "success"))
                    )
                if "functionResponse" in part:
                    held = part["functionResponse"]["response"]
                    key = next(iter(held))
                    id = Slot(part["functionResponse"], "id") if "id" in part["functionResponse"] else None
                    yield Result(id, Slot(held, key), _renaming(held))

    def tools(self) -> list[Json]:
        """Returns the declared tools: the objects that have their names and descriptions."""
        found = list[Json]()
        for tool in self.body.get("tools") or (self.body.get("toolConfig") or {}).get("tools") or ():
            found += (
                tool.get("functionDeclarations")
                or tool.get("function_declarations")
                or [tool.get("function") or tool.get("toolSpec") or tool]
            )
        return found

    def schemas(self) -> list[Slot]:
        """Returns the places of the tools' schemas."""
        keys = ("parameters", "input_schema", "parametersJsonSchema")
        slots = [Slot(tool, key) for tool in self.tools() for key in keys if isinstance(tool.get(key), dict)]
        return slots + [Slot(tool["inputSchema"], "json") for tool in self.tools() if "inputSchema" in tool]

    def options(self) -> Json:
        """Returns the object that has the options: the body, or a part of it."""
        held = {"gemini": "generationConfig", "bedrock": "inferenceConfig"}.get(self.wire)
        return self.body.setdefault(held, {}) if held else self.body

    def say(self, role: str, text: str, at: int | None = None) -> None:
        """Adds a message of a speaker, at the end or before a place."""
        named = "model" if self.wire == "gemini" and role == "assistant" else role
        kind = "output_text" if role == "assistant" else "input_text"
        contents: dict[str, Json] = {
            "openai-chat": {"content": text},
            "openai-responses": {"content": [{"type": kind, "text": text}]},
            "anthropic": {"content": [{"type": "text", "text": text}]},
            "gemini": {"parts": [{"text": text}]},
            "bedrock": {"content": [{"text": text}]},
        }
        self.turns.insert(len(self.turns) if at is None else at, {"role": named, **contents[self.wire]})


def _inner(part: Json) -> Slot:
    """Returns the place of a result's text, which may be in a list."""
    content = part.get("content")
    if isinstance(content, list) and content and "text" in content[0]:
        return Slot(content[0], "text")
    if isinstance(content, list) and content and "json" in content[0]:
        return Slot(content[0], "json")
    part.setdefault("content", "")
    return Slot(part, "content")


def _flag(part: Json, key: str, values: tuple[Any, Any]) -> Callable[[bool], None]:
    def mark(failed: bool) -> None:
        part[key] = values[0 if failed else 1]

    return mark


def _saying(slot: Slot) -> Callable[[bool], None]:
    def mark(failed: bool) -> None:
        slot.value = f"Error: {slot.value}" if failed else "done"

    return mark


def _renaming(response: Json) -> Callable[[bool], None]:
    def mark(failed: bool) -> None:
        key = next(iter(response))
        value = response.pop(key)
        response["error" if failed else "result"] = f"Error: {value}" if failed else "done"

    return mark
