"""Vertex AI: the same format with other texts for some refusals, and without merging of contents (see `_turns.py`). Gemini's
Interactions: no refusal is recorded, so only losses are judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...observed.exchange import Request
from ...readers.gemini import declarations, get
from ...readers.gemini_interactions import PROVIDER
from ...rule import Finding, broken, met
from ...rulebook import RuleBook, UnsupportedFeature, add_feature_rules
from .. import common
from ._refusals_and_examples import ASK, MUST, REJECT, TOOLS, body, book, error_body, refused
from .models import config_place, generation_config

INTERACTIONS = RuleBook("gemini", PROVIDER, error_body, author=PROVIDER)
common.enter(INTERACTIONS)


OBJECT = 6  # its number in `google.cloud.aiplatform.v1.Type`
_SIGNATURES = "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"

VERTEX = book.extend(
    "vertex",
    without=[
        *("SCH-004", "SCH-015"),  # its schemas take some of these keys, and which is not studied
        *(
            "IMG-018",
            "IMG-032",
            "REQ-046",
            "REQ-047",
            "REQ-048",
            "THK-023",
        ),  # recorded at the Gemini API alone
        *("SCH-024", "TRM-017"),  # likewise
        "REQ-028",  # functions beside a search tool are recorded as accepted (gemini-3-flash-preview)
    ],
    STO_010={"preview": True},
    IMG_006={"preview": True},
    REQ_020={
        "source": (
            "https://github.com/BerriAI/litellm/issues/26682 (gemini-2.5-pro)",
            "https://github.com/BerriAI/litellm/pull/23717",
        ),
        "refusal": refused("Multiple tools are supported only when they are all search tools."),
    },
    TRM_003={"preview": False},
    THK_015={"preview": True},
    THK_016={"preview": True},
    THK_017={"preview": True},
    THK_018={"preview": True},
    REQ_027={"preview": True},
    REQ_002={
        "source": ("https://github.com/BerriAI/litellm/issues/9733",),
        "refusal": refused(
            "Unable to submit request because at least one contents field is required. Learn more: "
            "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
        ),
    },
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
    "SCH-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/diegosouzapw/OmniRoute/issues/3357",
        "https://github.com/vercel/ai/issues/9761",
    ],
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
    """The `parameters` of a function have the type `object`.

    Fix: leave `parameters` out if there are no arguments.
    """
    for pointer, declaration in declarations(request.body):
        schema, place = declaration.get("parameters"), f"{pointer}/parameters"
        if isinstance(schema, dict) and schema and "$ref" not in schema:
            kind, name = schema.get("type"), declaration.get("name")
            right = kind == OBJECT or str(kind).upper() == "OBJECT"
            yield met(place) if right else broken(place, "it is of another type", name=name)


def _function(**schema: Any) -> list[dict[str, Any]]:
    """Returns tools with one function that has a parameter with a schema."""
    parameters = {"type": "OBJECT", "properties": {"x": schema}}
    return [{"functionDeclarations": [{"name": "add", "parameters": parameters}]}]


@VERTEX.rule(
    "SCH-015",
    MUST,
    REJECT,
    preview=True,
    source=[
        "https://github.com/oOo0oOo/lean-lsp-mcp/issues/185 (no type)",
        "https://github.com/jenslys/opencode-gemini-auth/issues/57 (anyOf)",
        "https://github.com/continuedev/continue/issues/6121 (required)",
    ],
    refusal=refused("{text}"),
    examples=[body(ASK, tools=TOOLS), body(ASK, tools=_function(anyOf=[{"type": "STRING"}]))],
    counterexamples=[
        body(ASK, tools=_function(description="any value")),
        body(ASK, tools=_function(type="OBJECT", anyOf=[{"type": "STRING"}])),
        body(ASK, tools=_function(type="OBJECT", properties={}, required=["y"])),
    ],
)
def schemas_of_parameters_make_sense(request: Request) -> Iterator[Finding]:
    """In `parameters`, a schema has a type, or it has only `anyOf`. Required names are properties.

    Fix: give each parameter one type.
    """
    for pointer, declaration in declarations(request.body):
        for schema, names in _schemas(declaration.get("parameters"), ()):
            place = "".join(f"/{name}" for name in (f"{pointer[1:]}/parameters", *names))
            if fault := _senseless(schema, str(declaration.get("name")), names):
                text = f"Unable to submit request because {fault}"
                yield broken(place, "it is no schema that Vertex AI accepts", text=text)
            else:
                yield met(place)


def _schemas(schema: Any, names: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yields a schema and those of its properties, each with the keys that lead to it."""
    if isinstance(schema, dict) and schema and "$ref" not in schema:
        yield schema, names
        properties = schema.get("properties")
        for name, each in properties.items() if isinstance(properties, dict) else ():
            yield from _schemas(each, (*names, "properties", name))


def _senseless(schema: dict[str, Any], function: str, names: tuple[str, ...]) -> str:
    """Returns what Vertex AI says of a schema that it does not accept, or nothing."""
    named = ".".join(("parameters", *names[1::2]))
    where = f"`{function}` functionDeclaration `{named}` schema"
    more = "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"
    known = schema.get("properties")
    lacking = [
        each for each in schema.get("required") or () if not isinstance(known, dict) or each not in known
    ]
    if "anyOf" in schema and len(schema) > 1:
        return f"{where} specified other fields alongside any_of. When using any_of, it must be the only field set. {more}"
    if names and "type" not in schema and "anyOf" not in schema:
        return f"{where} didn't specify the schema type field. {more}"
    return f"required fields {lacking} are not defined in the schema properties." if lacking else ""


_THINKING = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"


def _thinks(request: Request) -> str | None:
    """Returns a thinking budget."""
    budget = get(get(generation_config(request), "thinkingConfig"), "thinkingBudget")
    return config_place(request) if budget else None


def _shows(request: Request) -> str | None:
    """Returns a request for visible thoughts without a budget."""
    shown = get(get(generation_config(request), "thinkingConfig"), "includeThoughts")
    return config_place(request) if shown and not _thinks(request) else None


def _shows_none(request: Request) -> str | None:
    """Returns a request for visible thoughts that allows none."""
    config = get(generation_config(request), "thinkingConfig")
    return (
        config_place(request)
        if get(config, "includeThoughts") and get(config, "thinkingBudget") == 0
        else None
    )


_SHOWS_NONE = {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 0}}

add_feature_rules(
    VERTEX,
    [
        UnsupportedFeature(
            "THK-036",
            "A request without thinking does not ask for visible thoughts.",
            ("*",),
            refused(
                "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is "
                f"enabled.. Learn more: {_THINKING}"
            ),
            ("https://github.com/lofcz/LLMTornado/pull/66",),
            _shows_none,
            body(ASK, generationConfig={"thinkingConfig": {"thinkingBudget": 0}}),
            body(ASK, generationConfig=_SHOWS_NONE),
            fix="set `includeThoughts` only together with thinking.",
        ),
        UnsupportedFeature(
            "THK-026",
            "Gemini 2.0 does not accept a thinking budget.",
            ("gemini-2.0-flash", "gemini-2.0-flash-00*", "gemini-2.0-flash-lite*", "gemini-2.0-flash-exp"),
            refused(
                "Unable to submit request because thinking is not supported by this model. "
                f"Learn more: {_THINKING}"
            ),
            ("https://github.com/googleapis/js-genai/issues/681 (gemini-2.0-flash)",),
            _thinks,
            body(ASK, named="gemini-2.0-flash"),
            body(
                ASK,
                named="gemini-2.0-flash",
                generationConfig={"thinkingConfig": {"thinkingBudget": 500}},
            ),
            fix="leave `thinkingConfig` out for these models.",
        ),
        UnsupportedFeature(
            "THK-027",
            "Gemini 2.0 does not accept `includeThoughts`.",
            ("gemini-2.0-flash", "gemini-2.0-flash-00*", "gemini-2.0-flash-lite*"),
            refused(
                "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is "
                f"enabled.. Learn more: {_THINKING}"
            ),
            ("https://github.com/lobehub/lobehub/issues/7985 (gemini-2.0-flash, gemini-2.0-flash-lite)",),
            _shows,
            body(ASK, named="gemini-2.0-flash"),
            body(
                ASK,
                named="gemini-2.0-flash",
                generationConfig={"thinkingConfig": {"includeThoughts": True}},
            ),
            fix="leave `includeThoughts` out for these models.",
        ),
    ],
)


#: Those whose rules are known, besides the format's own provider.
PROVIDERS = (INTERACTIONS.provider, "vertex")


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider. Refusals by proxies are not known."""
    if provider in {"", book.provider}:
        return book
    if provider == INTERACTIONS.provider:
        return INTERACTIONS
    return VERTEX if provider == "vertex" else book.extend(provider, only=[])
