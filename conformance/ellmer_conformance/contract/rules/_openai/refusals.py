"""What both OpenAI formats share: the error body, the names of places, types, lengths and ranges, the rules about what a client says of itself, and the texts for shape faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ...observed.exchange import Json, Request
from ...readers.json_access import object_of
from ...rule import Finding, Kind, Level, Refusal, broken, met
from ...rulebook import ErrorBody, RuleBook
from ...scope import matches
from ...shapes import Fault
from .._shape_faults import FaultKind, types_of

#: What each model of OpenAI takes, recorded by others, in public: the beginning of the links.
TRUTH = (
    "https://github.com/pydantic/pydantic-ai/blob/7f802e906e10d3dcc13fe0c019d0ad4d7370aab3/tests/profiles/cassettes/"
    "test_openai_reasoning_ground_truth/test_reasoning_flags_match_the_api%5B"
)
NAME = re.compile(r"[a-zA-Z0-9_-]+")
_INDEX = re.compile(r"/(\d+)(?=/|$)")

# Models that reason and take no sampling parameters. From gpt-5.1 on they do, with reasoning off.
REASONING = ("o1*", "o3*", "o4-mini*", "gpt-5", "gpt-5-2025*", "gpt-5-mini*", "gpt-5-nano*")

# The models that reason unless a request says `none`. GPT-6 Astra, and what came after it, does not take `none`.
THINKING = ("gpt>=5.6",)

# The models that reason only if a request names an effort other than `none`.
LAZY = ("gpt-5.4", "gpt-5.4-2026*", "gpt-5.4-mini*", "gpt-5.4-nano*")

# The efforts of each model, as its refusals and its pages list them. The first pattern that fits counts; a model that none
# fits takes what it takes.
EFFORTS = {
    "gpt-5": "minimal low medium high",
    "gpt-5-mini": "minimal low medium high",
    "gpt-5-nano": "minimal low medium high",
    "gpt-5-codex": "low medium high",
    "gpt-5-pro": "high",
    "gpt-5.1": "none low medium high",
    "gpt-5.1-chat-latest": "medium",
    "gpt-5.1-codex": "low medium high",
    "gpt-5.1-codex-max": "low medium high xhigh",
    "gpt-5.2": "none low medium high xhigh",
    "gpt-5.2-chat-latest": "medium",
    "gpt-5.2-pro": "medium high xhigh",
    "gpt-5.3-chat-latest": "medium",
    "gpt-5.4": "none low medium high xhigh",
    "gpt-5.4-mini": "none low medium high xhigh",
    "gpt-5.4-nano": "none low medium high xhigh",
    "o1": "low medium high",
    "o1-pro": "low medium high",
    "o3": "low medium high",
    "o3-mini": "low medium high",
    "o4-mini": "low medium high",
    # Those that can do without reasoning.
    "gpt-5.6*": "none low medium high xhigh max",
    "gpt-6-sol": "none low medium high xhigh max",
    "gpt-6-luna": "none low medium high xhigh max",
    "gpt-6.1-terra": "none low medium high xhigh max",
}
# Those of the models that always reason. Only Responses has `max` for them.
CHAT_EFFORTS = EFFORTS | {
    "gpt-6-astra": "low medium high xhigh",
    "gpt>=6.1": "low medium high xhigh",
}
RESPONSES_EFFORTS = EFFORTS | {
    "gpt-5.4-pro": "medium high xhigh",
    "gpt-5.5-pro": "medium high xhigh",
    "o3-pro": "low medium high",
    "gpt-6-astra": "low medium high xhigh max",
    "gpt>=6.1": "low medium high xhigh max",
}
#: How the API begins a sentence about the URL of an image.
EXPECTED = "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')"
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def address_names_model(request: Request) -> bool:
    """Tells whether a request was sent to an address that may name the model: of a deployment, and not below `/v1`."""
    place = urlsplit(request.url).path
    return bool(place) and "/v1/" not in place


def undated(model: str) -> str:
    """Returns `gpt-5` for `gpt-5-2025-08-07`."""
    return _DATE.sub("", model)


def choices(model: str, models: Mapping[str, str]) -> list[str]:
    """Returns the values of an option that a model takes, or an empty list if they are not known.

    The keys of `models` are names without a day, or patterns; the first one that fits counts.
    """
    name = undated(model)
    return next((values.split() for pattern, values in models.items() if matches(name, pattern)), [])


def refused(message: str, *, code: str | None = None, param: str | None = None) -> Refusal:
    """Returns a refusal with the type of all request errors of OpenAI."""
    return Refusal(message, type="invalid_request_error", code=code, param=param)


def error_body(indent: int | None) -> ErrorBody:
    """Returns OpenAI's error body. Chat Completions indents it by four spaces, Responses by two, and others not at
    all.
    """

    def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
        error = {
            "message": refusal.message,
            "type": refusal.type,
            "param": refusal.param,
            "code": refusal.code,
        }
        return {"content-type": "application/json"}, json.dumps({"error": error}, indent=indent).encode(
            "utf-8", "backslashreplace"
        ) + b"\n"

    return wrap


def numbered_error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns the error body of servers that repeat the status in it."""
    error = {"code": refusal.status, "message": refusal.message, "type": refusal.type}
    return {"content-type": "application/json"}, json.dumps({"error": error}, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def path(pointer: str) -> str:
    """Returns `messages[0].content` for `/messages/0/content`."""
    return _INDEX.sub(r"[\1]", pointer).strip("/").replace("/", ".")


_TYPES = {bool: "a boolean", int: "an integer", float: "a decimal number", str: "a string", list: "an array"}


def type_name(value: Any) -> str:
    """Returns a JSON value's type with its article, as in `but got an integer instead`."""
    return "null" if value is None else _TYPES.get(type(value), "an object")


def listed(names: Iterable[str]) -> str:
    """Returns `'a', 'b', and 'c'`."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def absent(value: Json, pointer: str, keys: Iterable[str]) -> Iterator[Finding]:
    """Yields a finding for each key: whether the object has it."""
    for key in keys:
        place = f"{pointer}/{key}"
        yield (
            met(pointer)
            if key in value
            else broken(pointer, f"`{key}` is missing", path=path(place), place=place)
        )


def mistyped(pointer: str, expected: str, value: Any) -> Finding:
    """Returns a finding for a value of the wrong type."""
    place, got = path(pointer), type_name(value)
    text = f"Invalid type for '{place}': expected {expected}, but got {got} instead."
    return broken(
        pointer, f"{got} is sent, and {expected} is expected", text=text, code="invalid_type", path=place
    )


def too_long(text: Any, pointer: str, limit: int) -> Iterator[Finding]:
    """Yields a finding for a string with a maximum length."""
    if isinstance(text, str):
        problem = f"it has {len(text)} characters and may have {limit}"
        facts = {"path": path(pointer), "limit": limit, "length": len(text)}
        yield met(pointer) if len(text) <= limit else broken(pointer, problem, **facts)


def misnamed(name: Any, pointer: str) -> Iterator[Finding]:
    """Yields a finding for a function's name: it has at least one letter, and only valid ones."""
    if isinstance(name, str):
        place, code = path(pointer), "invalid_value" if name else "empty_string"
        text = f"Invalid '{place}': " + (_MISNAMED if name else _EMPTY)
        problem = f"the name {name!r} has characters other than letters, digits, `_` and `-`, or none"
        fine = NAME.fullmatch(name)
        yield met(pointer) if fine else broken(pointer, problem, text=text, code=code, path=place)


def misfits(body: Json, kinds: Mapping[str, str]) -> Iterator[Finding]:
    """Yields a finding for each option: whether its type is right (`"an integer"`, `"a decimal"`, …). Null counts as
    not set.
    """
    for key, kind in kinds.items():
        value = body.get(key)
        if value is not None:
            yield met(f"/{key}") if _KINDS[kind](value) else mistyped(f"/{key}", kind, value)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return _number(value) and (isinstance(value, int) or value.is_integer())


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "an integer": _whole,
    "a decimal": _number,
    "a boolean": lambda value: isinstance(value, bool),
    "a string": lambda value: isinstance(value, str),
    "an array of objects": lambda value: isinstance(value, list),
    "an object": lambda value: isinstance(value, dict),
}
#: The finding has the provider's whole sentence.
WORDED = refused("{text}", code="{code}", param="{path}")
TOO_LONG = refused(
    "Invalid '{path}': string too long. "
    "Expected a string with maximum length {limit}, but got a string with length {length} instead.",
    code="string_above_max_length",
    param="{path}",
)
_MISNAMED = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
_EMPTY = "empty string. Expected a string with minimum length 1, but got an empty string instead."
OUT_OF_RANGE = refused(
    "Invalid '{path}': {kind} {word} value. Expected a value {sign} {bound}, but got {value} instead.",
    code="{code}",
    param="{path}",
)


def ranges(body: Json, bounds: Mapping[str, tuple[float, float]]) -> Iterator[Finding]:
    """Yields a finding for each number of the body that has bounds (inclusive)."""
    for key, (low, high) in bounds.items():
        value = body.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if low <= value <= high:
            yield met(f"/{key}")
            continue
        below, kind = value < low, "integer" if isinstance(low, int) else "decimal"
        bound, word, sign = (low, "below minimum", ">=") if below else (high, "above maximum", "<=")
        yield broken(
            f"/{key}",
            f"{key} is {value}; it may be {low:g} to {high:g}",
            path=key,
            kind=kind,
            word=word,
            sign=sign,
            bound=f"{bound:g}",
            value=value,
            code=f"{kind}_{word.replace(' ', '_').replace('minimum', 'min').replace('maximum', 'max')}_value",
        )


# --- What a client tells of itself -------------------------------------------------------------------------

_PAIRS, _VALUE = 16, 512  # the limits of `metadata`
_INSPECT = "https://github.com/UKGovernmentBEIS/inspect_ai/blob/499e6152e7b8fc8cbd8ac5283536572aa6e4ab17"


def enter_client_keys(book: RuleBook, body: Callable[..., Json], ask: Json) -> None:
    """Adds the rule to a book; `body` and `ask` make its examples in the book's format."""
    enter = book.rule(
        "REQ-042",
        Level.MUST,
        Kind.REJECT,
        source=[
            "https://github.com/theopenco/llmgateway/pull/3110 (prompt_cache_key)",
            "https://github.com/openai/openai-openapi (safety_identifier)",
            "https://github.com/maximhq/bifrost/pull/1000 (user)",
        ],
        refusal=TOO_LONG,
        examples=[body(ask, user="u" * 64, prompt_cache_key="c" * 64)],
        counterexamples=[body(ask, user="u" * 65), body(ask, prompt_cache_key="c" * 65)],
    )
    enter(keys_of_the_client_are_short)


def keys_of_the_client_are_short(request: Request) -> Iterator[Finding]:
    """User identifiers and cache keys have at most 64 characters.

    Fix: send a hash of the value.
    """
    for key in ("user", "safety_identifier", "prompt_cache_key"):
        yield from too_long(request.body.get(key), f"/{key}", 64)


def enter_metadata(book: RuleBook, body: Callable[..., Json], ask: Json) -> None:
    """Adds the rule to a book; `body` and `ask` make its examples in the book's format."""
    pairs = {str(number): "x" for number in range(_PAIRS + 1)}
    enter = book.rule(
        "REQ-070",
        Level.MUST,
        Kind.REJECT,
        source=[
            "https://github.com/thiswillbeyourgithub/openwebui_custom_pipes_filters/issues/3",
            "https://github.com/spiceai/docs/issues/928",
        ],
        refusal=WORDED,
        examples=[body(ask, metadata={"run": "x" * _VALUE})],
        counterexamples=[body(ask, metadata=pairs), body(ask, metadata={"run": "x" * (_VALUE + 1)})],
    )
    enter(metadata_are_short)


def metadata_are_short(request: Request) -> Iterator[Finding]:
    """`metadata` has at most 16 pairs, and a value has at most 512 characters.

    Fix: send only what you search for later.
    """
    pairs = object_of(request.body.get("metadata"))
    if len(pairs) > _PAIRS:
        text = (
            f"Invalid 'metadata': too many properties. Expected an object with at most {_PAIRS} properties, but got an "
            f"object with {len(pairs)} properties instead."
        )
        facts = {"text": text, "code": "object_above_max_properties", "path": "metadata"}
        yield broken("/metadata", f"there are {len(pairs)} pairs, and at most {_PAIRS} are allowed", **facts)
    for key, value in pairs.items():
        for found in too_long(value, f"/metadata/{key}", _VALUE):
            yield found if found.problem is None else _long(key, str(value), found)


def enter_flex(book: RuleBook, body: Callable[..., Json], ask: Json) -> None:
    """Adds the rule to a book; `body` and `ask` make its examples in the book's format."""
    enter = book.rule(
        "REQ-144",
        Level.MUST,
        Kind.REJECT,
        source=[
            f"{_INSPECT}/tests/model/providers/test_openai.py (gpt-4o, against the API)",
            "https://developers.openai.com/api/docs/guides/flex-processing",
        ],
        refusal=refused("Invalid service_tier argument", param="service_tier"),
        models=["gpt-4o*"],
        examples=[body(ask, model="gpt-4o", service_tier="default")],
        counterexamples=[body(ask, model="gpt-4o", service_tier="flex")],
    )
    enter(gpt_4o_has_no_flex_tier)


def gpt_4o_has_no_flex_tier(request: Request) -> Iterator[Finding]:
    """GPT-4o does not accept `service_tier: "flex"`.

    Fix: send it only to models that the guide to flex processing names, from o3, o4-mini and GPT-5 on, or send a batch.
    """
    flex = request.body.get("service_tier") == "flex"
    yield broken("/service_tier", "this model has no flex tier") if flex else met("/model")


def _long(key: str, value: str, found: Finding) -> Finding:
    place = f"metadata.{key}"
    text = (
        f"Invalid '{place}': string too long. Expected a string with maximum length {_VALUE}, but got a string with "
        f"length {len(value)} instead."
    )
    facts = {"text": text, "code": "string_above_max_length", "path": place}
    return broken(found.pointer, f"{len(value)} characters", **facts)


# --- Shape faults ---------------------------------------------------------------------------------------

REFUSALS: Mapping[FaultKind, Refusal] = dict.fromkeys(FaultKind, WORDED)
_ONE = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a decimal",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the sentence, the code and the path of a fault."""
    place = path(fault.pointer)
    inner = path(f"{fault.pointer}/{fault.key}")
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            return _facts(f"Unknown parameter: '{place}'.", "unknown_parameter", place)
        case FaultKind.MISSING_FIELD:
            return _facts(f"Missing required parameter: '{inner}'.", "missing_required_parameter", inner)
        case FaultKind.WRONG_TYPE:
            text = f"expected {expected(fault.expected)}, but got {type_name(fault.value)} instead."
            return _facts(f"Invalid type for '{place}': {text}", "invalid_type", place)
        case FaultKind.OUT_OF_RANGE:
            return _out_of_range(fault, place)
    value = fault.value[fault.key] if fault.key else fault.value
    text = f"Invalid value: '{value}'. Supported values are: {listed(fault.expected)}."
    return _facts(text, "invalid_value", place)


def expected(node: Mapping[str, Any]) -> str:
    """Returns `one of a string or array of objects` for a node."""
    names = [_with_elements(name, node) for name in sorted(types_of(node), key=[*_ONE].index)]
    if len(names) == 1:
        return names[0]
    rest = [name.partition(" ")[2] for name in names[1:]]
    return f"one of {', '.join([names[0], *rest[:-1]])} or {rest[-1]}"


def _with_elements(name: str, node: Mapping[str, Any]) -> str:
    items = node["array"]["items"] if name == "array" else {}
    inner = [each for each in items if each in _ONE]
    plural = (
        f" of {'integers' if 'integer' in items.get('number', ()) else inner[0] + 's'}"
        if len(inner) == 1
        else ""
    )
    return (
        ("an array of objects" if "ref" in items else f"{_ONE[name]}{plural}")
        if name == "array"
        else _ONE[name]
    )


def _facts(text: str, code: str, place: str) -> Mapping[str, str]:
    return {"text": text, "code": code, "path": place}


def _out_of_range(fault: Fault, place: str) -> Mapping[str, str]:
    bound, value = fault.expected, fault.value
    if fault.bound == "pattern":
        text = f"string does not match pattern. Expected a string that matches the pattern '{bound}'."
        return _facts(f"Invalid '{place}': {text}", "invalid_value", place)
    least, words = "in" in fault.bound[:3].lower() or fault.bound == "exclusiveMinimum", ("minimum", "below")
    extreme, side = words if least else ("maximum", "above")
    if isinstance(value, str | list):
        return _lengths(value, bound, extreme, place)
    kind, sign = "integer" if isinstance(value, int) else "decimal", ">=" if least else "<="
    text = f"{kind} {side} {extreme} value. Expected a value {sign} {bound}, but got {value} instead."
    return _facts(f"Invalid '{place}': {text}", f"{kind}_{side}_{extreme[:3]}_value", place)


def _lengths(value: str | list[Any], bound: int, extreme: str, place: str) -> Mapping[str, str]:
    name, article = ("string", "a string") if isinstance(value, str) else ("array", "an array")
    if not value:
        text = (
            f"empty {name}. Expected {article} with minimum length {bound}, but got an empty {name} instead."
        )
        return _facts(f"Invalid '{place}': {text}", f"empty_{name}", place)
    side, where = ("long", "above_max") if extreme == "maximum" else ("short", "below_min")
    text = (
        f"{name} too {side}. Expected {article} with {extreme} length {bound}, but got {article} with length"
    )
    return _facts(f"Invalid '{place}': {text} {len(value)} instead.", f"{name}_{where}_length", place)


def coded_error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns Perplexity's error body, which repeats the status, in both of its formats."""
    error = {"message": refusal.message, "type": refusal.type, "code": refusal.code or refusal.status}
    named = {"param": refusal.param} if refusal.param else {}
    text = json.dumps({"error": error | named}, separators=(",", ":"))
    return {"content-type": "application/json"}, text.encode("utf-8", "backslashreplace")


def flat_error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns xAI's error body, where the error is a string, in both of its formats."""
    code = refusal.code or "Client specified an invalid argument"
    text = json.dumps({"code": code, "error": refusal.message}, separators=(",", ":"))
    return {"content-type": "application/json"}, text.encode("utf-8", "backslashreplace")
