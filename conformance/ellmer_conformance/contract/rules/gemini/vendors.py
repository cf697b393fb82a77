"""Vertex AI: the same format, other words for some refusals, and no merging of contents (see `_turns.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.gemini import contents, declarations, get, parts
from ...rule import Finding, broken, met
from ...rulebook import RuleBook
from ._book import ASK, MUST, REJECT, TOOLS, answer, body, book, call, model, refused, user

_SIGNATURES = "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"

VERTEX = book.extend(
    "vertex",
    without=["SCH-004", "SCH-015"],  # its schemas take some of these keys, and which is not studied
    STO_010={"preview": True},
    IMG_006={"preview": True},
    REQ_020={"preview": True},
    TRM_003={"preview": False},
    THK_015={"preview": True},
    THK_016={"preview": True},
    THK_017={"preview": True},
    THK_018={"preview": True},
    REQ_027={"preview": True},
    EMP_004={
        "source": ("https://github.com/anomalyco/opencode/issues/17519",),
        "refusal": refused(
            "Unable to submit request because it must include at least one parts field, which describes the prompt "
            "input. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
        ),
    },
    REQ_013={
        "preview": False,
        "source": ("recorded refusal (gemini-2.5-pro)",),
        "refusal": refused(
            "Unable to submit request because it has a temperature value of {value} but the supported range is from "
            "0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
        ),
    },
    THK_003={
        "source": ("https://github.com/GewoonJaap/gemini-cli-openai/issues/156",),
        "refusal": refused(
            "Unable to submit request because function call `{name}` in the {position}. content block is missing a "
            f"`thought_signature`. Learn more: {_SIGNATURES}"
        ),
    },
)


@VERTEX.rule(
    "REQ-025",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/15664",
        "https://github.com/charmbracelet/fantasy/issues/265",
        "https://github.com/pydantic/pydantic-ai/issues/5081",
    ],
    preview=True,
    refusal=refused(
        "Invalid JSON payload received. Unknown name \"id\" at 'contents[{content}].parts[{part}].{field}': Cannot find "
        "field."
    ),
    examples=[body(ASK, model(call()), user(answer()))],
    counterexamples=[
        body(ASK, model({"functionCall": {"id": "a", "name": "add", "args": {}}}), user(answer())),
        body(ASK, model(call()), user({"functionResponse": {"id": "a", "name": "add", "response": {}}})),
    ],
)
def calls_have_no_ids(request: Request) -> Iterator[Finding]:
    """A call and its response have no `id`.

    Why: Vertex refused the field all through 2026, while its own answers from Gemini 3 on have it: where it is taken by
    now is not known. Fix: leave it out; name and order pair them.
    """
    for content, (pointer, said) in enumerate(contents(request.body)):
        for part, (place, found) in enumerate(parts(said, pointer)):
            for key, field in (("functionCall", "function_call"), ("functionResponse", "function_response")):
                if isinstance(value := get(found, key), dict):
                    facts = {"content": content, "part": part, "field": field}
                    yield broken(f"{place}/{key}", "it has an id", **facts) if "id" in value else met(place)


@VERTEX.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="several independent reports of the same text",
    refusal=refused(
        "Unable to submit request because `{name}` functionDeclaration `parameters` schema should be of type OBJECT. "
        "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"
    ),
    examples=[body(ASK, tools=TOOLS)],
    counterexamples=[
        body(ASK, tools=[{"functionDeclarations": [{"name": "add", "parameters": {"type": "STRING"}}]}])
    ],
)
def parameters_are_objects(request: Request) -> Iterator[Finding]:
    """A function's `parameters` are of type object.

    Fix: leave them out where there are no arguments.
    """
    for pointer, declaration in declarations(request.body):
        schema, place = declaration.get("parameters"), f"{pointer}/parameters"
        if isinstance(schema, dict) and schema and "$ref" not in schema:
            right, name = str(schema.get("type")).upper() == "OBJECT", declaration.get("name")
            yield met(place) if right else broken(place, "it is of another type", name=name)


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor; of proxies nothing is known to be refused."""
    if vendor in {"", book.vendor}:
        return book
    return VERTEX if vendor == "vertex" else book.extend(vendor, only=[])
