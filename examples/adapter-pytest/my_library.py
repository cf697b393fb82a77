# ruff: noqa: INP001 - a project's module, not a package
"""An adapter on one page: a chat over the `openai` SDK, with tools and images.

The first half is the library, and the second half is the adapter. It imports only values of the suite.
"""

import base64
import json
from typing import Any

import openai

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.scenarios.messages import Image, Reply, Text, ToolCall, ToolResult

# The library ------------------------------------------------------------------------------------------------


class Chat:
    """A conversation, which keeps the messages and runs the tools."""

    def __init__(self, client: Any, model: str, system: str | None, tools: dict[str, Any]) -> None:
        self.client, self.model, self.tools = client, model, tools
        self.messages: list[Any] = [{"role": "system", "content": system}] if system else []

    def say(self, content: list[Any], stream: bool) -> Any:
        """Sends requests until no tool is called, and returns the last completion."""
        self.messages += [{"role": "user", "content": content}] if content else []
        while True:
            completion = self.ask(stream)
            message, stop = completion.choices[0].message, completion.choices[0].finish_reason
            if stop is None:
                raise EOFError("the answer broke off")
            if stop not in {"tool_calls", "stop"} or not message.tool_calls:
                self.messages.append({"role": "assistant", "content": words(message)})
                return completion
            self.messages.append(message.to_dict())
            answers = [self.call(call) for call in message.tool_calls]
            results = [result for result, _ in answers]
            media = [part for _, parts in answers for part in parts]
            said = [{"role": "user", "content": media}] if media else []
            self.messages += [*results, *said]  # all results first: the API insists

    def ask(self, stream: bool) -> Any:
        """Returns one request."""
        tools = {"tools": [tool["schema"] for tool in self.tools.values()]} if self.tools else {}
        body = {"model": self.model, "messages": self.messages, **tools}
        if not stream:
            return self.client.chat.completions.create(**body)
        with self.client.chat.completions.stream(**body, stream_options={"include_usage": True}) as events:
            return events.get_final_completion()

    def call(self, call: Any) -> tuple[Any, list[Any]]:
        """Runs a tool. Returns its message, and the media that a tool message cannot contain."""
        try:
            value = self.tools[call.function.name]["run"](**json.loads(call.function.arguments or "{}"))
            return answered(call.id, value)
        except Exception as error:  # noqa: BLE001 - every error is reported to the model
            return result(call.id, f"Error: {error!r}"), []


def words(message: Any) -> str:
    """Returns the model's text, or the words with which it refuses."""
    return message.content or message.refusal or ""


def answered(id: str, value: Any) -> tuple[Any, list[Any]]:
    """Returns a tool's value: text and JSON in its message, and images after all messages."""
    items = value if isinstance(value, list) else [value]
    media = [image(item) for item in items if isinstance(item, Image)]
    tag = text(f'<content tool-call-id="{id}">')
    tagged = [part for each in media for part in (tag, each, text("</content>"))]
    shown = ["[see below]" if isinstance(item, Image) else item for item in items]
    return result(id, shown if isinstance(value, list) else shown[0]), tagged


def result(id: str, value: Any) -> Any:
    """Returns a tool message."""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": id, "content": shown or "(nothing)"}


def text(value: str) -> Any:
    """Returns a part of a message."""
    return {"type": "text", "text": value}


def image(value: Image) -> Any:
    """Returns an image part of a message."""
    url = value.url or f"data:{value.type};base64,{base64.b64encode(value.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


# The adapter ------------------------------------------------------------------------------------------------


class MyLibrary:
    """The adapter: its name, and its formats with their providers."""

    name = "my-library"
    wires = {"openai-chat": ["openai"]}  # noqa: RUF012 - as short as can be

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. There is no async half. Documents, and histories with open calls, are refused
        with an error.
        """
        return Capabilities(
            modes=("sync", "stream"),
            pdf_in_user="refused",
            pdf_in_tool_result="refused",
            dangling_call="refused",
        )

    def session(self, endpoint: Any, *, system: Any = None, tools: Any = (), history: Any = ()) -> Any:
        """Returns a new conversation with that endpoint."""
        client = openai.OpenAI(
            base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=endpoint.max_retries
        )
        known = {tool.name: {"run": tool.run, "schema": schema(tool)} for tool in tools}
        chat = Chat(client, endpoint.model, system, known)
        chat.messages += [message for turn in history for message in given(turn)]
        return Session(chat)


class Session:
    """A conversation in the form of the suite."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def send(self, parts: Any, *, stream: bool = False) -> Reply:
        """Sends the user's message and returns the reply. An exception is judged, too."""
        results = [result(part.id, part.value) for part in parts if isinstance(part, ToolResult)]
        if self.chat.messages and self.chat.messages[-1].get("tool_calls") and not results:
            raise ValueError("answer the open calls first")
        self.chat.messages += results
        content = [content_of(part) for part in parts if not isinstance(part, ToolResult)]
        completion = self.chat.say(content, stream)
        choice, usage = completion.choices[0], completion.usage
        return Reply(
            words(choice.message),
            stop="filter" if choice.finish_reason == "content_filter" else choice.finish_reason,
            usage={"input": usage.prompt_tokens, "output": usage.completion_tokens},
        )

    def transcript(self) -> str:
        """Returns nothing, because the library prints no transcript."""
        return ""

    def close(self) -> None:
        """Frees the connection."""
        self.chat.client.close()


def content_of(part: Any) -> Any:
    """Returns a part of the user's message."""
    if isinstance(part, Text):
        return text(part.text)
    if isinstance(part, Image):
        return image(part)
    raise NotImplementedError(f"this library takes no {type(part).__name__}")


def given(turn: Any) -> list[Any]:
    """Returns a turn of a history, as messages."""
    results = [result(part.id, part.value) for part in turn.parts if isinstance(part, ToolResult)]
    calls = [
        {"id": p.id, "type": "function", "function": {"name": p.name, "arguments": json.dumps(p.arguments)}}
        for p in turn.parts
        if isinstance(p, ToolCall)
    ]
    said = "".join(part.text for part in turn.parts if isinstance(part, Text))
    message = {"role": turn.role, "content": said or None, **({"tool_calls": calls} if calls else {})}
    return [*results, *([message] if said or calls else [])]


def schema(tool: Any) -> Any:
    """Returns a tool in the library's form."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
