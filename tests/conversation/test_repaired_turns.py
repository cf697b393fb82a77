"""What a repair makes of turns; `tests/sweep/test_restored.py` sends them to every provider."""

from ellmer_core.contents.content import (
    ContentCitation,
    ContentImageInline,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, Tokens, UserTurn
from ellmer_core.conversation.repaired_turns import NEVER_CALLED, repaired

ASKED = UserTurn("q")
ONE, TWO = ContentToolRequest("a", "f", {"n": 1}), ContentToolRequest("b", "f", {"n": 2})
PNG = ContentImageInline(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)


def result(value, request):
    return ContentToolResult(value, request=request)


def test_turns_without_a_fault_are_the_same_objects_also_beside_others():
    whole = [ASKED, AssistantTurn([ONE]), UserTurn([result("1", ONE)]), AssistantTurn("done")]
    assert list(map(id, repaired(whole).turns)) == list(map(id, whole))
    broken = [*whole, UserTurn([result("2", TWO)])]
    assert list(map(id, repaired(broken).turns[:4])) == list(map(id, whole))


def test_the_calls_of_the_last_turn_stay_open():
    turns = [ASKED, AssistantTurn([ONE, TWO])]
    assert repaired(turns) == (turns, [])


def test_a_missing_result_is_where_its_call_was():
    turns, named = repaired([ASKED, AssistantTurn([ONE, TWO]), UserTurn([result("2", TWO), "and?"])])
    first, second, words = turns[2].contents
    assert (first.error, first.request, second.value, words.text) == (NEVER_CALLED, ONE, "2", "and?")
    assert named == ["a call without a result (f, 'a')"]


def test_results_are_in_the_order_of_the_calls_without_a_warning():
    turns, named = repaired(
        [ASKED, AssistantTurn([ONE, TWO]), UserTurn([result("2", TWO), result("1", ONE)])]
    )
    assert [each.value for each in turns[2].contents] == ["1", "2"]
    assert named == []


def test_an_answer_with_results_in_it_is_an_answer_before_and_one_after():
    answer = AssistantTurn(["look", ONE, result("1", ONE), "done"], tokens=Tokens(3, 4), cost=0.5)
    turns, named = repaired([ASKED, answer])
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert [turn.contents[-1] for turn in turns[1:]] == [ONE, answer.contents[2], ContentText("done")]
    assert [(turn.tokens.input, turn.cost) for turn in (turns[1], turns[3])] == [(3, 0.5), (0, 0.0)]
    assert named == ["a result in an answer"]


def test_the_media_of_a_result_without_its_call_follow_its_words():
    turns, _ = repaired([ASKED, AssistantTurn("ok"), UserTurn([result({"seen": PNG}, ONE)])])
    words, opening, image, closing = turns[2].contents
    assert words.text == '[The tool f returned:] {"seen":"[see below: seen]"}'
    assert (opening.text, image, closing.text) == (
        '<content tool-call-id="a" item="seen">',
        PNG,
        "</content>",
    )


def test_a_partial_answer_stays_one():
    broken = AssistantPartialTurn([ContentToolRequest("a", "get weather")], reason="timeout")
    turns, _ = repaired([ASKED, broken, UserTurn("so?")])
    assert (type(turns[1]), turns[1].reason) == (AssistantPartialTurn, "timeout")
    assert turns[1].tool_requests[0].name == turns[2].tool_results[0].request.name == "get_weather"


def test_a_source_keeps_its_words_in_each_place():
    source = ContentCitation("https://example.com", "A page", "It rains.")
    turns, named = repaired([SystemTurn(["s", source]), UserTurn([source]), AssistantTurn([source])])
    words = ContentText("[source]: A page <https://example.com>: It rains.")
    assert [turn.contents[-1] for turn in turns] == [words] * 3
    assert named == [
        "a ContentCitation in the system prompt",
        "a ContentCitation of the user",
        "a ContentCitation in an answer",
    ]


def test_an_id_is_new_even_if_another_call_has_the_new_one():
    calls = [ContentToolRequest(id, "f", {"n": n}) for n, id in enumerate(["a", "a_2", "a", "a"])]
    turns, _ = repaired(
        [ASKED, AssistantTurn(calls), UserTurn([result(n, call) for n, call in enumerate(calls)])]
    )
    ids = [request.id for request in turns[1].tool_requests]
    assert (ids, len({*ids})) == (["a", "a_2", "a_3", "a_4"], 4)
    assert [(each.id, each.value) for each in turns[2].tool_results] == list(zip(ids, range(4), strict=True))


def test_a_value_that_is_no_json_is_an_error_that_says_where():
    turns, named = repaired([ASKED, AssistantTurn([ONE]), UserTurn([result({"a": [float("nan")]}, ONE)])])
    assert "`value.a[0]` is float" in turns[2].contents[0].error
    assert named == ["the value of a result, which is not JSON, (f, 'a')"]
