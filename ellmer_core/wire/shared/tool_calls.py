"""Tool calls: their arguments as text and as objects, valid ids, truncated calls; and the calls that the provider ran itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import takewhile
from math import isfinite
from typing import Any

from ...base.budget import CLIENT
from ...contents import content as ours
from ...contents.turns import LEGAL_NAME, legal_name
from ..interfaces import Json
from .json_objects import bounded, few, json_text, objects, read_json

# --- calls of our tools ----------------------------------------------------------------------------------


#: The tool that a model is forced to call if it has no structured output, or none beside tools.
STRUCTURED = "give_structured_data"


def call_of(
    id: str, name: str, raw: object, *, cut: bool = False, extra: Json | None = None
) -> ours.ContentToolRequest:
    """Returns a tool call. `raw` is JSON text, or an object in formats with objects.

    `cut` says that the provider did not end the answer normally, so the call may be incomplete.
    """
    value, problem = _arguments(raw)
    if isinstance(name, str) and not LEGAL_NAME.fullmatch(name):
        name, problem = legal_name(name), f"no tool is called {name!r:.100}"
    if cut:
        problem = "the answer was cut off in this call: its arguments may be incomplete"
    return ours.ContentToolRequest(
        id,
        name,
        {} if problem else value,
        raw=raw if isinstance(raw, str) else None,
        problem=problem,
        extra=extra or {},
    )


def _arguments(raw: object) -> tuple[Json, str | None]:
    """Returns the arguments, and the error if the text is not an object. Empty text means no arguments."""
    try:
        value = strict_json(raw) if isinstance(raw, str) and raw.strip() else raw
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not JSON ({error})"
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}, None
    if not isinstance(value, dict):
        return {}, f"the arguments are not a JSON object but {type(value).__name__}"
    return value, None


def strict_json(text: str) -> Any:
    """Parses strict JSON: no NaN, no Infinity, no number that is too large. Raises `ValueError`."""
    if len(text) > CLIENT.values:
        few(text)
    value = json.loads(text, parse_constant=_not_json, parse_float=_finite)
    if text.count("[") + text.count("{") > CLIENT.depth:
        bounded(value)
    return value


#: What decides where a JSON value ends: a quote, a bracket, and a backslash with what it escapes.
_MARKS = re.compile(r'\\.|["{}\[\]]|\\\Z', re.DOTALL)


class WholeObject:
    """Tells whether the pieces of a text are a whole JSON object by now. Each piece is read once, however often it is
    asked.
    """

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self._read = 0  # pieces
        self._depth = 0
        self._in_string = False
        self._escape = ""  # a backslash at the end of the last piece
        self._blank = True
        self._whole: bool | None = None  # once the text is not blank and every bracket is closed

    def reached(self) -> bool:
        """Tells whether they are. After the end of an object, nothing makes another one of it."""
        for piece in self._pieces[self._read :]:
            self._scan(self._escape + piece)
            if piece.strip():
                self._blank = False
                self._whole = False if self._whole else self._whole
        self._read = len(self._pieces)
        if self._depth or self._in_string:
            return False
        if self._whole is None and not self._blank:
            self._whole = self._parses()
        return bool(self._whole)

    def _scan(self, text: str) -> None:
        self._escape = ""
        for mark in _MARKS.findall(text):
            if mark == '"':
                self._in_string = not self._in_string
            elif mark == "\\":
                self._escape = mark
            elif not self._in_string and mark in "{[]}":
                self._depth += 1 if mark in "{[" else -1

    def _parses(self) -> bool:
        try:
            return isinstance(strict_json("".join(self._pieces)), dict)
        except (ValueError, RecursionError):
            return False


def _not_json(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise ValueError(f"{number} is too large")
    return value


def tool_input(text: str) -> Any:
    """Returns the input of a streamed call, for a format with objects. If it is not JSON, because it was truncated,
    it is the original text, and `call_of()` reports it.
    """
    try:
        return strict_json(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def raw(request: ours.ContentToolRequest) -> str:
    """Returns the arguments as JSON text: the model's exact text if it is a JSON object, else `{}`."""
    text = request.raw or ""
    whole = (
        text.strip() not in {"", "null"} and not _arguments(text)[1]
    )  # a server may parse what is sent back
    return text if whole else json_text(dict(request.arguments))


def distinct(contents: Iterable[ours.Content], seed: object) -> list[ours.Content]:
    """Returns the contents with a distinct id for every tool call, so that each result matches its call.

    A call without an id gets one that is made from `seed` (the provider's whole answer). The same answer gives the
    same id, and different answers give different ids. An id that appears twice in one answer is kept for the first
    call.
    """
    seen: set[str] = set()
    distinct_contents: list[ours.Content] = []
    digest = None
    for place, content in enumerate(contents):
        if isinstance(content, ours.ContentToolRequest) and (not content.id or content.id in seen):
            digest = digest or sha256(f"[{json_text(seed)},".encode("utf-8", "surrogatepass"))
            own = digest.copy()  # the answer may be long
            own.update(f"{place}]".encode())
            content = ours.replaced(content, id=f"call_{own.hexdigest()[:24]}")  # noqa: PLW2901 - the renamed call takes its place
        if isinstance(content, ours.ContentToolRequest):
            seen.add(content.id)
        distinct_contents.append(content)
    return distinct_contents


def before_the_calls(
    blocks: Sequence[Json], is_text: Callable[[Json], bool], is_call: Callable[[Json], bool]
) -> list[Json]:
    """Returns the blocks of an answer whose texts behind the last calls are before them: Claude takes no text there
    (anthropics/claude-code#473).
    """
    end = max((place for place, block in enumerate(blocks, 1) if is_call(block)), default=0)
    behind = blocks[end:]
    texts = [block for block in behind if is_text(block)]
    if not end or not texts:
        return list(blocks)
    calls = list(takewhile(is_call, reversed(blocks[:end])))[::-1]
    return [*blocks[: end - len(calls)], *texts, *calls, *(block for block in behind if not is_text(block))]


def legal_id(id: str, pattern: str, length: int = 24) -> str:
    """Returns `id` if it matches `pattern`, else letters and digits that are made from it. Call and result get the
    same id.
    """
    return id if re.fullmatch(pattern, id) else _digest(id)[:length]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


# --- calls that the provider ran itself ------------------------------------------------------------------


#: Calls over Responses that the provider does not run: their results are ours to give.
OURS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
    }
)
#: Prefixes of the ids of searches that xAI runs itself and reports as custom tools (recorded).
XAI_SEARCH = "xs_call_"
SEALED = frozenset({"encrypted_content", "encrypted_stdout", "renderedContent", "search_suggestions"})


def provider_content(  # noqa: PLR0911 - one return per kind of block
    wire: str, block: Mapping[str, Any]
) -> ours.ContentUnknown:
    """Returns a block that the wire format has no class for: a call, a result, or unknown content."""
    match block:
        case {"type": "server_tool_use" | "mcp_tool_use", "name": str(name)}:
            return ours.ContentProviderCall(
                wire, block, _text(block.get("id")), name, _object(block.get("input"))
            )
        case {"type": str(kind), "tool_use_id": str(id)} if kind.endswith("_tool_result"):
            return _result(wire, block, id, kind.removesuffix("_tool_result"), block.get("content"))
        case {"type": str(kind)} if kind.endswith("_call") and kind not in OURS:
            return _item(wire, block, kind.removesuffix("_call"))
        case {"type": "custom_tool_call", "call_id": str(id)} if id.startswith(XAI_SEARCH):
            return _item(wire, block, "x_search")
        case {"type": "mcp_list_tools", "tools": list(tools)}:
            names = [tool.get("name") for tool in objects(tools)]
            arguments = {"server": block.get("server_label")}
            return ours.ContentProviderCall(
                wire, block, _text(block.get("id")), "mcp_list_tools", arguments, names
            )
        case {"type": "mcp_approval_request", "name": str(name)}:
            arguments = _json_object(block.get("arguments"))
            return ours.ContentProviderCall(wire, block, _text(block.get("id")), name, arguments)
        case {"type": "tool_search_output", "tools": list(tools)}:
            names = [tool.get("name") for tool in objects(tools)]
            return ours.ContentProviderResult(wire, block, _text(block.get("id")), "tool_search", value=names)
        case {"toolUse": {"type": "server_tool_use", "name": str(name)} as call}:
            return ours.ContentProviderCall(
                wire, block, _text(call.get("toolUseId")), name, _object(call.get("input"))
            )
        case {"toolResult": {"toolUseId": str(id)} as result}:
            name = _text(result.get("type")).removesuffix("_result")
            return _result(
                wire, block, id, name, result.get("content"), failed=result.get("status") == "error"
            )
    return _of_gemini(wire, block)


def _of_gemini(wire: str, block: Mapping[str, Any]) -> ours.ContentUnknown:
    match block:
        case {"executableCode": {"code": str()} as code}:
            return ours.ContentProviderCall(
                wire, block, _text(code.get("id")), "code_execution", _without(code, "id")
            )
        case {"codeExecutionResult": dict(result)}:
            failed = result.get("outcome") != "OUTCOME_OK"
            value = result.get("output") or result.get("outcome")
            return _result(wire, block, _text(result.get("id")), "code_execution", value, failed=failed)
        case {"toolCall": {"toolType": str(kind)} as call}:
            return ours.ContentProviderCall(
                wire, block, _text(call.get("id")), kind.lower(), _object(call.get("args"))
            )
        case {"toolResponse": {"toolType": str(kind)} as response}:
            return _result(
                wire, block, _text(response.get("id")), kind.lower(), response.get("response") or "done"
            )
    return ours.ContentUnknown(wire, block)


def _result(
    wire: str, block: Mapping[str, Any], id: str, name: str, value: Any, *, failed: bool = False
) -> ours.ContentProviderResult:
    code = value.get("error_code") if isinstance(value, Mapping) else None
    value = _readable(value)
    if failed or code or block.get("is_error"):
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return ours.ContentProviderResult(wire, block, id, name, error=_text(code) or words or "failed")
    return ours.ContentProviderResult(wire, block, id, name, value=[] if value is None else value)


def _item(wire: str, item: Mapping[str, Any], name: str) -> ours.ContentProviderCall:
    """Returns an item of Responses: the call and its result."""
    action = _object(item.get("action"))
    arguments = _json_object(item.get("arguments") or item.get("input")) or _without(
        action, "type", "sources"
    )
    arguments |= {key: item[key] for key in ("code", "queries") if item.get(key)}
    output = next(
        (item[key] for key in ("results", "outputs", "output") if item.get(key)), action.get("sources")
    )
    error = item.get("error") or (
        item.get("status") if item.get("status") in {"failed", "incomplete"} else None
    )
    return ours.ContentProviderCall(
        wire,
        item,
        _text(item.get("id")),
        _text(item.get("name")) or name,
        arguments,
        None if error else _readable(output) or _text(item.get("status")) or "completed",
        error if isinstance(error, str) or error is None else json.dumps(error, ensure_ascii=False),
    )


def paired(contents: Sequence[ours.Content]) -> list[ours.Content]:
    """Returns the contents in which each result has its call: the one with its id, or else the previous one."""
    calls: dict[str, ours.ContentProviderCall] = {}
    paired_contents: list[ours.Content] = []
    for content in contents:
        if isinstance(content, ours.ContentProviderResult) and (call := calls.get(content.id)):
            paired_contents.append(ours.replaced(content, name=call.name, arguments=call.arguments))
            continue
        if isinstance(content, ours.ContentProviderCall):
            calls[content.id] = content
        paired_contents.append(content)
    return paired_contents


def grounded(wire: str, candidate: Json) -> list[ours.ContentProviderCall]:
    """Returns the searches and page visits that Google reports beside the parts. There is no block to send back."""
    search, visits = _object(candidate.get("groundingMetadata")), _object(candidate.get("urlContextMetadata"))
    calls = []
    if queries := [query for query in search.get("webSearchQueries") or () if query]:
        sources = [
            _object(next(iter(chunk.values()), None)) for chunk in objects(search.get("groundingChunks"))
        ]
        calls.append(
            ours.ContentProviderCall(wire, {}, "", "google_search", {"queries": queries}, _readable(sources))
        )
    if pages := objects(visits.get("urlMetadata")):
        urls = [_text(page.get("retrievedUrl")) for page in pages]
        statuses = [
            _text(page.get("urlRetrievalStatus")).removeprefix("URL_RETRIEVAL_STATUS_").lower()
            for page in pages
        ]
        calls.append(
            ours.ContentProviderCall(
                wire, {}, "", "url_context", {"urls": urls}, dict(zip(urls, statuses, strict=True))
            )
        )
    return calls


def executed(wire: str, message: Json) -> list[ours.ContentProviderCall]:
    """Returns the calls that Groq's systems ran. There is no block to send back."""
    return [
        ours.ContentProviderCall(
            wire,
            {},
            "",
            _text(tool.get("type")),
            _json_object(tool.get("arguments")),
            tool.get("output") or "done",
        )
        for tool in objects(message.get("executed_tools"))
    ]


def _readable(value: Any) -> Any:
    """Returns the readable part of a value, without encrypted bytes and the provider's markup."""
    if isinstance(value, Mapping):
        return {
            name: _readable(inner)
            for name, inner in value.items()
            if name not in SEALED and inner is not None
        }
    return [_readable(inner) for inner in value] if isinstance(value, list) else value


def _json_object(value: Any) -> Json:
    if isinstance(value, str):
        try:
            value = read_json(value.strip())
        except (ValueError, RecursionError):
            return {"arguments": value}
    return _object(value)


def _object(value: Any) -> Json:
    return dict(value) if isinstance(value, Mapping) else {}


def _without(value: Mapping[str, Any], *names: str) -> Json:
    return {name: inner for name, inner in value.items() if name not in names}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
