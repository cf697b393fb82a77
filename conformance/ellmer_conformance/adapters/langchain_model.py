"""Adapter for a chat model class of LangChain. The adapter has the tool loop, because a model has none.

`ellmer_conformance.pytest.langchain` makes it of a test class of langchain-tests. LangChain itself is imported when a
conversation begins.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from ..scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolCall, ToolResult, Turn
from . import Capabilities, Endpoint, MediaAbility

__all__ = ["LangChainModel"]

#: Names that chat models have for a parameter, the usual one first.
_NAMES = {
    "base_url": ("base_url", "api_base", "openai_api_base", "anthropic_api_url", "api_url", "endpoint"),
    "api_key": ("api_key", "openai_api_key", "anthropic_api_key", "google_api_key"),
    "model": ("model", "model_name"),
    "max_retries": ("max_retries",),
}
#: The last part of a base URL that the SDKs of these wire formats add by themselves.
_ADDED = {"anthropic": "/v1", "gemini": "/v1beta"}
_STOPS = {
    **dict.fromkeys(("tool_calls", "tool_use"), "tool"),
    **dict.fromkeys(("end_turn", "completed", "STOP"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("content_filter", "refusal", "SAFETY"), "filter"),
}


class LangChainModel:
    """An adapter for a class of chat models.

    Args:
        chat_model_class: The class, a subclass of `BaseChatModel`.
        params: Keyword arguments of the class. Address, key, model and retries are those of the case.
        wire: Name of the wire format that the class speaks.
        provider: Name of the provider.

    Examples:
        >>> LangChainModel(dict, {}, "openai-chat", "openai").wires
        {'openai-chat': ['openai']}
    """

    def __init__(
        self, chat_model_class: type[Any], params: Mapping[str, Any], wire: str, provider: str
    ) -> None:
        self.name = chat_model_class.__name__
        self.wires: Mapping[str, Sequence[str]] = {wire: [provider]}
        self._class, self._params = chat_model_class, params

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. A tool message may have media, except in Chat Completions.

        Args:
            wire: Name of the wire format.
            provider: Name of the provider.
        """
        media: MediaAbility = "refused" if wire == "openai-chat" else "native"
        return Capabilities(image_in_tool_result=media, pdf_in_tool_result=media)

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> _Session:
        """Starts a conversation.

        Args:
            endpoint: The API to talk to.
            system: The system prompt; `None` (default) for none.
            tools: The tools that the model may call.
            history: The turns that the conversation starts from.

        Raises:
            TypeError: The class has no parameter for the address.
        """
        return _Session(self._class(**self._arguments(endpoint)), system, tools, history)

    def _arguments(self, to: Endpoint) -> dict[str, Any]:
        """Returns the keyword arguments of the class for an address."""
        known = {name for field, of in self._class.model_fields.items() for name in (field, of.alias) if name}
        wanted = {
            "base_url": to.base_url.removesuffix(_ADDED.get(to.wire, "")),
            "api_key": to.api_key,
            "model": to.model,
            "max_retries": to.max_retries,
        }
        names = {ours: next((n for n in theirs if n in known), None) for ours, theirs in _NAMES.items()}
        if names["base_url"] is None:
            raise TypeError(f"{self.name} has none of the parameters {', '.join(_NAMES['base_url'])}")
        own = {name: value for name, value in self._params.items() if not _is_one_of(name)}
        return own | {names[ours] or "": value for ours, value in wanted.items() if names[ours]}


def _is_one_of(name: str) -> bool:
    """Tells whether a parameter is one that the case decides."""
    return any(name in names for names in _NAMES.values())


class _Session:
    """A model and its messages."""

    def __init__(
        self, model: Any, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        from langchain_core.messages import SystemMessage  # noqa: PLC0415 - an optional library

        self.tools = {tool.name: tool for tool in tools}
        self.model = model.bind_tools([_declared(tool) for tool in tools]) if tools else model
        self.messages: list[Any] = [SystemMessage(system)] if system else []
        for turn in history:
            self.messages += _user(turn.parts) if turn.role == "user" else [_assistant(turn.parts)]

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        messages, pieces = [*self.messages, *_user(parts)], list[str]()
        try:
            while True:
                answer = (
                    _summed(self.model.stream(messages), pieces) if stream else self.model.invoke(messages)
                )
                messages = [*messages, answer, *self._results(answer)]
                if messages[-1] is answer:
                    return self._reply(messages, answer, pieces)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        messages, pieces = [*self.messages, *_user(parts)], list[str]()
        try:
            while True:
                if stream:
                    answer = _summed([chunk async for chunk in self.model.astream(messages)], pieces)
                else:
                    answer = await self.model.ainvoke(messages)
                messages = [*messages, answer, *self._results(answer)]
                if messages[-1] is answer:
                    return self._reply(messages, answer, pieces)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        """Does nothing, because a model closes its connections by itself."""

    def _results(self, answer: Any) -> list[Any]:
        """Runs the calls of an answer, and returns their results. An answer that was cut has none."""
        from langchain_core.messages import ToolMessage  # noqa: PLC0415 - an optional library

        if _stop(answer) == "length":
            return []
        bad = [
            ToolMessage(f"Error: {call['error']}", tool_call_id=call["id"], status="error")
            for call in answer.invalid_tool_calls
        ]
        return [*(self._run(call) for call in answer.tool_calls), *bad]

    def _run(self, call: Mapping[str, Any]) -> Any:
        from langchain_core.messages import ToolMessage  # noqa: PLC0415 - likewise

        facts = {"tool_call_id": call["id"], "name": call["name"]}
        if call["name"] not in self.tools:
            return ToolMessage(f"Error: there is no tool {call['name']}.", status="error", **facts)
        try:
            return ToolMessage(_content(self.tools[call["name"]].run(**call["args"])), **facts)
        except Exception as error:  # noqa: BLE001 - every error of a tool is told to the model
            return ToolMessage(f"Error: {type(error).__name__}: {error}", status="error", **facts)

    def _reply(self, messages: list[Any], answer: Any, pieces: Sequence[str]) -> Reply:
        self.messages = messages
        usage = answer.usage_metadata or {}
        counts = {name: usage[f"{name}_tokens"] for name in ("input", "output") if usage}
        return Reply(words_of(answer), _stop(answer), usage=counts, pieces=pieces)


def words_of(message: Any) -> str:
    """Returns the text of a message, or the words of its refusal: those of Chat Completions stand beside the content, and those of
    Responses are a block of it.

    Args:
        message: A message of the model, such as `AIMessage`.
    """
    blocks = [block for block in message.content if isinstance(block, dict)]
    refused = [block["refusal"] for block in blocks if block.get("type") == "refusal"]
    return str(message.text) or message.additional_kwargs.get("refusal") or "".join(refused)


def _summed(chunks: Any, pieces: list[str]) -> Any:
    """Returns the sum of the chunks of an answer, and notes their texts."""
    whole = None
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
        pieces += [str(chunk.text)] if chunk.text else []
    return whole


def _stop(answer: Any) -> str | None:
    facts = answer.response_metadata
    cut = (facts.get("incomplete_details") or {}).get("reason")
    word = cut or facts.get("finish_reason") or facts.get("stop_reason") or facts.get("status")
    return _STOPS.get(str(word), str(word)) if word else None


# --- ours to theirs --------------------------------------------------------------------------------------


def _declared(tool: Tool) -> Mapping[str, Any]:
    schema = json.loads(json.dumps(tool.parameters, default=dict))
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


def _user(parts: Sequence[Part]) -> list[Any]:
    """Returns a user turn: each result is a message, and the rest is one."""
    from langchain_core.messages import HumanMessage, ToolMessage  # noqa: PLC0415 - an optional library

    results = [ToolMessage(_content(p.value), tool_call_id=p.id) for p in parts if isinstance(p, ToolResult)]
    rest = [_block(part) for part in parts if not isinstance(part, ToolResult)]
    return [*results, *([HumanMessage(rest)] if rest else [])]


def _assistant(parts: Sequence[Part]) -> Any:
    from langchain_core.messages import AIMessage  # noqa: PLC0415 - likewise

    calls = [part for part in parts if isinstance(part, ToolCall)]
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return AIMessage(
        text, tool_calls=[{"id": c.id, "name": c.name, "args": dict(c.arguments)} for c in calls]
    )


def _block(part: Part) -> Mapping[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(url=url) if url:
            return {"type": "image", "url": url}
        case Image(data=data, type=kind):
            return {"type": "image", "base64": b64encode(data).decode("ascii"), "mime_type": kind}
        case PDF(data=data, filename=name):
            media = {"base64": b64encode(data).decode("ascii"), "mime_type": "application/pdf"}
            return {"type": "file", "filename": name, **media}
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


def _content(value: Any) -> Any:
    """Returns a tool's value: a text, or blocks where it has media."""
    items = value if isinstance(value, list) else [value]
    if not any(isinstance(item, Image | PDF) for item in items):
        return _text(value)
    return [_block(item if isinstance(item, Image | PDF) else Text(_text(item))) for item in items]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
