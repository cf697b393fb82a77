"""A walk through the tool calls of ellmer 0.3.0 (H. Baik, "Deep Dive into ellmer: Part 2"), sentence by sentence.

`moving.md` lists where this library differs.
"""

import inspect

import pytest

import ellmer_core as ec
from ellmer_core import (
    AssistantTurn,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    Options,
    ToolDef,
    TypeObject,
    UserTurn,
    chat_openai,
    create_tool_def,
    tool,
    type_integer,
    type_string,
)
from ellmer_core.testing import ScriptedModel, run_tool, tool_call

QUESTION = "How long ago did Neil Armstrong touch down on the moon?"
WORDS = 'Time zone to display the current time in. Defaults to `"UTC"`.'
NOW = "2025-09-12 02:03:03 UTC"
ANSWER = "Neil Armstrong touched down on the moon on July 20, 1969."
CALL = ContentToolRequest("call_0rAWkevHlh4ZXHdfQbob3Aw8", "get_current_time", {"tz": "UTC"})


def current_time(tz: str = "UTC") -> str:
    return f"2025-09-12 02:03:03 {tz}"


def the_tool() -> ToolDef:
    return tool(
        current_time,
        name="get_current_time",
        description="Returns the current time.",
        arguments={"tz": type_string(WORDS, required=False)},
    )


@pytest.fixture
def model():
    return ScriptedModel(CALL, ANSWER)


@pytest.fixture
def chat(model):
    chat = model.chat()
    chat.register_tool(the_tool())
    return chat


# --- the setup -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["google_gemini", "google_vertex", "anthropic", "claude", "openai", "ollama"]
)
def test_the_providers_that_it_names_have_a_function(name):
    assert callable(getattr(ec, f"chat_{name}"))


def test_a_chat_takes_the_arguments_of_the_page():
    assert next(iter(inspect.signature(chat_openai).parameters)) == "system_prompt"
    assert {"base_url", "api_key", "model", "params", "api_args", "api_headers", "echo"} <= set(
        Options.__annotations__
    )


def test_the_address_is_openais_or_that_of_the_environment(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert chat_openai(api_key="k", model="m").wire.base_url == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://example.com/v1")
    assert chat_openai(api_key="k", model="m").wire.base_url == "https://example.com/v1"


def test_the_key_is_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    assert chat_openai(model="m").wire.credentials() == "mine"


def test_a_chat_has_a_default_model_that_is_announced(capsys):
    chat = chat_openai(api_key="k")
    assert chat.get_model() in capsys.readouterr().err


def test_api_args_are_in_the_body_and_api_headers_in_the_headers():
    chat = chat_openai(api_key="k", model="m", api_args={"user": "me"}, api_headers={"x-team": "a"})
    request = chat.wire.request([UserTurn("Hi")])
    assert request.json["user"] == "me"
    assert request.headers["x-team"] == "a"


def test_params_are_sent():
    chat = chat_openai(api_key="k", model="gpt-4.1", params=ec.params(temperature=0.5))
    assert chat.wire.request([UserTurn("Hi")]).json["temperature"] == 0.5


def test_echo_is_checked():
    with pytest.raises(ec.UsageError, match="echo"):
        chat_openai(api_key="k", model="m", echo="loud")


# --- a tool ----------------------------------------------------------------------------------------------


def test_a_tool_has_a_name_a_description_and_a_list_of_arguments():
    made = the_tool()
    assert (made.name, made.description) == ("get_current_time", "Returns the current time.")
    assert made.arguments == TypeObject(None, True, {"tz": type_string(WORDS, required=False)}, False)


def test_a_tool_converts_its_arguments_and_has_no_annotations_by_default():
    assert the_tool().convert is True
    assert not the_tool().annotations


def test_a_tool_is_still_a_function():
    assert the_tool()(tz="CET") == "2025-09-12 02:03:03 CET"
    assert the_tool()() == NOW


def test_a_model_can_write_the_call_of_tool():
    writer = ScriptedModel("```python\ntool(current_time, description='Tells the time.')\n```").chat()
    assert create_tool_def(current_time, writer).startswith("tool(current_time")


def test_a_chat_finds_a_tool_by_its_name(chat):
    assert chat.get_tools() == {"get_current_time": the_tool()}
    assert list(chat.get_tools()) == ["get_current_time"]


def test_the_model_gets_name_description_arguments_and_their_types():
    function = (
        chat_openai(api_key="k", model="gpt-4.1")
        .wire.request([UserTurn("Hi")], [the_tool()])
        .json["tools"][0]
    )
    assert (function["name"], function["description"]) == ("get_current_time", "Returns the current time.")
    assert function["parameters"]["properties"]["tz"]["description"] == WORDS


# --- the conversation ------------------------------------------------------------------------------------


def test_the_conversation_has_four_turns(chat):
    assert chat.chat(QUESTION) == ANSWER
    asked, called, answered, said = chat.get_turns()
    assert asked == UserTurn(QUESTION)
    assert [(c.id, c.name, c.arguments) for c in called.contents] == [(CALL.id, CALL.name, CALL.arguments)]
    assert answered.contents[0].value == NOW
    assert said.text == ANSWER


def test_the_roles_alternate(chat):
    chat.chat(QUESTION)
    assert [turn.role for turn in chat.get_turns()] == ["user", "assistant", "user", "assistant"]


def test_the_turns_are_printed_as_on_the_page(chat):
    chat.chat(QUESTION)
    assert [str(turn) for turn in chat.get_turns()] == [
        f"<Turn: user>\n{QUESTION}",
        '<Turn: assistant>\n[tool request (call_0rAWkevHlh4ZXHdfQbob3Aw8)]: get_current_time(tz = "UTC")',
        f"<Turn: user>\n[tool result  (call_0rAWkevHlh4ZXHdfQbob3Aw8)]: {NOW}",
        f"<Turn: assistant>\n{ANSWER}",
    ]


def test_the_last_turn_is_the_answer(chat):
    chat.chat(QUESTION)
    assert chat.last_turn().text == ANSWER
    assert isinstance(chat.last_turn("user").contents[0], ContentToolResult)


def test_the_model_reads_the_result_before_it_answers(chat, model):
    chat.chat(QUESTION)
    assert model.asked[1].results == [NOW]


def test_the_tools_are_sent_with_each_request(chat, model):
    chat.chat(QUESTION)
    assert [asked.tools for asked in model.asked] == [["get_current_time"]] * 2


def test_the_loop_goes_on_until_no_tool_is_asked_for():
    chat = ScriptedModel(*[tool_call("get_current_time")] * 5, ANSWER).chat()
    chat.register_tool(the_tool())
    assert chat.chat(QUESTION) == ANSWER
    assert len(chat.get_turns()) == 12


def test_an_answer_without_a_call_ends_at_once():
    chat = ScriptedModel("Hi").chat()
    chat.register_tool(the_tool())
    assert chat.chat("Hi") == "Hi"
    assert len(chat.get_turns()) == 2


def test_a_request_for_data_may_be_made_of_a_chat_with_tools():
    """In ellmer it gets no tools. Here it does, and data are asked for in the last answer."""
    chat = ScriptedModel(CALL, {"year": 1969}).chat()
    chat.register_tool(the_tool())
    assert chat.chat_structured("When?", type=ec.type_object(year=type_integer())) == {"year": 1969}


@pytest.mark.parametrize("content", ["text", "all"])
def test_a_streamed_call_is_merged_from_its_pieces(chat, content):
    list(chat.stream(QUESTION, content=content))
    (request,) = chat.get_turns()[1].contents
    assert (request.id, request.name, request.arguments) == (CALL.id, CALL.name, CALL.arguments)


def test_the_text_of_a_stream_is_the_answer(chat):
    assert "".join(chat.stream(QUESTION)) == ANSWER


# --- a call ----------------------------------------------------------------------------------------------


def test_a_request_has_id_name_arguments_and_its_tool(chat):
    chat.chat(QUESTION)
    request = chat.get_turns()[1].contents[0]
    assert (request.id, request.name, request.arguments) == (CALL.id, "get_current_time", {"tz": "UTC"})
    assert request.tool == the_tool()


def test_a_result_has_value_error_extra_and_its_request(chat):
    chat.chat(QUESTION)
    result = chat.get_turns()[2].contents[0]
    assert (result.value, result.error, result.extra) == (NOW, None, {})
    assert result.request == chat.get_turns()[1].contents[0]


def test_all_requests_of_an_answer_are_run():
    chat = ScriptedModel([tool_call("get_current_time", tz=tz) for tz in ("UTC", "CET")], ANSWER).chat()
    chat.register_tool(the_tool())
    chat.chat(QUESTION)
    assert [r.value[-3:] for r in chat.get_turns()[2].contents] == ["UTC", "CET"]


def test_an_unknown_tool_is_an_error_for_the_model():
    model = ScriptedModel(tool_call("get_time"), ANSWER)
    chat = model.chat()
    chat.register_tool(the_tool())
    assert chat.chat(QUESTION) == ANSWER
    assert "Unknown tool" in chat.get_turns()[2].contents[0].error
    assert "Unknown tool" in model.asked[1].results[0]


def test_arguments_that_cannot_be_converted_are_an_error_and_the_function_is_not_called():
    called = []
    counted = tool(called.append, name="count", description="Counts.", arguments={"object": type_integer()})
    assert "invalid" in str(run_tool(counted, {"object": "many"}).error)
    assert called == []


def test_what_a_tool_raises_is_an_error_with_the_exception():
    def fail() -> None:
        """Fails."""
        raise LookupError("no such zone")

    model = ScriptedModel(tool_call("fail"), ANSWER)
    chat = model.chat()
    chat.register_tool(fail)
    assert chat.chat(QUESTION) == ANSWER
    assert isinstance(chat.get_turns()[2].contents[0].error, LookupError)
    assert "no such zone" in model.asked[1].results[0]


def test_the_default_of_the_function_is_used():
    assert run_tool(the_tool(), {}).value == NOW


def test_the_callbacks_get_request_and_result(chat):
    heard = []
    chat.on_tool_request(heard.append)
    chat.on_tool_result(heard.append)
    chat.chat(QUESTION)
    assert heard == [chat.get_turns()[1].contents[0], chat.get_turns()[2].contents[0]]


def test_the_request_is_heard_of_before_the_call_and_the_result_after_it():
    order = []
    chat = ScriptedModel(tool_call("work"), "Done").chat()

    def work() -> str:
        """Works."""
        order.append("call")
        return "ok"

    chat.register_tool(work)
    chat.on_tool_request(lambda _request: order.append("request"))
    chat.on_tool_result(lambda _result: order.append("result"))
    chat.chat("Go")
    assert order == ["request", "call", "result"]


def test_a_stream_of_everything_has_the_request_the_result_and_the_answer(chat):
    kinds = [type(content) for content in chat.stream(QUESTION, content="all")]
    assert kinds[:2] == [ContentToolRequest, ContentToolResult]
    assert set(kinds[2:]) == {ContentText}


def test_the_results_are_one_turn_of_the_user(chat):
    chat.chat(QUESTION)
    turn = chat.get_turns()[2]
    assert isinstance(turn, UserTurn)
    assert turn.tool_results == turn.contents


def test_the_answer_is_an_assistant_turn(chat):
    chat.chat(QUESTION)
    assert isinstance(chat.last_turn(), AssistantTurn)


def test_the_repr_names_every_field():
    result = ContentToolResult(NOW, request=CALL)
    for field in ("value=", NOW, "request=", "id=", CALL.id, "name=", "arguments=", "tz"):
        assert field in repr(result)


def test_callbacks_are_called_in_the_order_in_which_they_were_registered(chat):
    """ellmer and chatlas call the last one first; see `moving.md`."""
    heard = []
    for number in (1, 2):
        chat.on_tool_request(lambda _request, number=number: heard.append(f"request {number}"))
        chat.on_tool_result(lambda _result, number=number: heard.append(f"result {number}"))
    chat.chat(QUESTION)
    assert heard == ["request 1", "request 2", "result 1", "result 2"]


# --- what differs, as `moving.md` says -------------------------------------------------------------------


def test_a_description_that_is_not_given_is_not_sent():
    bare = tool(
        current_time, name="now", description="Tells the time.", arguments={"tz": type_string(required=False)}
    )
    sent = chat_openai(api_key="k", model="gpt-4.1").wire.request([UserTurn("Hi")], [bare]).json["tools"][0]
    assert "description" not in sent["parameters"]
    assert "description" not in sent["parameters"]["properties"]["tz"]


def test_ollama_counts_no_tokens_before_a_request():
    with pytest.raises(ec.UsageError, match="Ollama cannot count tokens before a request"):
        ec.chat_ollama(model="m", echo="none").token_count("Hi")


def test_credentials_return_one_key():
    keys = iter(["first", "second"])
    chat = chat_openai(model="m", credentials=lambda: next(keys))
    assert chat.wire.request([UserTurn("Hi")]).headers["authorization"] == "Bearer first"
    assert chat.wire.request([UserTurn("Hi")]).headers["authorization"] == "Bearer second"
    with pytest.raises(ec.UsageError, match="returned a value of type dict"):
        chat_openai(model="m", credentials=lambda: {"x-key": "k"}).wire.request([UserTurn("Hi")])
