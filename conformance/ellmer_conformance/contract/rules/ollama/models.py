"""Features that models lack: tools, thinking, and images; and images that no model can read."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.json_access import decoded
from ...rule import Finding, Refusal, broken, met
from .._media import IMAGE_TYPES, PNG, sniffed
from ._refusals_and_examples import ASK, MUST, REJECT, SERVER, TOOL, body, book, shown
from .body_structure import illegal, images

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
    """Tools are sent only to models whose template supports them; those of Gemma 3, Llama 2 and 3 and Phi 4 do not.

    Fix: leave `tools` out, or raise an error that names the model.
    """
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
    """Thinking is requested only from models that support it.

    Fix: leave `think` out for these models.
    """
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

    The status is 500 because the server notices only while the model runs; in a stream, the error follows a status of
    200. Fix: raise an error that names the model, or write a text in the image's place.
    """
    if not request.stream:
        pictures = [place for place, _ in images(request.body)]
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
    of 200.)

    Fix: send the text of a document, and check the first bytes of an image.
    """
    for place, picture in images(request.body):
        if illegal(picture) is None and not request.stream:
            fine = sniffed(decoded(picture) or b"") in IMAGE_TYPES
            yield met(place) if fine else broken(place, "the bytes are not an image")
