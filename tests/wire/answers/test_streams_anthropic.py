"""Streams of Anthropic's messages are merged."""

from traffic.folded_streams import ANTHROPIC, ANTHROPIC_TEXT, block, folded, requests

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.wire.interfaces import CallPiece

END = ANTHROPIC_TEXT[-2:]


FOUND = {"type": "web_search_result", "url": "https://c.test", "title": "C", "encrypted_content": "E"}


def test_anthropic_blocks():
    citation = {"type": "char_location", "cited_text": "x", "file_id": None, "document_index": 0}
    citation |= {"start_char_index": 0, "end_char_index": 1}
    events = [
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            ("thinking_delta", "thinking", "h"),
            ("thinking_delta", "thinking", "m"),
            ("signature_delta", "signature", "s1"),
            ("signature_delta", "signature", "s2"),
        ),
        *block(1, {"type": "redacted_thinking", "data": "RED"}),
        *block(
            2,
            {"type": "text", "text": ""},
            ("text_delta", "text", "hi"),
            ("citations_delta", "citation", citation),
        ),
        *block(
            3,
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            ("input_json_delta", "partial_json", '{"q": 1}'),
        ),
        *block(
            4,
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [FOUND]},
        ),
        *block(
            5,
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}, "caller": {"type": "direct"}},
            ("input_json_delta", "partial_json", ""),
            ("input_json_delta", "partial_json", '{"x"'),
            ("input_json_delta", "partial_json", ": 1.50}"),
        ),
        *block(
            6,
            {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
            ("input_json_delta", "partial_json", ""),
        ),
    ]
    turn, complete, shown = folded(ANTHROPIC, ANTHROPIC_TEXT[0], *events, *END)
    assert complete
    assert shown == [
        ContentThinking("h"),
        ContentThinking("m"),
        ContentText("hi"),
        CallPiece(5, "t1", "f", '{"x"'),
        CallPiece(5, "t1", "f", ": 1.50}"),
    ]
    assert requests(turn) == [("t1", "f", {"x": 1.5}), ("t2", "g", {})]
    assert turn.finish_reason == "tool_use"
    assert ANTHROPIC.message(turn) == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s1s2"},
                {"type": "redacted_thinking", "data": "RED"},
                {
                    "type": "text",
                    "text": "hi",
                    "citations": [{k: v for k, v in citation.items() if k != "file_id"}],
                },
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": 1}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [FOUND],
                },
                {
                    "type": "tool_use",
                    "id": "t1",
                    "name": "f",
                    "input": {"x": 1.5},
                    "caller": {"type": "direct"},
                },
                {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
            ],
        }
    ]


def test_anthropic_interleaved_blocks_and_cumulative_usage():
    a, b = (
        list(block(0, {"type": "text", "text": ""}, ("text_delta", "text", "a"))),
        list(block(1, {"type": "text", "text": ""}, ("text_delta", "text", "b"))),
    )
    usage = {
        "type": "message_delta",
        "delta": {"stop_reason": "max_tokens"},
        "usage": {"output_tokens": 9, "input_tokens": None, "cache_read_input_tokens": 4},
    }
    turn, *_ = folded(ANTHROPIC, ANTHROPIC_TEXT[0], a[0], b[0], b[1], a[1], usage, {"type": "message_stop"})
    assert turn.text == "ab"
    assert (turn.tokens.input, turn.tokens.output, turn.tokens.cached) == (7, 9, 4)
    assert turn.finish_reason == "max_tokens"


def test_thinking_that_was_cut_before_its_signature_stays_here():
    events = block(
        0, {"type": "thinking", "thinking": "", "signature": ""}, ("thinking_delta", "thinking", "hm")
    )
    turn, *_ = folded(ANTHROPIC, ANTHROPIC_TEXT[0], *events, *END)
    assert turn.contents[0].thinking == "hm"
    assert ANTHROPIC.message(turn) == []
