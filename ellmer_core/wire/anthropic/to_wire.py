"""Anthropic Messages, requests: converts one content at a time to blocks. The model's blocks are sent back unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from ...contents import content as ours
from ...contents.turns import AssistantTurn, SystemTurn, Turn, kinds_not_plain, not_plain, system_turns
from ...schemas.json_schema import subschemas
from ...tools.results import result_parts, result_text, split
from ..interfaces import Json, Request, SchemaLimits
from ..shared import content_parts, json_objects, schemas, tool_calls
from ..shared.content_parts import Cache, check_cache, joined, with_marks
from ..shared.json_objects import Tagged, fits, fitting, legal
from ..shared.schemas import ANTHROPIC_DIALECT, ANTHROPIC_LIMITS
from ..shared.tool_calls import STRUCTURED
from .from_wire import AnthropicResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


def _legal(fields: Mapping[str, Any]) -> Json:
    """Returns the additional fields of a block that the API accepts back."""
    legal_fields = json_objects.without(fields, "citations")
    if citations := fitting(fields.get("citations"), CITATION):
        legal_fields["citations"] = citations
    if "caller" in legal_fields and not fits(legal_fields["caller"], CALLER):
        del legal_fields["caller"]
    return legal_fields


#: https://docs.claude.com/en/docs/build-with-claude/files
FILES_BETA = "files-api-2025-04-14"
COMPACT_BETA = "compact-2026-01-12"

#: `Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`
PLAIN_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

#: The fields that the counter of tokens takes (MessageCountTokensParams).
COUNTED = (
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "cache_control",
)


@dataclass(frozen=True, eq=False, repr=False)
class AnthropicMessages(AnthropicResponse):
    """The wire format of the Messages API. It requires `max_tokens`: see `limit()`."""

    name: ClassVar[str] = "anthropic"
    provider: ClassVar[str] = "Anthropic"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "max_tokens": "max_tokens",
        "stop_sequences": "stop_sequences",
        "reasoning_tokens": "thinking.budget_tokens",
        "reasoning_effort": "output_config.effort",
        "compact_at": "context_management",
    }

    models_path: ClassVar[str] = "/models?limit=1000"
    schema_limits: ClassVar[SchemaLimits] = ANTHROPIC_LIMITS

    base_url: str = "https://api.anthropic.com/v1"
    cache: Cache = "none"
    api_version: str = "2026-10-21"

    # requests -------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cache(self.cache)

    @property
    def version(self) -> str:
        """The version of the API: the caller's own header, or `api_version`."""
        named = {name.lower(): value for name, value in self.api_headers.items()}
        return named.get("anthropic-version", self.api_version)

    @property
    def issuer(self) -> str:
        """The issuer of signatures. Claude's signatures are valid at every host of the model."""
        return self.name

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "max_tokens": self.limit()}
        if system := "\n\n".join(filter(None, (self.system(turn) for turn in system_turns(turns)))):
            body["system"] = system
        body["messages"] = self.messages(turns)
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["output_config"] = {
                "format": {"type": "json_schema", "schema": ANTHROPIC_DIALECT.say(self.schema(type))}
            }
        if thinking := self.thinking():
            body["thinking"] = thinking
        if stream:
            body["stream"] = True
        body = with_marks(body, self.cache)
        request = self.post(f"{self.base_url.rstrip('/')}/messages", body, stream=stream)
        betas = [FILES_BETA] if _names_files(turns) else []
        betas += [COMPACT_BETA] if self.params.get("compact_at") else []
        return replace(request, headers=_with_betas(request.headers, betas)) if betas else request

    def parameters(self) -> Json:
        tokens = self.params.get("compact_at")
        trigger = {"type": "input_tokens", "value": tokens}
        edits = {"edits": [{"type": "compact_20260112", "trigger": trigger}]} if tokens else None
        return json_objects.parameters({**self.params, "compact_at": edits}, self.param_names, self.name)

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ours.ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.asking(turns, tools, type=type)
        return replace(
            request, url=f"{request.url}/count_tokens", json=json_objects.only(request.json, *COUNTED)
        )

    def counted(self, response: Json) -> int:
        return int(response["input_tokens"])

    def call_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:
        named = subschemas(schemas.json_schema(type))
        odd = [
            name for each in named for name in each.get("properties", ()) if not PLAIN_NAME.fullmatch(name)
        ]
        return f"a parameter cannot be named {odd[0]!r}" if odd else super().call_problem(type, tools)

    def forced(self, *, alone: bool) -> Json:
        """Forces a tool call if possible: `Thinking may not be enabled when tool_choice forces tool use`."""
        if self.thinking():
            return {}
        return {"tool_choice": {"type": "tool", "name": STRUCTURED} if alone else {"type": "any"}}

    def headers(self) -> dict[str, str]:
        version = {"anthropic-version": self.api_version}
        return {"x-api-key": self.credentials(), **version} if self.credentials else version

    def thinking(self) -> Json | None:
        """Returns the thinking settings of the parameters: a number of tokens, or an effort."""
        if self.params.get("reasoning_tokens"):
            return {"type": "enabled"}
        effort = self.params.get("reasoning_effort") and self.profile.adaptive
        return {"type": "adaptive"} if effort else None

    def limit(self) -> int:
        """Returns the default of `max_tokens`: the value of the model's profile, plus the tokens for thinking."""
        most = self.profile.ranges.get("max_tokens", (1, float("inf")))[1]
        wanted = (self.profile.max_tokens or 4096) + (self.params.get("reasoning_tokens") or 0)
        return int(min(wanted, most))

    def system(self, turn: Turn) -> str:
        """Returns the text of a system turn, which is outside the messages."""
        if not isinstance(turn, SystemTurn):
            return ""
        return "\n\n".join(
            c.text for c in turn.contents if isinstance(c, ours.ContentText) and c.text.strip()
        )

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. Neighbours of one role are joined, as the API itself would do."""
        messages = super().messages(turns)
        if any(issubclass(kind, ours.ContentUnknown) for kind in kinds_not_plain(turns)):
            messages = paired(messages)
        return _without_trailing_space(joined(messages, "content", ("user", "assistant")))

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: all results first, then the rest, in one user message.
                blocks = [*map(self.result, results), *(self.content(c) for c in rest if self.sendable(c))]
                return [{"role": "user", "content": blocks}] if blocks else []

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's message. Thinking of a partial answer is left out, because its signature may be
        missing. Thinking at the end is left out, too: `The final block in an assistant message cannot be thinking`
        (tailcallhq/forgecode#2107). Calls come last.
        """
        thinks = not turn.lost
        contents = [
            c
            for c in turn.contents
            if self.sendable(c) and (thinks or not isinstance(c, ours.ContentThinking))
        ]
        blocks = tool_calls.before_the_calls(
            [block for c in contents if (block := self.assistant_part(c))],
            lambda block: block.get("type") == "text",
            lambda block: block.get("type") == "tool_use",
        )
        while blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            blocks.pop()
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def sendable(self, content: ours.Content) -> bool:
        """Tells whether a content can be sent. Blank text is refused, even if the model wrote it: `text content
        blocks must contain non-whitespace text` (anthropics/claude-code#23440).
        """
        if isinstance(content, ours.ContentText):
            return bool(content.text.strip())
        return content_parts.sendable(content, self.name)

    def result(self, result: ours.ContentToolResult) -> Json:
        """Returns a tool_result block, with its media inside if `tool_media` is native."""
        parts = result_parts(result) if self.tool_media == "native" else None
        block: Json = {
            "type": "tool_result",
            "tool_use_id": self.call_id(content_parts.request_of(result).id),
            "content": list(map(self.content, parts)) if parts else result_text(result),
        }
        return block | {"is_error": True} if result.error is not None else block

    tool_search: ClassVar[Json] = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}

    def tool(self, tool: ours.ToolDef) -> Json:
        return {
            "name": tool.name,
            "description": tool.description,
            "input_schema": self.schema(tool.arguments),
            **({"defer_loading": True} if self.defers(tool) else {}),
        }

    def schema(self, type: Type) -> Json:
        return schemas.json_schema(type)

    # contents -------------------------------------------------------------------------------------------

    def assistant_part(self, content: ours.Content) -> Json | None:
        """Returns a block of an assistant message; `None` for content that only another provider understands."""
        block: Json | None = None
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text, extra=extra):
                block = {"type": "text", "text": text, **_legal(self.attached(extra, "fields"))}
            case ours.ContentThinking() as thinking:
                block = self.signed_part(thinking)
            case ours.ContentToolRequest() as call:
                block = self.call(call)
            case ours.ContentUnknown(data=data):
                block = legal(data, BLOCKS, self.name)
            case ours.ContentJson():
                block = self.content(content)
            case (
                ours.ContentImageInline()
                | ours.ContentImageRemote()
                | ours.ContentPDF()
                | ours.ContentFile()
                | ours.ContentUploaded()
            ):
                block = {
                    "type": "text",
                    "text": content_parts.placeholder(content),
                }  # the role takes no media
            case ours.ContentCitation():
                raise content_parts.refused(content, self.name)
            case ours.ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case never:
                assert_never(never)
        return block

    def signed_part(self, thinking: ours.ContentThinking) -> Json | None:
        """Returns a thinking block unchanged. It is left out without its signature (it was cut off, or is another
        provider's) or its text, because the API refuses it. The text may be empty.
        """
        block = self.attached(thinking.extra, "block")
        return dict(block) if fits(block, BLOCKS) and (block.get("signature") or block.get("data")) else None

    def file(self, file: ours.ContentFile) -> Json | None:
        """Returns a text document as a document block."""
        if not file.text:
            return None
        source = {"type": "text", "media_type": "text/plain", "data": file.text}
        return {"type": "document", "source": source, "title": file.filename}

    def call(self, request: ours.ContentToolRequest) -> Json:
        """Returns a tool_use block. Its input is always an object."""
        fields = _legal(self.attached(request.extra, "fields"))
        call = {"type": "tool_use", "id": self.call_id(request.id), "name": request.name}
        return {**call, "input": dict(request.arguments), **fields}

    def call_id(self, id: str) -> str:
        """Returns a valid id: `tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
        (farion1231/cc-switch#1181).
        """
        return tool_calls.legal_id(id, r"[a-zA-Z0-9_-]+")

    def content(self, content: ours.Content) -> Json:
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                block: Json = {"type": "text", "text": text}
            case ours.ContentFile() as file:
                block = {"type": "text", "text": content_parts.placeholder(file)}
            case ours.ContentJson(value=value):
                block = {"type": "text", "text": json_objects.json_text(value)}
            case ours.ContentImageInline(type=type, data=data):
                block = {"type": "image", "source": {"type": "base64", "media_type": type, "data": data}}
            case ours.ContentImageRemote(url=url):
                block = {"type": "image", "source": {"type": "url", "url": url}}
            case ours.ContentPDF(type=type, data=data, filename=title):
                source = {"type": "base64", "media_type": type, "data": data}
                block = {"type": "document", "source": source, "title": title}
            case ours.ContentUploaded(uri=uri, type=type, wire=self.name):
                kind = "image" if type.startswith("image/") else "document"
                block = {"type": kind, "source": {"type": "file", "file_id": uri}}
            case ours.ContentUnknown(wire=self.name, data=data):
                block = dict(data)
            case (
                ours.ContentUploaded()
                | ours.ContentUnknown()
                | ours.ContentThinking()
                | ours.ContentToolRequest()
                | ours.ContentToolResult()
                | ours.ContentCitation()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
        return block


def _names_files(turns: Sequence[Turn]) -> bool:
    return any(
        isinstance(content, ours.ContentUploaded) and content.wire == "anthropic"
        for place in not_plain(turns)
        for content in turns[place].contents
    )


def _with_betas(headers: Mapping[str, str], added: Sequence[str]) -> dict[str, str]:
    """Returns the headers with betas that a request needs."""
    names = {name.lower(): name for name in headers}
    name = names.get("anthropic-beta", "anthropic-beta")
    betas = [beta.strip() for beta in headers.get(name, "").split(",") if beta.strip()]
    return {**headers, name: ",".join(dict.fromkeys([*betas, *added]))}


def _without_trailing_space(messages: list[Json]) -> list[Json]:
    """Returns the messages without trailing space: `final assistant content cannot end with trailing whitespace`
    (tailcallhq/forgecode#1872).
    """
    if messages and messages[-1]["role"] == "assistant" and messages[-1]["content"][-1].get("type") == "text":
        *before, last = messages[-1]["content"]
        messages[-1] = {"role": "assistant", "content": [*before, {**last, "text": last["text"].rstrip()}]}
    return messages


# --- blocks that are sent back ---------------------------------------------------------------------------


_ID, _SERVED = re.compile(r"[a-zA-Z0-9_-]+"), re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_PLACE = {"cited_text": str, "document_index": int}

CALLER = Tagged(
    {kind: {"tool_id": _SERVED} for kind in ("code_execution_20250825", "code_execution_20260120")}
)
CITATION = Tagged(
    {
        "char_location": {**_PLACE, "start_char_index": int, "end_char_index": int, "document_title?": str},
        "page_location": {**_PLACE, "start_page_number": int, "end_page_number": int, "document_title?": str},
        "content_block_location": {
            **_PLACE,
            "start_block_index": int,
            "end_block_index": int,
            "document_title?": str,
        },
        "web_search_result_location": {
            "cited_text": str,
            "encrypted_index": str,
            "url": str,
            "title?": str,
        },
        "search_result_location": {
            "cited_text": str,
            "source": str,
            "search_result_index": int,
            "start_block_index": int,
            "end_block_index": int,
            "title?": str,
        },
    }
)
_TEXT = {"type": str, "text": str, "citations?": [CITATION]}
_ERROR = {"error_code": str}
_RAN = {"content": [{"type": str, "file_id": str}], "return_code": int, "stderr": str}
_CODE = Tagged(
    {
        "code_execution_result": {**_RAN, "stdout": str},
        "encrypted_code_execution_result": {**_RAN, "encrypted_stdout": str},
        "code_execution_tool_result_error": _ERROR,
        "bash_code_execution_result": {**_RAN, "stdout": str},
        "bash_code_execution_tool_result_error": _ERROR,
    }
)
_FILES = Tagged(
    {
        "text_editor_code_execution_view_result": {
            "content": str,
            "file_type": str,
            "num_lines?": int,
            "start_line?": int,
            "total_lines?": int,
        },
        "text_editor_code_execution_create_result": {"is_file_update": bool},
        "text_editor_code_execution_str_replace_result": {
            "lines?": [str],
            "new_lines?": int,
            "new_start?": int,
            "old_lines?": int,
            "old_start?": int,
        },
        "text_editor_code_execution_tool_result_error": {**_ERROR, "error_message?": str},
    }
)
_FOUND = {
    "type": str,
    "encrypted_content": str,
    "title": str,
    "url": str,
    "page_age?": str,
}
_PAGE = Tagged(
    {
        "web_fetch_result": {
            "url": str,
            "retrieved_at?": str,
            "content": {"type": str, "source": {"type": str}, "title?": str, "context?": str},
        },
        "web_fetch_tool_result_error": _ERROR,
    }
)
_TOOLS = Tagged(
    {
        "tool_search_tool_search_result": {"tool_references": [{"type": str, "tool_name": str}]},
        "tool_search_tool_result_error": {**_ERROR, "error_message?": str},
    }
)
_ADVICE = Tagged(
    {
        "advisor_result": {"text": str},
        "advisor_redacted_result": {"encrypted_content": str},
        "advisor_tool_result_error": _ERROR,
    }
)


def _result(content: object) -> dict[str, object]:
    """Returns a result of a server tool. Its id is that of its call; otherwise `paired()` leaves it out."""
    return {"tool_use_id": _ID, "content": content, "caller?": CALLER}


BLOCKS = Tagged(
    {
        "text": {"text": str, "citations?": [CITATION]},
        "thinking": {"thinking": str, "signature": str},
        "redacted_thinking": {"data": str},
        "tool_use": {"id": _ID, "name": str, "input": dict, "caller?": CALLER},
        "server_tool_use": {"id": _SERVED, "name": str, "input": dict, "caller?": CALLER},
        "mcp_tool_use": {"id": _ID, "name": str, "input": dict, "server_name": str},
        "mcp_tool_result": {"tool_use_id": _ID, "is_error?": bool, "content?": (str, [_TEXT])},
        "web_search_tool_result": _result(([_FOUND], {"type": str, **_ERROR})),
        "web_fetch_tool_result": _result(_PAGE),
        "code_execution_tool_result": _result(_CODE),
        "bash_code_execution_tool_result": _result(_CODE),
        "text_editor_code_execution_tool_result": _result(_FILES),
        "tool_search_tool_result": _result(_TOOLS),
        "advisor_tool_result": _result(_ADVICE),
        "container_upload": {"file_id": str},
        "compaction": {"content?": str, "encrypted_content?": str, "signature?": str},
        "fallback": {"from": {"model": str}, "to": {"model": str}},
    }
)

_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
_ANY = "any id"  # as no id of a call is written


def paired(messages: list[Json]) -> list[Json]:
    """Returns the messages in which each result of a server tool has its call, and each call its result: `web_search
    tool use with id … was found without a corresponding web_search_tool_result block`.
    """
    called: set[object] = set()
    called_messages = [message for each in messages if (message := _with_calls(each, called))["content"]]
    answered = {block.get("tool_use_id") for message in called_messages for block in message["content"]}
    last = max((n for n, message in enumerate(called_messages) if message["role"] == "user"), default=0)
    before = [message for each in called_messages[:last] if (message := _settled(each, answered))["content"]]
    return [*before, *called_messages[last:]]


def _with_calls(message: Json, called: set[object]) -> Json:
    """Returns a message without the results that have no earlier call. A compaction may contain any call."""
    blocks = []
    for block in message["content"]:
        kind = str(block.get("type"))
        if kind == "compaction":
            called.add(_ANY)
        elif kind in _SERVER_CALLS:
            called.add(block.get("id"))
        served = kind.endswith("_tool_result") and kind != "tool_result"
        if not served or called & {block.get("tool_use_id"), _ANY}:
            blocks.append(block)
    return message if len(blocks) == len(message["content"]) else {**message, "content": blocks}


def _settled(message: Json, answered: set[object]) -> Json:
    """Returns a message without calls that the server has not run. They are left out once the conversation continued
    without them.
    """
    blocks = message["content"]
    if any(block.get("type") == "tool_use" for block in blocks):  # the server waits for results of ours
        return message
    settled = [b for b in blocks if b.get("type") not in _SERVER_CALLS or b.get("id") in answered]
    return message if len(settled) == len(blocks) else {**message, "content": settled}
