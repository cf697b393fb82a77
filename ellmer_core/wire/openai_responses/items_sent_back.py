"""The items of an answer that Responses accepts back, with their required fields (openai.types.responses.*Param)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...contents.content import Content, ContentUnknown
from ..shared.provider_run_tools import OURS
from ..shared.sent_back_block_shapes import WORD, Shape, Tagged, legal

__all__ = ["FIELDS", "ITEMS", "NOTE", "sent_back"]

#: Optional fields of an item, with their types. A field of another type is left out.
FIELDS: Mapping[str, Shape] = {
    "status": re.compile("completed|in_progress|incomplete"),
    "phase": (WORD, None),
    "namespace": str,
    "caller": ({"type": str}, None),
    "async": bool,
}
_TEXT = {"type": str, "text": str}
_CALL = {"id": WORD, "status": WORD}
NOTE = Tagged(
    {
        "url_citation": {"url": str, "title": str, "start_index": int, "end_index": int},
        "file_citation": {"file_id": str, "filename": str, "index": int},
        "container_file_citation": {
            "container_id": str,
            "file_id": str,
            "filename": str,
            "start_index": int,
            "end_index": int,
        },
        "file_path": {"file_id": str, "index": int},
    }
)
_PART = Tagged({"output_text": {"text": str, "annotations?": [NOTE]}, "refusal": {"refusal": str}})
_SEARCH = Tagged(
    {
        "search": {"query?": str, "queries?": [str], "sources?": [{"type": str, "url": str}]},
        "open_page": {"url?": str},
        "find_in_page": {"pattern": str, "url": str},
    }
)
_OUTPUT = Tagged({"logs": {"logs": str}, "image": {"url": str}})
_TOOL = {"name": str, "input_schema": dict, "description?": str}
_FOUND = {"file_id?": str, "filename?": str, "text?": str, "score?": (int, float), "attributes?": dict}
_FUNCTION = {"name": str, "parameters": dict, "strict": bool, "description?": str}
_LOADED = Tagged(
    {
        "function": _FUNCTION,
        "custom": {"name": str, "description?": str},
        "mcp": {"server_label": str},
        "namespace": {
            "name": str,
            "description": str,
            "tools": [Tagged({"function": {"name": str}, "custom": {"name": str}})],
        },
    }
)

ITEMS = Tagged(
    {
        "message": {"id?": WORD, "content": (str, [_PART]), "phase?": WORD},
        "reasoning": {"id?": WORD, "summary": [_TEXT], "content?": [_TEXT], "encrypted_content?": str},
        "function_call": {"call_id": WORD, "name": str, "arguments": str},
        "custom_tool_call": {"call_id": WORD, "name": str, "input": str},
        "web_search_call": {**_CALL, "action": _SEARCH},
        "file_search_call": {**_CALL, "queries": [str], "results?": [_FOUND]},
        "code_interpreter_call": {**_CALL, "container_id": str, "code?": str, "outputs?": [_OUTPUT]},
        "image_generation_call": {**_CALL, "result?": str},
        "computer_call": {**_CALL, "call_id": WORD, "pending_safety_checks": list, "action?": {"type": str}},
        "local_shell_call": {
            **_CALL,
            "call_id": WORD,
            "action": {"type": str, "command": [str], "env": dict},
        },
        "shell_call": {"call_id": WORD, "action": {"commands": [str]}},
        "shell_call_output": {
            "call_id": WORD,
            "output": [{"outcome": {"type": str}, "stdout": str, "stderr": str}],
        },
        "apply_patch_call": {"call_id": WORD, "status": WORD, "operation": {"type": str}},
        "mcp_call": {"id": WORD, "arguments": str, "name": str, "server_label": str, "output?": str},
        "mcp_list_tools": {"id": WORD, "server_label": str, "tools": [_TOOL], "error?": (str, dict)},
        "mcp_approval_request": {"id": WORD, "arguments": str, "name": str, "server_label": str},
        "tool_search_call": {"arguments?": object, "call_id?": str},
        "tool_search_output": {"tools": [_LOADED], "call_id?": str},
        "compaction": {"encrypted_content": str, "id?": WORD},
    }
)


def sent_back(contents: Sequence[Content], wire: str) -> list[Content]:
    """Returns the contents without incomplete items, and without unrun calls of client-side tools: `No tool output
    found for custom tool call …`.
    """
    items = [content.data for content in contents if isinstance(content, ContentUnknown)]
    outputs = {str(item.get("call_id")) for item in items if str(item.get("type")).endswith("_output")}
    return [
        content
        for content in contents
        if not isinstance(content, ContentUnknown)
        or content.wire != wire
        or (_ran(content.data, outputs) and legal(content.data, ITEMS, wire))
    ]


def _ran(item: Mapping[str, Any], outputs: set[str]) -> bool:
    ours = str(item.get("type")) in OURS - {"function_call"}
    return not ours or str(item.get("call_id")) in outputs
