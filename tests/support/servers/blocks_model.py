"""A model whose answers a test gives block by block, as a stream of Anthropic's Messages API. It includes blocks that
the strict server's models do not have, such as citations and invalid names.
"""

import json
from collections.abc import Iterator

from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

__all__ = ["blocks_model"]


def blocks_model(answers):
    """Returns the app of a model. An answer is a list of blocks; a string is an error with this text."""
    left = iter(answers)

    async def answer(_request):
        blocks = next(left)
        if isinstance(blocks, str):
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": blocks}}
            return JSONResponse(error, 400)
        return StreamingResponse(map(_event, _events(blocks)), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])


def _event(event):
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _events(blocks) -> Iterator[dict]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _empty(block):
    empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
    return {**{k: v for k, v in block.items() if k != "citations"}, **empty[block["type"]]}


def _deltas(block) -> Iterator[dict]:
    match block:
        case {"type": "text", "text": text}:
            yield from ({"type": "text_delta", "text": piece} for piece in _pieces(text))
            for citation in block.get("citations", ()):
                yield {"type": "citations_delta", "citation": citation}
        case {"type": "thinking", "thinking": text}:
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in _pieces(text))
            yield {"type": "signature_delta", "signature": "c2lnbmVk"}
        case {"type": "tool_use", "input": given}:
            yield {"type": "input_json_delta", "partial_json": json.dumps(given)}


def _pieces(text):
    """Returns the text in two pieces, because the display of the first may differ from that of the whole."""
    half = len(text) // 2
    return filter(None, (text[:half], text[half:]))
