"""Ollama's implementation of Chat Completions: text, and inline images.

https://github.com/ollama/ollama (openai/openai.go)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ....observed.exchange import Request
from ....readers.json_access import decoded, items_of
from ....readers.openai_chat import calls_of, messages
from ....rule import Finding, Refusal, broken, met
from ..._media import redacted
from ..._openai.refusals import refused
from ...ollama.models import TOOLLESS, tagged
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, TOOL, body, call, result
from ..features import functions
from ._elsewhere import elsewhere

_LLAMA_STACK = (
    "https://github.com/llamastack/llama-stack/blob/c0dae5cd4094b062362753cd36bb8278600c915c/"
    "tests/integration/common/recordings/"
)
SERVER = "https://github.com/ollama/ollama (openai/openai.go, FromChatRequest)"
_DATA = re.compile(r"data:(image/(jpeg|jpg|png|webp))?;base64,")
_GO = {dict: "map[string]interface {}", int: "float64", float: "float64", bool: "bool"}
PDF = {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERi0="}}

ollama = elsewhere("ollama", without=["REQ-003", "REQ-006", "REQ-007", "PAIR-009"])


@ollama.rule(
    "REQ-003",
    MUST,
    REJECT,
    source="https://github.com/ollama/ollama (middleware/openai.go)",
    refusal=refused("[] is too short - 'messages'"),
    examples=[body(ASK)],
    counterexamples=[body()],
)
def there_is_a_message(request: Request) -> Iterator[Finding]:
    """There is at least one message.

    Fix: send the question as a message.
    """
    found = request.body.get("messages")
    yield broken("/messages", "there is no message") if found in ([], None) else met("/messages")


@ollama.rule(
    "REQ-007",
    MUST,
    REJECT,
    source=[
        "recorded refusal of a file (deepseek-r1)",
        SERVER,
        f"{_LLAMA_STACK}fb0877739184c01d85af35e44934d364866953b32c471efcb93ae3605d4a3c38.json (no base64)",
    ],
    refusal=refused("{text}"),
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}, IMAGE]})],
    counterexamples=[
        body({"role": "user", "content": [PDF]}),
        body({"role": "user", "content": ["Hi"]}),
        body({"role": "user", "content": {"type": "text", "text": "Hi"}}),
        body({"role": "user"}),
        body({"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}]}),
        body({"role": "user", "content": [{"type": "image_url", "image_url": "data:image/png;base64,not!"}]}),
    ],
)
def content_is_text_and_images(request: Request) -> Iterator[Finding]:
    """`content` is text or a list of texts and images, and an image is a `data:` URL.

    Why: the server does not fetch URLs and does not read files. Fix: download the image, and send the text of a file.
    """
    for pointer, message in messages(request.body):
        content, place = message.get("content"), f"{pointer}/content"
        if isinstance(content, str) or (content is None and message.get("tool_calls")):
            yield met(place)
        elif not isinstance(content, list):
            text = f"invalid message content type: {_GO.get(type(content), '<nil>')}"
            yield broken(place, "the content is neither a string nor a list", text=text)
        for i, part in enumerate(items_of(content)):
            refusal = _refused(part)
            problem = "it is neither text nor an inline image"
            yield broken(f"{place}/{i}", problem, text=refusal) if refusal else met(f"{place}/{i}")


@ollama.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source=SERVER,
    refusal=refused("invalid tool call arguments"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(ASK, {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": "{"}}]})
    ],
)
def arguments_are_json(request: Request) -> Iterator[Finding]:
    """The arguments of a call are the JSON text of an object.

    Fix: send `{}` for a call without arguments, and repair or drop a call that was cut off.
    """
    for pointer, message in messages(request.body):
        for i, tool_call in enumerate(calls_of(message)):
            function = tool_call.get("function")
            arguments = function.get("arguments") if isinstance(function, dict) else None
            if isinstance(arguments, str):
                place = f"{pointer}/tool_calls/{i}/function/arguments"
                yield met(place) if _is_object(arguments) else broken(place, "it is not a JSON object")


@ollama.rule(
    "REQ-052",
    MUST,
    REJECT,
    source=[
        "https://github.com/ollama/ollama/issues/5793 (llama3)",
        "https://github.com/louisho5/picobot/issues/6 (gemma3)",
        "https://github.com/pydantic/pydantic-ai/issues/703 (llama3:8b)",
    ],
    refusal=Refusal("registry.ollama.ai/library/{model} does not support tools", type="api_error"),
    models=TOOLLESS,
    examples=[body(ASK, model="llama3:8b")],
    counterexamples=[body(ASK, model="llama3:8b", tools=[TOOL])],
)
def some_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """Tools are sent only to models whose template supports them.

    Fix: leave `tools` out, or raise an error that names the model.
    """
    place = functions()(request)
    yield broken(place, "tools", model=tagged(request.model)) if place else met("/model")


def _refused(part: Any) -> str | None:
    """Returns the server's error for a part, or `None` if it accepts the part."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "input_audio":  # which versions hear is not known
        return None
    if kind == "text":
        return None if isinstance(part.get("text"), str) else "invalid message format"
    if kind != "image_url":
        return "invalid message format"
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return "invalid message format"
    known = _DATA.match(url) and (redacted(url) or decoded(url.partition(",")[2]) is not None)
    return None if known else "invalid image input"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | None)
    except ValueError:
        return False
