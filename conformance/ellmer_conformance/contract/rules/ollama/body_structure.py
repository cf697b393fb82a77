"""Requests that the server refuses: values that do not fit its Go types, and features that the model lacks.

The server does not pair calls and results: it accepts results without a call, repeated results, unknown ids and any
order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.json_access import decoded, elements
from ...readers.ollama import messages
from ...rule import Finding, Refusal, broken, met
from .._media import IMAGE_TYPES, PNG, redacted, sniffed
from ._rulebook import ASK, MUST, REJECT, SERVER, TOOL, body, book, call, result, shown

_GO = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/\r\n]")

GEMMA3 = ("gemma3", "gemma3:*", "gemma3n", "gemma3n:*")
#: Models of the library whose template has no place for tools.
TOOLLESS = (
    *GEMMA3,
    "llama2",
    "llama2:*",
    "llama3",
    "llama3:*",
    "phi4",
    "phi4:*",
    "smollm2:360m*",
)
#: Models of the library whose template has no place for thoughts.
THOUGHTLESS = (
    *GEMMA3,
    "llama3",
    "llama3:*",
    "llama3.*",
    "mistral",
    "mistral:*",
    "qwen2.5*",
    "phi3*",
    "phi4",
    "phi4:*",
)
PDF = "JVBERi0xLjQ="


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/ollama/ollama/issues/10255",
        "https://github.com/BerriAI/litellm/issues/11273",
    ],
    refusal=Refusal("json: cannot unmarshal {got} into Go struct field ChatRequest.{field} of type {type}"),
    examples=[body(ASK), body()],
    counterexamples=[
        body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}),
        body("Hi"),
        {"model": "qwen3:4b", "messages": "Hi"},
    ],
)
def messages_are_text(request: Request) -> Iterator[Finding]:
    """`messages` is a list of objects whose `content` is a string, not a list of parts.

    Fix: join the texts, and put images into `images` of the same message.
    """
    found = request.body.get("messages")
    if found is not None and not isinstance(found, list):
        yield _mistyped("/messages", found, "messages", "[]api.Message")
        return
    for i, message in enumerate(found or []):
        if not isinstance(message, dict):
            yield _mistyped(f"/messages/{i}", message, "messages", "api.Message")
        elif not isinstance(message.get("content", ""), str | None):
            yield _mistyped(f"/messages/{i}/content", message["content"], "messages.content", "string")
        else:
            yield met(f"/messages/{i}")


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/openclaw/openclaw/pull/50749",
        "https://github.com/ollama/ollama/issues/12794 (until 2025: `json: cannot unmarshal string …`)",
    ],
    refusal=Refusal("Value looks like object, but can't find closing '}}' symbol"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(
            ASK, {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": '{"x": 2}'}}]}
        )
    ],
)
def arguments_are_objects(request: Request) -> Iterator[Finding]:
    """A call's arguments are sent back as an object, not as JSON text."""
    for place, function in _calls(request.body):
        if "arguments" in function:
            text = isinstance(function["arguments"], str)
            where = f"{place}/arguments"
            yield broken(where, "the arguments are text") if text else met(where)


@book.rule(
    "IMG-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/BerriAI/litellm/issues/18338",
        "https://github.com/BerriAI/litellm/issues/30313",
        "https://github.com/ollama/ollama-js/issues/68",
    ],
    refusal=Refusal("illegal base64 data at input byte {byte}"),
    examples=[body(shown(PNG)), body(ASK, call("a"), result("a", images=[PNG]))],
    counterexamples=[body(shown(f"data:image/png;base64,{PNG}")), body(shown("https://example.com/a.png"))],
)
def images_are_bare_base64(request: Request) -> Iterator[Finding]:
    """An image is plain base64 in the standard alphabet, without a `data:` prefix and not a URL.

    Why: the server does not fetch URLs. Fix: download the image, and remove the prefix.
    """
    for place, picture in _images(request.body):
        wrong = _illegal(picture)
        problem = f"the character at {wrong} is not base64"
        yield met(place) if wrong is None else broken(place, problem, byte=wrong)


@book.rule(
    "REQ-001",
    MUST,
    REJECT,
    source=SERVER,
    refusal=Refusal("model is required"),
    examples=[body(ASK)],
    counterexamples=[{"messages": [ASK]}],
)
def a_model_is_named(request: Request) -> Iterator[Finding]:
    """The request names a model."""
    yield met("/model") if request.model else broken("", "`model` is missing")


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source=SERVER,
    refusal=Refusal("top_logprobs must be between 0 and 20"),
    examples=[body(ASK, logprobs=True, top_logprobs=20)],
    counterexamples=[body(ASK, logprobs=True, top_logprobs=21)],
)
def few_logprobs_are_asked_for(request: Request) -> Iterator[Finding]:
    """`top_logprobs` is between 0 and 20."""
    count = request.body.get("top_logprobs")
    if isinstance(count, int):
        yield met("/top_logprobs") if 0 <= count <= 20 else broken("/top_logprobs", f"it is {count}")


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source=[
        "recorded refusal (gemma3:1b)",
        "https://github.com/ollama/ollama/issues/13578 (smollm2:360m)",
        "https://github.com/ItzCrazyKns/Vane/issues/1137 (llama2, phi4)",
        "https://github.com/anomalyco/opencode/issues/303 (llama2)",
        "https://github.com/BoltAI/BoltAI/issues/143 (llama3)",
    ],
    refusal=Refusal("registry.ollama.ai/library/{model} does not support tools"),
    models=TOOLLESS,
    examples=[body(ASK, model="gemma3:1b", tools=[])],
    counterexamples=[body(ASK, model="gemma3:1b", tools=[TOOL])],
)
def some_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """Tools are sent only to models whose template supports them; those of Gemma 3, Llama 2 and 3 and Phi 4 do not."""
    tools = request.body.get("tools")
    yield broken("/tools", "tools", model=tagged(request.model)) if tools else met("/model")


def tagged(model: str) -> str:
    """Returns the name with its tag, as in the server's errors."""
    return model if ":" in model else f"{model}:latest"


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source=SERVER,
    refusal=Refusal('"{model}" does not support thinking'),
    models=THOUGHTLESS,
    examples=[body(ASK, model="gemma3:1b", think=False)],
    counterexamples=[body(ASK, model="gemma3:1b", think=True)],
)
def some_models_do_not_think(request: Request) -> Iterator[Finding]:
    """Thinking is requested only from models that support it."""
    asked = request.body.get("think") not in (None, False, "")
    yield broken("/think", "thinking", model=request.model) if asked else met("/model")


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded failures (gemma3:1b)",
    refusal=Refusal(
        "Failed to create new sequence: failed to process inputs: "
        "this model is missing data required for image input\n",
        500,
    ),
    models=["gemma3:1b*", "gemma3:270m*"],
    examples=[body(ASK, model="gemma3:1b", stream=False)],
    counterexamples=[body(shown(PNG), model="gemma3:1b", stream=False)],
)
def some_models_see_nothing(request: Request) -> Iterator[Finding]:
    """Images are sent only to vision models; the smallest Gemma 3 models are not.

    The status is 500 because the server notices only while the model runs; in a stream, the error follows a
    status of 200.
    """
    if not request.stream:
        pictures = [place for place, _ in _images(request.body)]
        yield broken(pictures[0], "an image is sent") if pictures else met("/model")


@book.rule(
    "IMG-010",
    MUST,
    REJECT,
    source="recorded failure (gemma3:4b)",
    refusal=Refusal("Failed to create new sequence: failed to process inputs: image: unknown format\n", 500),
    examples=[body(shown(PNG), stream=False)],
    counterexamples=[body(shown(PDF), stream=False), body(shown("bm90IGFuIGltYWdl"), stream=False)],
)
def images_are_images(request: Request) -> Iterator[Finding]:
    """The bytes in `images` are an image; no model accepts a PDF. (A stream reports the error after a status
    of 200.)"""
    for place, picture in _images(request.body):
        if _illegal(picture) is None and not request.stream:
            known = sniffed(decoded(picture) or b"") in IMAGE_TYPES
            yield met(place) if known else broken(place, "the bytes are not an image")


def _images(request: Json) -> Iterator[tuple[str, str]]:
    for pointer, message in messages(request):
        found = message.get("images")
        for i, picture in enumerate(found if isinstance(found, list) else []):
            if isinstance(picture, str) and not redacted(picture):
                yield f"{pointer}/images/{i}", picture


def _calls(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, message in messages(request):
        for place, made in elements(message.get("tool_calls"), f"{pointer}/tool_calls"):
            if isinstance(made.get("function"), dict):
                yield f"{place}/function", made["function"]


def _illegal(text: str) -> int | None:
    """Returns the position where Go's decoder stops, or `None`."""
    bare = text.rstrip("=\r\n")
    found = _NOT_BASE64.search(bare)
    if found:
        return found.start()
    letters = len(re.sub(r"[\r\n]", "", text))
    return len(bare) if letters % 4 else None


def _mistyped(pointer: str, value: object, field: str, type: str) -> Finding:
    got = _GO.get(value.__class__, "null")
    return broken(pointer, f"{got} is sent, and {type} is expected", got=got, field=field, type=type)
