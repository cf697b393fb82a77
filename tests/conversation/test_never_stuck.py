"""For any history, the next request is valid for the current model, or nothing is sent and the chat can continue."""

import json

import pytest

from ellmer_conformance.server import StrictServer
from ellmer_core import chat_openai
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation.history import REMOVED
from ellmer_core.errors import BadRequestError, ContentError, ContextWindowError, EllmerWarning, UsageError
from ellmer_core.providers.anthropic import chat_anthropic
from ellmer_core.providers.openai_compatible import OpenAICompatible, chat_openai_compatible
from ellmer_core.tools.results import flatten, result_text
from ellmer_core.wire.shared.endings_and_errors import error_of

PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
SVG = ContentImageInline("image/svg+xml", "PHN2Zy8+")


def answer(text="Hello.", **message):
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()


@pytest.fixture
def chat(server):
    with chat_openai_compatible(base_url=server.url, model="m", api_key="k", max_tries=1) as chat:
        yield chat


def test_what_cannot_be_sent_is_said_in_words_and_kept_in_the_history(server, reply, chat):
    chat.set_turns([UserTurn(["Look:", SVG, PNG]), AssistantTurn("I see.")])
    server.answers(reply([answer()]), reply([answer()]))
    with pytest.warns(EllmerWarning, match=r"m was not sent an image of the user \(image/svg") as caught:
        chat.chat("And now?")
    chat.chat("And then?")  # a warning would be an error here
    assert len(caught) == 1
    assert caught[0].filename == __file__
    said = server.asked[0].json["messages"][0]["content"]
    assert said[1]["text"] == "[The user gave an image here, which this model cannot be shown.]"
    assert said[2]["type"] == "image_url"
    assert chat.get_turns()[0].contents[1] is SVG


def test_a_new_input_that_cannot_be_sent_is_refused_and_the_chat_goes_on(server, reply, chat):
    server.answers(reply([answer()]))
    with pytest.raises(ContentError, match="svg"):
        chat.chat("Look:", SVG)
    assert chat.get_turns() == []
    assert chat.chat("Hi") == "Hello."


def test_an_image_by_url_from_a_tool_where_none_is_fetched(server, reply):
    from ellmer_core.providers.ollama import chat_ollama

    call = ContentToolRequest("a", "f", {})
    remote = ContentImageRemote("https://example.com/a.png")
    with chat_ollama(base_url=server.url, model="m") as chat:
        chat.set_turns([UserTurn("Draw"), AssistantTurn([call])])
        server.answers(reply([json.dumps({"message": {"content": "Ok"}, "done": True}).encode()]))
        with pytest.warns(EllmerWarning, match="https://example.com/a.png"):
            chat.chat(ContentToolResult(remote, request=call))
    assert "cannot be shown" in server.asked[0].json["messages"][2]["content"]


def test_malformed_arguments_go_back_as_an_empty_object():
    wire = OpenAICompatible(model="m")
    for raw, problem in (('{"a": ', "not JSON"), ("[1]", None), ('{"a": ', None)):
        bad = ContentToolRequest("a", "f", {}, raw=raw, problem=problem)
        assert wire.call(bad)["function"]["arguments"] == "{}"
    assert wire.call(ContentToolRequest("a", "f", {"a": 1}, raw='{"a":  1}'))["function"]["arguments"] == (
        '{"a":  1}'
    )


def test_a_dictionary_with_media_is_a_result_as_a_list_is():
    result = ContentToolResult({"caption": "a", "image": PNG}, request=ContentToolRequest("c", "f"))
    pointed, opening, image, closing = flatten([result])
    assert result_text(pointed) == '{"caption":"a","image":"[see below: image]"}'
    assert opening == ContentText('<content tool-call-id="c" item="image">')
    assert (image, closing) == (PNG, ContentText("</content>"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContentText(5),
        lambda: ContentImageInline("image/png", b"x"),
        lambda: ContentPDF("application/pdf", None),
        lambda: ContentThinking("hm", "extra"),
        lambda: ContentToolRequest(1, "f"),
    ],
)
def test_contents_check_their_fields_when_made(make):
    with pytest.raises(ContentError, match=r"is .*, not"):
        make()


def test_a_conversation_that_is_too_long_is_compacted_and_goes_on(server, reply, chat):
    rounds = [turn for n in range(4) for turn in (UserTurn(f"Question {n}"), AssistantTurn(f"Answer {n}"))]
    chat.set_turns([SystemTurn("Be brief."), *rounds])
    full = {
        "error": {
            "message": "This model's maximum context length is 9 tokens.",
            "code": "context_length_exceeded",
        }
    }
    server.answers(
        reply([json.dumps(full).encode()], status=400), reply([answer("In short.")]), reply([answer()])
    )
    with pytest.raises(ContextWindowError):
        chat.chat("More?")
    chat.compact(keep=1)
    assert "In short." in chat.get_turns()[0].text
    assert [turn.text for turn in chat.get_turns()[2:]] == ["Question 3", "Answer 3"]
    assert chat.get_system_prompt() == "Be brief."
    assert chat.chat("More?") == "Hello."
    assert "Question 0" in json.dumps(server.asked[1].json)
    assert "Question 0" not in json.dumps(server.asked[2].json)


def test_what_a_conversation_cost_stays_known_when_it_is_summarized():
    with StrictServer() as server:
        chat = chat_openai(model="gpt-4.1", base_url=f"{server.origin}/v1", api_key="any-key")
        for number in range(3):
            chat.chat(f"What is {number} + 1?")
        before = chat.get_cost()
        chat.compact(keep=1)

    assert chat.get_cost() > before  # that of the summary is added


def test_oldest_rounds_are_dropped_whole(chat):
    call = ContentToolRequest("a", "f", {})
    old = [UserTurn("1"), AssistantTurn([call]), UserTurn([ContentToolResult("x", request=call)])]
    chat.set_turns([*old, AssistantTurn("done"), UserTurn("2"), AssistantTurn("2!")])
    chat.compact(keep=1, how="drop")
    assert [turn.text for turn in chat.get_turns()] == ["2", "2!"]
    chat.compact(keep=5)  # nothing is older: nothing is asked
    assert len(chat.get_turns()) == 2
    with pytest.raises(UsageError, match="how="):
        chat.compact(how="magic")
    with pytest.raises(UsageError, match="keep="):
        chat.compact(keep=-1)


def test_only_the_long_results_of_older_rounds_are_removed(chat):
    def turns(value, **result):
        call = ContentToolRequest("a", "f", {})
        answer = ContentToolResult(value, request=call, **result)
        return [UserTurn("?"), AssistantTurn([call]), UserTurn([answer]), AssistantTurn("done")]

    image = ContentImageInline("image/png", "iVBORw0KGgo=")
    values = ["x" * 500, "short", [1, image], {"rows": [1] * 200}]
    long = "x" * 500
    chat.set_turns(
        [
            *(turn for value in values for turn in turns(value)),
            *turns(None, error=f"no {long}"),
            *turns(long),
        ]
    )
    before = len(chat.get_turns())
    chat.compact(keep=1, how="results")
    results = [turn.contents[0] for turn in chat.get_turns()[2::4]]
    assert [result.value for result in results] == [REMOVED, "short", REMOVED, REMOVED, None, long]
    assert long in results[4].error
    assert len(chat.get_turns()) == before


def test_a_hook_says_what_of_the_history_is_sent(server, reply, chat):
    chat.set_turns([UserTurn("1"), AssistantTurn("2")])
    remove = chat.on_history(lambda turns: turns[2:])
    server.answers(reply([answer()]), reply([answer()]))
    chat.chat("3")
    remove()
    chat.chat("4")
    assert [len(asked.json["messages"]) for asked in server.asked] == [1, 5]
    chat.on_history(lambda _turns: ["no turn"])
    with pytest.raises(UsageError, match="returns turns"):
        chat.chat("5")


def test_parameters_of_one_call(server, reply, chat):
    server.answers(reply([answer()]), reply([answer()]))
    chat.chat("1", params={"temperature": 0.5})
    chat.chat("2")
    assert [asked.json.get("temperature") for asked in server.asked] == [0.5, None]


def test_a_cache_that_there_is_not_is_an_error_at_once():
    with pytest.raises(UsageError, match="5min"):
        chat_anthropic(api_key="k", model="m", cache="5min")


def test_a_model_without_tools_is_told_of_calls_in_words():
    from ellmer_core.conversation.request import sendable_to

    call = ContentToolRequest("a", "f", {"x": 1})
    turns = [UserTurn("1"), AssistantTurn([call]), UserTurn([ContentToolResult("5", request=call)])]
    wire = chat_openai_compatible(
        base_url="http://x", model="m", profile={"tools": False, "system": False}
    ).wire
    sent = sendable_to(wire, [SystemTurn("Be brief."), *turns], range(len(turns) + 1), None, []).turns
    assert [turn.text for turn in sent] == [
        "Be brief.1",
        '[The tool f was called with {"x":1}.]',
        "[The tool returned:] 5",
    ]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "prompt is too long: 3333404 tokens > 200000 maximum"),
        (400, "Input is too long for requested model."),
        (400, "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "Please reduce the length of the messages or completion."),
        (500, "Context size has been exceeded."),
        (400, "too many tokens: size limit exceeded by 25836 tokens."),
    ],
)
def test_how_providers_say_that_it_is_too_long(status, text):
    assert isinstance(
        error_of(status, {}, json.dumps({"error": {"message": text}}).encode()), ContextWindowError
    )


def test_other_refusals_are_not_taken_for_it():
    for status, text in (
        (429, "This request would exceed the rate limit of 200,000 input tokens per minute."),
        (400, "`max_tokens` must be greater than `thinking.budget_tokens`."),
    ):
        error = error_of(status, {}, json.dumps({"error": {"message": text}}).encode())
        assert not isinstance(error, ContextWindowError)
    assert issubclass(ContextWindowError, BadRequestError)
