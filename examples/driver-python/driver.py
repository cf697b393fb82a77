# ruff: noqa: INP001 - a script, not a package
"""A driver for `conformance run --command`: OpenAI Chat Completions with only the standard library.

    conformance run --command "python examples/driver-python/driver.py" --wire openai-chat

The suite starts it once for each case and mode. It reads the conversation, sends its requests to
CONFORMANCE_BASE_URL, runs the tools that the model calls, and prints one JSON line for each message of the user.
"""

import json
import os
from pathlib import Path
from typing import Any

from wire import ApiError, Incomplete, Json, ask

#: The declaration of the driver, which is its answer to a conversation without steps.
SETTINGS = ("audio_in_user", "structured", "tool_choice", "stop_sequences", "json_mode", "model_override")
SELF = {"capabilities": dict.fromkeys(SETTINGS, "native"), "features": ["conversations", "cancel", "reload"]}

#: The types of media that the API takes: https://developers.openai.com/api/docs/guides/images-vision
ACCEPTED = {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}

#: The types of JSON Schema in Python.
TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


# ours -> theirs ---------------------------------------------------------------------------------------------


def part(value: Json) -> Json:
    """Returns a part of the user's message."""
    if value["type"] == "text":
        return {"type": "text", "text": whole_characters(value["text"])}
    if value["type"] == "image":
        return image(value["url"]) if "url" in value else inline_image(value["media_type"], value["data"])
    if value["type"] == "audio":
        return {"type": "input_audio", "input_audio": {"data": value["data"], "format": "wav"}}
    return pdf(value["filename"], value["data"])


def whole_characters(text: str) -> str:
    """Returns the text with lone surrogates replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def image(url: str) -> Json:
    """Returns an image of a message, by URL."""
    return {"type": "image_url", "image_url": {"url": url}}


def inline_image(media_type: str, data: str) -> Json:
    """Returns an image of a message, with its bytes."""
    return image(f"data:{media_type};base64,{data}")


def pdf(filename: str, data: str) -> Json:
    """Returns a PDF in a message."""
    data = f"data:application/pdf;base64,{data}"
    return {"type": "file", "file": {"filename": filename, "file_data": data}}


def user(parts: list[Json]) -> list[Json]:
    """Returns a user turn: first the results, each as a message, then the user's message."""
    results = [p for p in parts if p["type"] == "tool_result"]
    said = [part(p) for p in parts if p["type"] != "tool_result"]
    messages, media = answered([(p["id"], p["value"]) for p in results])
    return [*messages, *([{"role": "user", "content": [*media, *said]}] if media or said else [])]


def answered(results: list[tuple[str, Any]]) -> tuple[list[Json], list[Json]]:
    """Returns tool messages, and the media that they cannot contain, each between tags with its call."""
    messages, media = [], []
    for id, value in results:
        text, found = described(value)
        messages.append({"role": "tool", "tool_call_id": id, "content": text or "(no output)"})
        for item in found:
            tag = {"type": "text", "text": f'<content tool-call-id="{id}">'}
            media += [tag, item, {"type": "text", "text": "</content>"}]
    return messages, media


def described(value: Any) -> tuple[str, list[Json]]:
    """Returns a tool's value as text, and the media in it."""
    items = value if isinstance(value, list) else [value]
    media = [item for item in items if isinstance(item, dict) and "$media" in item]
    if not media:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), []
    shown = [f"[see below: item {n}]" if item in media else item for n, item in enumerate(items, 1)]
    text = json.dumps(shown, ensure_ascii=False) if isinstance(value, list) else "[see below]"
    return text, [medium(item) for item in media]


def checked(name: str, value: Any) -> Any:
    """Returns the value, or an error if its media cannot be sent: they are nested too deeply, or their type is
    refused.
    """
    for n, item in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(item, list) and "$media" in json.dumps(item):
            return (
                f"Error: {name} returned media in value[{n}], a list in a list: return them one level higher"
            )
        if isinstance(item, dict) and item.get("$media") not in {None, *ACCEPTED}:
            return f"Error: {name} returned {item['$media']} in value[{n}], which the model does not take"
    return value


def medium(value: Json) -> Json:
    """Returns an image or a PDF that a tool returned."""
    if value["$media"] == "application/pdf":
        return pdf(value["filename"], value["data"])
    return image(value["url"]) if "url" in value else inline_image(value["$media"], value["data"])


def settings(step: Json) -> Json:
    """Returns the settings of this step."""
    options = dict(step.get("options", {}))
    if options.pop("json", False):
        options["response_format"] = {"type": "json_object"}
    return options


def assistant(parts: list[Json]) -> Json:
    """Returns an assistant turn of the history."""
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
    """Returns the earlier messages."""
    system = conversation["system"]
    messages = [{"role": "system", "content": system}] if system else []
    for turn in conversation["history"]:
        messages += user(turn["parts"]) if turn["role"] == "user" else [assistant(turn["parts"])]
    return messages


def tool(value: Json) -> Json:
    """Returns a tool's declaration."""
    return {"type": "function", "function": {k: value[k] for k in ("name", "description", "parameters")}}


# the conversation -------------------------------------------------------------------------------------------


class Chat:
    """A conversation that runs its tools."""

    def __init__(self, conversation: Json, messages: list[Json] | None = None) -> None:
        self.conversation = conversation
        self.messages = history(conversation) if messages is None else messages
        self.tools = {value["name"]: value for value in conversation["tools"]}
        self.ran: list[Json] = []
        self.pieces: list[str] = []

    def reloaded(self) -> "Chat":
        """Returns a new conversation from the saved data of this one."""
        return Chat(self.conversation, json.loads(json.dumps(self.messages)))

    def say(self, step: Json) -> Json:
        """Runs a user turn to its final answer, and returns the line to print. A failure leaves the history
        unchanged.
        """
        self.ran, self.pieces, before = [], [], list(self.messages)
        try:
            self.messages += [*self.unanswered(step["parts"]), *user(step["parts"])]
            told = self.value(step) if "schema" in step else reply(self.answer(step))
            return told | {"ran": self.ran, "pieces": self.pieces}
        except ApiError as error:
            self.messages = before
            told = {"text": error.text, "error": str(error), "error_class": type(error).__name__}
            return told | {"complete": False, "status": error.status, "ran": self.ran, "pieces": self.pieces}

    def answer(self, step: Json, more: Json | None = None) -> Json:
        """Sends requests until no tool is called, and returns the last answer. `more` is added to each request."""
        declared = [tool(value) for value in self.tools.values()]
        while True:
            sent = (more or {}) | settings(step) | ({"tools": declared} if declared else {})
            answer = ask(self.messages, sent, give_up=step.get("cancelled", False))
            self.pieces += answer["pieces"]
            message = answer["message"]
            calls = message.get("tool_calls") or []
            if answer["stop"] == "length" and calls:  # cut: never run, and never sent back
                message = {"role": "assistant", "content": message["content"] or "(cut off)"}
                note = "The token limit cut your tool call off. Please try again."
                self.messages += [message, {"role": "user", "content": note}]
                continue
            for call in calls:  # nothing is an empty object, however it is spelt
                call["function"]["arguments"] = call["function"].get("arguments") or "{}"
            if message.get("content") or calls:
                self.messages.append(
                    {k: v for k, v in message.items() if k in {"role", "content", "tool_calls"}}
                )
            if not calls:
                return answer
            self.pieces.clear()
            results, media = answered([(call["id"], self.run(call["function"])) for call in calls])
            self.messages += [*results, *([{"role": "user", "content": media}] if media else [])]

    def value(self, step: Json) -> Json:
        """Asks for a value that matches the step's schema. Tools may be called before."""
        schema = step["schema"]
        form = {"type": "json_schema", "json_schema": {"name": "value", "schema": schema, "strict": True}}
        answer = self.answer(step, {"response_format": form})
        if answer["stop"] == "length":
            raise Incomplete("the token limit cut the value")
        try:
            value = json.loads(answer["message"].get("content") or "")
        except ValueError as error:
            raise ApiError(f"the value is not JSON: {error}") from error
        fields = schema["properties"].items()
        wrong = [name for name, field in fields if not isinstance(value.get(name), TYPES[field["type"]])]
        if wrong:
            raise ApiError(f"the value does not fit its schema: {', '.join(wrong)}")
        return reply(answer) | {"value": value}

    def run(self, function: Json) -> Any:
        """Runs a tool. The conversation has its results by arguments."""
        name = function["name"]
        try:
            arguments = json.loads(function["arguments"])
        except ValueError as error:
            return f"Error: the arguments are no JSON: {error}"
        if name not in self.tools:
            return f"Error: there is no tool {name}"
        self.ran.append({"name": name, "arguments": arguments})
        for result in self.tools[name]["results"]:
            if result["arguments"] == arguments:
                return checked(name, result["value"]) if "value" in result else f"Error: {result['error']}"
        return "Error: unexpected arguments"

    def unanswered(self, parts: list[Json]) -> list[Json]:
        """Returns error results for unanswered calls at the end of the history."""
        given = {p["id"] for p in parts if p["type"] == "tool_result"}
        calls = (self.messages[-1].get("tool_calls") or []) if self.messages else []
        open_calls = [(c["id"], "Error: the call was not run") for c in calls if c["id"] not in given]
        return answered(open_calls)[0]


def reply(answer: Json) -> Json:
    """Returns the printed line for an answer."""
    usage = answer["usage"] or {}
    read, wrote = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    return {
        "text": answer["message"].get("content") or "",
        "stop": {"tool_calls": "tool", "content_filter": "filter"}.get(answer["stop"], answer["stop"]),
        "usage": {
            "input": usage.get("prompt_tokens"),
            "output": usage.get("completion_tokens"),
            "cached": read.get("cached_tokens"),
            "reasoning": wrote.get("reasoning_tokens"),
        },
    }


def main() -> None:
    """Prints a line for every step of the conversation. Without steps, it prints the driver's features."""
    conversation = json.loads(Path(os.environ["CONFORMANCE_CONVERSATION"]).read_text("utf-8"))
    chats: dict[int, Chat] = {}
    for step in conversation["steps"]:
        who = step.get("who", 0)
        chat = chats.setdefault(who, Chat(conversation))
        if step.get("reloaded"):
            chat = chats[who] = chat.reloaded()
        print(json.dumps(chat.say(step)))  # noqa: T201 - this is how it answers
    if not conversation["steps"]:
        print(json.dumps(SELF))  # noqa: T201 - likewise


if __name__ == "__main__":
    main()
