# ruff: noqa: INP001 - a script, not a package
"""A driver for `conformance run --command`: OpenAI Chat Completions with nothing but the standard library.

    conformance run --command "python examples/driver-python/driver.py" --wire openai-chat

The suite starts it once per case and mode. It reads the conversation, talks to CONFORMANCE_BASE_URL, runs the
tools that the model asks for, and prints one JSON line for each thing the user says.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

BASE_URL = os.environ["CONFORMANCE_BASE_URL"]
KEY = os.environ["CONFORMANCE_API_KEY"]
MODEL = os.environ["CONFORMANCE_MODEL"]
STREAM = "stream" in os.environ["CONFORMANCE_MODE"]


class Incomplete(Exception):
    """The answer broke off. `text` is what had come."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(why)
        self.text = text


# ours -> theirs ---------------------------------------------------------------------------------------------


def part(value: Json) -> Json:
    """A part of what the user says."""
    if value["type"] == "text":
        return {"type": "text", "text": value["text"]}
    if value["type"] == "image":
        return image(value["media_type"], value["data"])
    return pdf(value["filename"], value["data"])


def image(media_type: str, data: str) -> Json:
    """An image in a message."""
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


def pdf(filename: str, data: str) -> Json:
    """A PDF in a message."""
    data = f"data:application/pdf;base64,{data}"
    return {"type": "file", "file": {"filename": filename, "file_data": data}}


def user(parts: list[Json]) -> list[Json]:
    """A user turn: results first, each a message of its own, then what the user says."""
    results = [p for p in parts if p["type"] == "tool_result"]
    said = [part(p) for p in parts if p["type"] != "tool_result"]
    messages, media = answered([(p["id"], p["value"]) for p in results])
    return [*messages, *([{"role": "user", "content": [*media, *said]}] if media or said else [])]


def answered(results: list[tuple[str, Any]]) -> tuple[list[Json], list[Json]]:
    """Tool messages, and the media that do not fit into them, each between tags that name its call."""
    messages, media = [], []
    for id, value in results:
        text, found = described(value)
        messages.append({"role": "tool", "tool_call_id": id, "content": text or "(no output)"})
        for item in found:
            tag = {"type": "text", "text": f'<content tool-call-id="{id}">'}
            media += [tag, item, {"type": "text", "text": "</content>"}]
    return messages, media


def described(value: Any) -> tuple[str, list[Json]]:
    """A tool's value as text, and the media in it."""
    items = value if isinstance(value, list) else [value]
    media = [item for item in items if isinstance(item, dict) and "$media" in item]
    if not media:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), []
    shown = [f"[see below: item {n}]" if item in media else item for n, item in enumerate(items, 1)]
    text = json.dumps(shown, ensure_ascii=False) if isinstance(value, list) else "[see below]"
    return text, [medium(item) for item in media]


def checked(name: str, value: Any) -> Any:
    """The value, or an error where media are too deep in it to be sent."""
    for n, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, list) and "$media" in json.dumps(item):
            return (
                f"Error: {name} returned media in value[{n}], a list in a list: return them one level higher"
            )
    return value


def medium(value: Json) -> Json:
    """An image or a PDF that a tool returned."""
    if value["$media"] == "application/pdf":
        return pdf(value["filename"], value["data"])
    return image(value["$media"], value["data"])


def assistant(parts: list[Json]) -> Json:
    """An assistant turn of the history."""
    calls = [
        {
            "id": p["id"],
            "type": "function",
            "function": {"name": p["name"], "arguments": json.dumps(p["arguments"])},
        }
        for p in parts
        if p["type"] == "tool_call"
    ]
    text = "".join(p["text"] for p in parts if p["type"] == "text") or None
    return {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})


def history(conversation: Json) -> list[Json]:
    """The messages that came before."""
    system = conversation["system"]
    messages = [{"role": "system", "content": system}] if system else []
    for turn in conversation["history"]:
        messages += user(turn["parts"]) if turn["role"] == "user" else [assistant(turn["parts"])]
    return messages


def tool(value: Json) -> Json:
    """A tool's declaration."""
    return {"type": "function", "function": {k: value[k] for k in ("name", "description", "parameters")}}


# over the wire ----------------------------------------------------------------------------------------------


def ask(messages: list[Json], tools: list[Json]) -> Json:
    """One request: the answer's message, stop reason and usage."""
    body: Json = {"model": MODEL, "messages": messages} | ({"tools": tools} if tools else {})
    if STREAM:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    request = urllib.request.Request(  # noqa: S310 - the suite's own server
        f"{BASE_URL}/chat/completions",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {KEY}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:  # noqa: S310 - see above
        if STREAM:
            return folded(response)
        answer = json.load(response)
    choice = answer["choices"][0]
    return {"message": choice["message"], "stop": choice["finish_reason"], "usage": answer["usage"]}


def events(lines: Any) -> Iterator[Json]:
    """The stream's events, up to its end."""
    for line in lines:
        data = line.decode().strip()
        if data.startswith("data:") and data != "data: [DONE]":
            yield json.loads(data.removeprefix("data:"))


def folded(lines: Any) -> Json:
    """A stream as one answer. Raises Incomplete where it ends too early."""
    text, calls, stop, usage = "", {}, None, None
    for event in events(lines):
        if "error" in event:
            raise Incomplete(text, event["error"]["message"])
        usage = event.get("usage") or usage
        for choice in event.get("choices", []):
            stop = choice.get("finish_reason") or stop
            text += choice["delta"].get("content") or ""
            for delta in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(
                    delta["index"], {"type": "function", "function": {"name": "", "arguments": ""}}
                )
                call["id"] = delta.get("id") or call["id"]
                for key, value in delta["function"].items():
                    call["function"][key] += value or ""
    if stop is None:
        raise Incomplete(text, "the stream ended without a finish_reason")
    message = {"role": "assistant", "content": text or None}
    return {
        "message": message | ({"tool_calls": list(calls.values())} if calls else {}),
        "stop": stop,
        "usage": usage,
    }


# the conversation -------------------------------------------------------------------------------------------


class Chat:
    """A conversation that runs its tools."""

    def __init__(self, conversation: Json) -> None:
        self.messages = history(conversation)
        self.tools = {value["name"]: value for value in conversation["tools"]}
        self.ran: list[Json] = []

    def say(self, parts: list[Json]) -> Json:
        """A user turn, to its final answer: what is printed. The history stays as it was if that fails."""
        self.ran, before = [], list(self.messages)
        try:
            self.messages += [*self.unanswered(parts), *user(parts)]
            return self.answer() | {"ran": self.ran}
        except (Incomplete, OSError, ValueError) as error:
            self.messages = before
            status = error.code if isinstance(error, urllib.error.HTTPError) else None
            told = {"text": getattr(error, "text", ""), "error": f"{type(error).__name__}: {error}"}
            return told | {"complete": False, "status": status, "ran": self.ran}

    def answer(self) -> Json:
        """Asks until no tool is called."""
        declared = [tool(value) for value in self.tools.values()]
        while True:
            answer = ask(self.messages, declared)
            message = answer["message"]
            calls = message.get("tool_calls") or []
            if answer["stop"] == "length" and calls:  # cut: never run, and never sent back
                message = {"role": "assistant", "content": message["content"] or "(cut off)"}
                note = "The token limit cut your tool call off. Please try again."
                self.messages += [message, {"role": "user", "content": note}]
                continue
            if message.get("content") or calls:
                self.messages.append(
                    {k: v for k, v in message.items() if k in {"role", "content", "tool_calls"}}
                )
            if not calls:
                return reply(answer)
            results, media = answered([(call["id"], self.run(call["function"])) for call in calls])
            self.messages += [*results, *([{"role": "user", "content": media}] if media else [])]

    def run(self, function: Json) -> Any:
        """What a tool gives for a call: the conversation has it by arguments."""
        name, arguments = function["name"], json.loads(function["arguments"] or "{}")
        if name not in self.tools:
            return f"Error: there is no tool {name}"
        self.ran.append({"name": name, "arguments": arguments})
        for result in self.tools[name]["results"]:
            if result["arguments"] == arguments:
                return checked(name, result["value"]) if "value" in result else f"Error: {result['error']}"
        return "Error: unexpected arguments"

    def unanswered(self, parts: list[Json]) -> list[Json]:
        """Error results for calls at the end of the history that nobody answers."""
        given = {p["id"] for p in parts if p["type"] == "tool_result"}
        calls = (self.messages[-1].get("tool_calls") or []) if self.messages else []
        open_calls = [(c["id"], "Error: the call was not run") for c in calls if c["id"] not in given]
        return answered(open_calls)[0]


def reply(answer: Json) -> Json:
    """The line that is printed for an answer."""
    usage = answer["usage"] or {}
    return {
        "text": answer["message"]["content"] or "",
        "stop": {"tool_calls": "tool", "content_filter": "filter"}.get(answer["stop"], answer["stop"]),
        "usage": {"input": usage.get("prompt_tokens"), "output": usage.get("completion_tokens")},
    }


def main() -> None:
    """Every step of the conversation, a line each."""
    conversation = json.loads(Path(os.environ["CONFORMANCE_CONVERSATION"]).read_text("utf-8"))
    chat = Chat(conversation)
    for step in conversation["steps"]:
        sys.stdout.write(json.dumps(chat.say(step["parts"])) + "\n")


if __name__ == "__main__":
    main()
