"""n pieces of an answer cost O(n): each kind of event of each wire format, counted in operations, not in seconds.

An operation is a line of Python that runs, which counts as eight, or a character that is written or read as JSON. For kinds whose pieces
belong to one object, so that each might copy what is there, it is also four bytes of memory that a line allocates: to count these takes
eight times as long. Twice the events may take at most 2.3 times the operations.
"""

import json
import sys
import tracemalloc
from itertools import pairwise

import pytest

from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses
from ellmer_core.wire.shared import json_objects
from ellmer_core.wire.shared.tool_calls import STRUCTURED

pytestmark = pytest.mark.invariants

SIZES = (150, 300, 600)
MOST = 2.3


def chat(n, delta, **choice):
    return [{"choices": [{"index": 0, "delta": delta(i), **choice}]} for i in range(n)] + [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        "[DONE]",
    ]


def chat_call(i, **parts):
    function = {name: value for name, value in parts.items() if name in {"name", "arguments"}}
    return {"tool_calls": [{**{k: v for k, v in parts.items() if k not in function}, "function": function}]}


CHAT = {
    "text": lambda n: chat(n, lambda i: {"content": "word "}),
    "text in chunks": lambda n: chat(n, lambda i: {"content": [{"type": "text", "text": "word "}]}),
    "chunks of two types": lambda n: chat(
        n, lambda i: {"content": [{"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [i]}]}
    ),
    "reasoning": lambda n: chat(n, lambda i: {"reasoning_content": "hm "}),
    "reasoning details": lambda n: chat(
        n, lambda i: {"reasoning_details": [{"type": "reasoning.text", "text": "hm ", "index": 0}]}
    ),
    "other reasoning details": lambda n: chat(
        n, lambda i: {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}
    ),
    "refusal": lambda n: chat(n, lambda i: {"refusal": "no "}),
    "audio": lambda n: chat(n, lambda i: {"audio": {"id": "a", "data": "UklG", "transcript": "la"}}),
    "logprobs": lambda n: chat(
        n, lambda i: {"content": "a"}, logprobs={"content": [{"token": "a", "logprob": -1}]}
    ),
    "arguments": lambda n: chat(
        n,
        lambda i: chat_call(
            i, index=0, id="c", name="f" if i == 0 else None, arguments='{"a":"' if i == 0 else "x"
        ),
    ),
    "arguments with the name each time": lambda n: chat(
        n, lambda i: chat_call(i, index=0, name="f", arguments='{"a":"' if i == 0 else "x")
    ),
    "calls": lambda n: chat(n, lambda i: chat_call(i, index=i, id=f"c{i}", name="f", arguments='{"a":1}')),
    "calls without ids": lambda n: chat(n, lambda i: chat_call(i, index=i, name="f", arguments='{"a":1}')),
    "calls at one index": lambda n: chat(n, lambda i: chat_call(i, index=0, name="f", arguments='{"a":1}')),
    "annotations": lambda n: chat(
        n,
        lambda i: {
            "content": "word ",
            "annotations": [{"type": "url_citation", "url_citation": {"url": f"https://a.example/{i}"}}],
        },
    ),
    "images": lambda n: chat(
        n, lambda i: {"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}]}
    ),
    "a name in pieces": lambda n: chat(n, lambda i: chat_call(i, index=0, name=f"{i:032}", arguments="")),
}


MISTRAL = CHAT | {
    "thinking in chunks": lambda n: chat(
        n, lambda i: {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm "}]}]}
    ),
    "references": lambda n: chat(n, lambda i: {"content": [{"type": "reference", "reference_ids": [i]}]}),
    "references in thinking": lambda n: chat(
        n,
        lambda i: {
            "content": [{"type": "thinking", "thinking": [{"type": "reference", "reference_ids": [i]}]}]
        },
    ),
    "calls in one delta": lambda n: chat(
        1,
        lambda _: {
            "tool_calls": [
                {"index": i, "id": f"{i:09}", "function": {"name": "f", "arguments": '{"a":1}'}}
                for i in range(n)
            ]
        },
    ),
    "choices": lambda n: [
        *(
            {"choices": [{"index": i, "delta": {"content": "word "}, "finish_reason": "stop"}]}
            for i in range(n)
        ),
        "[DONE]",
    ],
}


def responses(n, *, item, delta=None, done=None):
    events = []
    for i in range(n):
        events += [{"type": "response.output_item.added", "output_index": i, "item": item(i)}]
        events += [{**delta(i), "output_index": i}] if delta else []
        events += [{"type": "response.output_item.done", "output_index": i, "item": done(i)}] if done else []
    return [*events, {"type": "response.completed", "response": {"status": "completed", "output": []}}]


def one_item(n, item, delta):
    events = [{"type": "response.output_item.added", "output_index": 0, "item": item}]
    events += [{**delta(i), "output_index": 0} for i in range(n)]
    return [*events, {"type": "response.completed", "response": {"status": "completed", "output": []}}]


MESSAGE = {"type": "message", "id": "m", "role": "assistant", "content": []}
RESPONSES = {
    "text": lambda n: one_item(
        n, MESSAGE, lambda i: {"type": "response.output_text.delta", "content_index": 0, "delta": "word "}
    ),
    "parts": lambda n: one_item(
        n, MESSAGE, lambda i: {"type": "response.output_text.delta", "content_index": i, "delta": "word "}
    ),
    "summary": lambda n: one_item(
        n,
        {"type": "reasoning", "id": "r", "summary": []},
        lambda i: {"type": "response.reasoning_summary_text.delta", "summary_index": i, "delta": "hm "},
    ),
    "arguments": lambda n: one_item(
        n,
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""},
        lambda i: {"type": "response.function_call_arguments.delta", "delta": "x"},
    ),
    "calls": lambda n: responses(
        n,
        item=lambda i: {"type": "function_call", "call_id": f"c{i}", "name": "f", "arguments": ""},
        done=lambda i: {
            "type": "function_call",
            "call_id": f"c{i}",
            "name": "f",
            "arguments": "{}",
            "status": "completed",
        },
    ),
    "calls without ids": lambda n: responses(
        n, item=lambda i: {"type": "function_call", "call_id": "", "name": "f", "arguments": "{}"}
    ),
    "refusal": lambda n: one_item(
        n, MESSAGE, lambda i: {"type": "response.refusal.delta", "content_index": 0, "delta": "no "}
    ),
    "reasoning": lambda n: one_item(
        n,
        {"type": "reasoning", "id": "r", "summary": []},
        lambda i: {"type": "response.reasoning_text.delta", "content_index": 0, "delta": "hm "},
    ),
    "annotations": lambda n: one_item(
        n,
        MESSAGE,
        lambda i: {
            "type": "response.output_text.annotation.added",
            "content_index": 0,
            "annotation_index": i,
            "annotation": {"type": "url_citation", "url": f"https://a.example/{i}"},
        },
    ),
    "events of no known type": lambda n: one_item(
        n, MESSAGE, lambda i: {"type": "response.new", "delta": "x"}
    ),
    "code": lambda n: one_item(
        n,
        {"type": "code_interpreter_call", "id": "c", "code": "", "status": "in_progress"},
        lambda i: {"type": "response.code_interpreter_call_code.delta", "delta": "x"},
    ),
    "custom calls": lambda n: responses(
        n, item=lambda i: {"type": "custom_tool_call", "call_id": f"c{i}", "name": "f", "input": "x"}
    ),
    "images": lambda n: responses(
        n,
        item=lambda i: {
            "type": "image_generation_call",
            "id": f"i{i}",
            "status": "completed",
            "result": "iVBO",
        },
    ),
    "whole responses": lambda n: [
        *({"type": "response.in_progress", "response": {"id": "r", "output": []}} for _ in range(n)),
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ],
    "searches": lambda n: responses(
        n, item=lambda i: {"type": "web_search_call", "id": f"w{i}", "status": "completed", "action": {}}
    ),
}


def anthropic(n, block, *deltas):
    events = [{"type": "message_start", "message": {"content": [], "usage": {}}}]
    for i in range(n):
        events.append({"type": "content_block_start", "index": i, "content_block": block(i)})
        events += [{"type": "content_block_delta", "index": i, "delta": delta} for delta in deltas]
    return [
        *events,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]


def one_block(n, block, delta):
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    return [
        {"type": "message_start", "message": {"content": []}},
        start,
        *({"type": "content_block_delta", "index": 0, "delta": delta} for _ in range(n)),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]


PLACE = {
    "type": "char_location",
    "cited_text": "a",
    "document_index": 0,
    "start_char_index": 0,
    "end_char_index": 1,
}
ANTHROPIC = {
    "text": lambda n: one_block(n, {"type": "text", "text": ""}, {"type": "text_delta", "text": "word "}),
    "thinking": lambda n: one_block(
        n, {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "hm "}
    ),
    "signatures": lambda n: one_block(
        n, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "c2ln"}
    ),
    "redacted thinking": lambda n: anthropic(n, lambda i: {"type": "redacted_thinking", "data": "x"}),
    "deltas of no known type": lambda n: one_block(
        n, {"type": "text", "text": ""}, {"type": "new_delta", "new": "x"}
    ),
    "counts": lambda n: [
        {"type": "message_start", "message": {"content": [], "usage": {}}},
        *({"type": "message_delta", "delta": {}, "usage": {f"tokens_{i}": i}} for i in range(n)),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ],
    "data that are whole at first": lambda n: [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {
                "type": "tool_use",
                "id": "c",
                "name": STRUCTURED,
                "input": {"numbers": [*range(n)]},
            },
        },
        *({"type": "ping"} for _ in range(n)),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ],
    "citations": lambda n: one_block(
        n, {"type": "text", "text": ""}, {"type": "citations_delta", "citation": PLACE}
    ),
    "arguments": lambda n: one_block(
        n,
        {"type": "tool_use", "id": "c", "name": "f", "input": {}},
        {"type": "input_json_delta", "partial_json": "x"},
    ),
    "calls": lambda n: anthropic(
        n,
        lambda i: {"type": "tool_use", "id": f"c{i}", "name": "f", "input": {}},
        {"type": "input_json_delta", "partial_json": "{}"},
    ),
    "calls without ids": lambda n: anthropic(
        n, lambda i: {"type": "tool_use", "id": "", "name": "f", "input": {}}
    ),
    "server tools": lambda n: anthropic(
        n,
        lambda i: (
            {"type": "server_tool_use", "id": f"srvtoolu_{i // 2}", "name": "web_search", "input": {}}
            if i % 2 == 0
            else {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{i // 2}", "content": []}
        ),
    ),
}


def gemini(n, part, **candidate):
    events = [{"candidates": [{"content": {"parts": [part(i)]}, **candidate}]} for i in range(n)]
    return [*events, {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1}}]


SOURCES = {
    "citationSources": [{"startIndex": 0, "endIndex": 1, "uri": "https://a.example"}],
}
GEMINI = {
    "text": lambda n: gemini(n, lambda i: {"text": "word "}),
    "thoughts": lambda n: gemini(n, lambda i: {"text": "hm ", "thought": True}),
    "signed text": lambda n: gemini(n, lambda i: {"text": "word ", "thoughtSignature": "c2ln"}),
    "calls without ids": lambda n: gemini(n, lambda i: {"functionCall": {"name": "f", "args": {"i": i}}}),
    "calls": lambda n: gemini(n, lambda i: {"functionCall": {"name": "f", "id": f"c{i}", "args": {}}}),
    "images": lambda n: gemini(n, lambda i: {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}),
    "answers to calls": lambda n: gemini(
        n, lambda i: {"functionResponse": {"name": "f", "id": f"c{i}", "response": {}}}
    ),
    "files": lambda n: gemini(
        n, lambda i: {"fileData": {"mimeType": "image/png", "fileUri": f"https://a.example/{i}"}}
    ),
    "parts of one event": lambda n: [
        {
            "candidates": [
                {"content": {"parts": [{"text": "word "} for _ in range(n)]}, "finishReason": "STOP"}
            ]
        }
    ],
    "grounding": lambda n: gemini(
        n,
        lambda i: {"text": "word "},
        groundingMetadata={"groundingChunks": [{"web": {"uri": "https://a.example", "title": "a"}}]},
    ),
    "grounding of many texts": lambda n: [
        *gemini(n, lambda i: {"text": "wörd ", "thoughtSignature": "c2ln"}),
        {
            "candidates": [
                {
                    "groundingMetadata": {
                        "groundingChunks": [{"web": {"uri": "https://a.example"}}],
                        "groundingSupports": [
                            {"segment": {"endIndex": 4, "text": "other"}, "groundingChunkIndices": [0]}
                            for _ in range(n)
                        ],
                    }
                }
            ]
        },
    ],
    "grounding of one text": lambda n: [
        *gemini(n, lambda i: {"text": "wörd "}),
        {
            "candidates": [
                {
                    "groundingMetadata": {
                        "groundingChunks": [{"web": {"uri": "https://a.example"}}],
                        "groundingSupports": [
                            {
                                "segment": {"startIndex": 6 * i, "endIndex": 6 * i + 5, "text": "wörd"},
                                "groundingChunkIndices": [0],
                            }
                            for i in range(n)
                        ],
                    }
                }
            ]
        },
    ],
    "candidates": lambda n: [
        {"candidates": [{"index": i, "content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
        for i in range(n)
    ],
    "recitations": lambda n: gemini(n, lambda i: {"text": "word "}, citationMetadata=SOURCES),
    "code": lambda n: gemini(
        n,
        lambda i: (
            {"executableCode": {"code": "1", "language": "PYTHON"}}
            if i % 2 == 0
            else {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
        ),
    ),
}


def bedrock(events):
    return [
        {"messageStart": {"role": "assistant"}},
        *events,
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1}}},
    ]


def bedrock_start(i, start):
    return {"contentBlockStart": {"contentBlockIndex": i, "start": start}}


def bedrock_delta(i, delta):
    return {"contentBlockDelta": {"contentBlockIndex": i, "delta": delta}}


CALL = {"toolUse": {"toolUseId": "c", "name": "f"}}
BEDROCK = {
    "text": lambda n: bedrock(bedrock_delta(0, {"text": "word "}) for _ in range(n)),
    "blocks": lambda n: bedrock(bedrock_delta(i, {"text": "word "}) for i in range(n)),
    "reasoning": lambda n: bedrock(bedrock_delta(0, {"reasoningContent": {"text": "hm "}}) for _ in range(n)),
    "arguments": lambda n: bedrock(
        [bedrock_start(0, CALL), *(bedrock_delta(0, {"toolUse": {"input": "x"}}) for _ in range(n))]
    ),
    "signatures": lambda n: bedrock(
        bedrock_delta(0, {"reasoningContent": {"signature": "c2ln"}}) for _ in range(n)
    ),
    "redacted reasoning": lambda n: bedrock(
        bedrock_delta(i, {"reasoningContent": {"redactedContent": "eA=="}}) for i in range(n)
    ),
    "citations": lambda n: bedrock(
        event
        for i in range(n)
        for event in (
            bedrock_delta(0, {"text": "word "}),
            bedrock_delta(
                0, {"citation": {"title": f"{i}", "location": {"web": {"url": "https://a.example"}}}}
            ),
        )
    ),
    "images": lambda n: bedrock(
        bedrock_delta(i, {"image": {"format": "png", "source": {"bytes": "iVBO"}}}) for i in range(n)
    ),
    "calls": lambda n: bedrock(
        event
        for i in range(n)
        for event in (
            bedrock_start(i, {"toolUse": {"toolUseId": f"c{i}", "name": "f"}}),
            bedrock_delta(i, {"toolUse": {"input": "{}"}}),
        )
    ),
    "calls of one id": lambda n: bedrock(
        event
        for i in range(n)
        for event in (bedrock_start(i, CALL), bedrock_delta(i, {"toolUse": {"input": "{}"}}))
    ),
}


def cohere(n, *events):
    return [
        {"type": "message-start", "id": "m"},
        *(event(i) for i in range(n) for event in events),
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    ]


def cohere_event(kind, index, **message):
    return {"type": kind, "index": index, "delta": {"message": message}}


COHERE = {
    "text": lambda n: cohere(n, lambda i: cohere_event("content-delta", 0, content={"text": "word "})),
    "parts": lambda n: cohere(
        n, lambda i: cohere_event("content-start", i, content={"type": "text", "text": "word "})
    ),
    "parts of one index": lambda n: cohere(
        n, lambda i: cohere_event("content-start", 0, content={"type": "text", "text": "word "})
    ),
    "thinking": lambda n: cohere(n, lambda i: cohere_event("content-delta", 0, content={"thinking": "hm "})),
    "text and thinking in turns": lambda n: cohere(
        n,
        lambda i: cohere_event("content-delta", 0, content={"thinking": "hm "}),
        lambda i: cohere_event("content-delta", 0, content={"text": "word "}),
    ),
    "plan": lambda n: cohere(n, lambda i: cohere_event("tool-plan-delta", 0, tool_plan="hm ")),
    "calls": lambda n: cohere(
        n,
        lambda i: cohere_event(
            "tool-call-start", i, tool_calls={"id": f"c{i}", "function": {"name": "f", "arguments": "{}"}}
        ),
    ),
    "calls without ids": lambda n: cohere(
        n,
        lambda i: cohere_event(
            "tool-call-start", i, tool_calls={"function": {"name": "f", "arguments": "{}"}}
        ),
    ),
    "arguments": lambda n: cohere(
        n, lambda i: cohere_event("tool-call-delta", 0, tool_calls={"function": {"arguments": "x"}})
    ),
    "citations": lambda n: cohere(
        n,
        lambda i: cohere_event("content-delta", 0, content={"text": "word "}),
        lambda i: cohere_event(
            "citation-start",
            i,
            citations={"start": 0, "end": 4, "text": "word", "sources": [{"type": "tool", "id": "d"}]},
        ),
    ),
}


def ollama(n, message):
    return [*({"message": message(i), "done": False} for i in range(n)), {"message": {}, "done": True}]


OLLAMA = {
    "text": lambda n: ollama(n, lambda i: {"content": "word "}),
    "thinking": lambda n: ollama(n, lambda i: {"thinking": "hm "}),
    "calls": lambda n: ollama(
        n, lambda i: {"tool_calls": [{"id": f"c{i}", "function": {"name": "f", "arguments": {"i": i}}}]}
    ),
    "calls in one line": lambda n: ollama(
        1, lambda _: {"tool_calls": [{"function": {"name": "f", "arguments": {"i": i}}} for i in range(n)]}
    ),
    "images": lambda n: ollama(n, lambda i: {"content": "a", "images": ["iVBO"]}),
    "logprobs": lambda n: [
        *({"message": {"content": "a"}, "logprobs": [{"token": "a", "logprob": -1}]} for _ in range(n)),
        {"message": {}, "done": True},
    ],
    "fields of no known name": lambda n: ollama(n, lambda i: {"new": "x", "content": "a"}),
    "calls without ids": lambda n: ollama(
        n, lambda i: {"tool_calls": [{"function": {"name": "f", "arguments": {"i": i}}}]}
    ),
}

FORMATS = {
    OpenAIChat: CHAT,
    OpenAIResponses: RESPONSES,
    AnthropicMessages: ANTHROPIC,
    Gemini: GEMINI,
    Bedrock: BEDROCK,
    CohereChat: COHERE,
    OllamaChat: OLLAMA,
    MistralChat: MISTRAL,
}
#: Kinds of which the memory is counted, too.
COPIED = {"openai-chat: a name in pieces", "anthropic: counts", "gemini: grounding of one text"}
KINDS = [
    pytest.param(wire(model="m"), events, id=f"{wire.name}: {kind}")
    for wire, kinds in FORMATS.items()
    for kind, events in kinds.items()
]


class Operations:
    """Counts the lines that a block of code runs, the characters that it writes and reads as JSON, and perhaps its memory."""

    def __init__(self, monkeypatch, *, memory=False):
        self.count = 0
        self._memory, self._allocated = memory, 0
        for name in ("loads", "dumps"):
            monkeypatch.setattr(json_objects.json, name, self._counting(getattr(json, name)))

    def __enter__(self):
        self._before = sys.gettrace()
        if self._memory:
            tracemalloc.start()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)
        tracemalloc.stop()

    def _trace(self, _frame, event, _argument):
        self.count += 8 * (event == "line")  # each turn of a loop is a line, too
        if self._memory:
            allocated, most = tracemalloc.get_traced_memory()
            self.count += max(most - self._allocated, 0) // 4
            self._allocated = allocated
            tracemalloc.reset_peak()
        return self._trace

    def _counting(self, function):
        def counted(value, *rest, **options):
            self.count += len(value) if isinstance(value, (str, bytes)) else 0  # also of what is no JSON
            result = function(value, *rest, **options)
            self.count += len(result) if isinstance(result, str) else 0
            return result

        return counted


def read(wire, events):
    """Reads a stream as a chat does that shows structured data while they arrive."""
    merger = wire.merger()
    for event in events:
        merger.add(event)
        merger.call_arguments(STRUCTURED)
        assert merger.complete in {True, False}
    return wire.turn(merger.response())


@pytest.mark.parametrize(("wire", "events"), KINDS)
def test_twice_the_events_take_twice_the_operations(wire, events, monkeypatch, request):
    memory = request.node.callspec.id in COPIED
    read(wire, events(SIZES[0]))  # what is made once is not counted
    counts = []
    for size in SIZES:
        stream = events(size)
        with monkeypatch.context() as patch, Operations(patch, memory=memory) as operations:
            read(wire, stream)
        counts.append(operations.count)

    assert [more / less for less, more in pairwise(counts) if more / less > MOST] == [], counts
