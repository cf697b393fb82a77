"""Streams of Responses are merged, and their items are sent back."""

from traffic.folded_streams import RESPONSES, folded, requests

from ellmer_core import TypeObject, type_integer
from ellmer_core._chat.structured_output import Structured
from ellmer_core.contents.content import ContentText

ITEMS = [
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "p1"}, {"type": "summary_text", "text": "p2"}], "encrypted_content": "ENC"},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary", "content": [
        {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation", "url": "u", "title": "U", "start_index": 0, "end_index": 1}], "logprobs": [{"token": "a"}]},
        {"type": "output_text", "text": "b", "annotations": []},
    ]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"x": 1.50}', "status": "completed"},
]  # fmt: skip


def test_responses_items_go_back_as_they_came():
    turn, complete, _ = folded(
        RESPONSES,
        *(
            {"type": "response.output_item.done", "output_index": n, "item": item}
            for n, item in enumerate(ITEMS)
        ),
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": ITEMS, "usage": {"input_tokens": 1}},
        },
    )
    assert complete
    assert turn == RESPONSES.turn({"status": "completed", "output": ITEMS, "usage": {"input_tokens": 1}})
    assert (turn.text, turn.contents[0].thinking) == ("ab", "p1\n\np2")
    assert requests(turn) == [("call_1", "f", {"x": 1.5})]
    back = RESPONSES.message(turn)
    del ITEMS[1]["content"][0]["logprobs"]
    assert back == ITEMS


def test_responses_of_which_something_is_missing_go_back_without_ids():
    turn = RESPONSES.turn({"status": "completed", "output": ITEMS})
    edited = type(turn)([c for c in turn.contents if not isinstance(c, ContentText)])
    back = RESPONSES.message(edited)
    assert [item["type"] for item in back] == ["web_search_call", "function_call"]
    assert "id" not in back[-1]


def test_responses_show_paragraphs_and_take_done_over_deltas():
    item = {"type": "reasoning", "id": "rs", "summary": [{"text": "one"}, {"text": "two!"}]}
    turn, _, shown = folded(
        RESPONSES,
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "id": "rs", "summary": []},
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 0,
            "delta": "one",
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 1,
            "delta": "two",
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.mystery", "output_index": 0, "sequence_number": 9},
    )
    assert "".join(c.thinking for c in shown) == "one\n\ntwo"
    assert turn.contents[0].thinking == "one\n\ntwo!"


def test_responses_partial_items_come_from_their_deltas():
    turn, complete, _ = folded(
        RESPONSES,
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"x'},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "hi"},
    )
    assert (turn.text, complete, turn.finish_reason) == ("hi", False, None)
    assert turn.tool_requests[0].problem
    assert turn.tool_requests[0].arguments == {}


COMMENT, ANSWER = (
    {"type": "message", "id": id, "role": "assistant", "status": "completed", "phase": phase,
     "content": [{"type": "output_text", "text": text, "annotations": []}]}
    for id, phase, text in (("msg_1", "commentary", "I look."), ("msg_2", "final_answer", '{"n": 1}'))
)  # fmt: skip


def test_two_messages_are_told_apart_and_go_back_as_two():
    deltas = [
        {"type": "response.output_text.delta", "output_index": n, "item_id": item["id"], "delta": piece}
        for n, item in enumerate((COMMENT, ANSWER))
        for piece in (item["content"][0]["text"][:4], item["content"][0]["text"][4:])
    ]
    done = {"status": "completed", "output": [COMMENT, ANSWER]}
    turn, _, shown = folded(RESPONSES, *deltas, {"type": "response.completed", "response": done})

    assert turn.text == 'I look.\n\n{"n": 1}' == "".join(content.text for content in shown)
    assert [content.text for content in turn.contents] == ["I look.", '{"n": 1}']
    assert RESPONSES.message(turn) == [COMMENT, ANSWER]


def test_of_two_messages_with_data_the_last_one_is_the_answer():
    first = {**COMMENT, "content": [{"type": "output_text", "text": '{"n": 1000}', "annotations": []}]}
    turn = RESPONSES.turn({"status": "completed", "output": [first, ANSWER]})
    assert Structured(TypeObject(properties={"n": type_integer()})).value(turn) == {"n": 1}
