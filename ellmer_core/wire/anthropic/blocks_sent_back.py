"""The blocks of an answer that Anthropic accepts back: the required fields of each (anthropic.types.*Param), and the
pairs.
"""

from __future__ import annotations

import re

from ..request_and_stream_merger import Json
from ..shared.sent_back_block_shapes import Tagged

__all__ = ["BLOCKS", "CALLER", "CITATION", "paired"]

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
    said = [message for each in messages if (message := _with_calls(each, called))["content"]]
    answered = {block.get("tool_use_id") for message in said for block in message["content"]}
    last = max((n for n, message in enumerate(said) if message["role"] == "user"), default=0)
    before = [message for each in said[:last] if (message := _settled(each, answered))["content"]]
    return [*before, *said[last:]]


def _with_calls(message: Json, called: set[object]) -> Json:
    """Returns a message without the results that have no earlier call. A compaction may contain any call."""
    kept = []
    for block in message["content"]:
        kind = str(block.get("type"))
        if kind == "compaction":
            called.add(_ANY)
        elif kind in _SERVER_CALLS:
            called.add(block.get("id"))
        served = kind.endswith("_tool_result") and kind != "tool_result"
        if not served or called & {block.get("tool_use_id"), _ANY}:
            kept.append(block)
    return message if len(kept) == len(message["content"]) else {**message, "content": kept}


def _settled(message: Json, answered: set[object]) -> Json:
    """Returns a message without calls that the server has not run. They are left out once the conversation continued
    without them.
    """
    blocks = message["content"]
    if any(block.get("type") == "tool_use" for block in blocks):  # the server waits for results of ours
        return message
    kept = [b for b in blocks if b.get("type") not in _SERVER_CALLS or b.get("id") in answered]
    return message if len(kept) == len(blocks) else {**message, "content": kept}
