"""`Chat` and its constructors, as a user meets them. The provider is a real server, or none is needed."""

import asyncio
import json
import pickle
from copy import copy, deepcopy
from dataclasses import dataclass
from threading import Thread

import pytest

from ellmer_core._chat.chat import Chat
from ellmer_core.contents.content import ContentImageInline, ContentText, ContentThinking
from ellmer_core.contents.json_records import contents_record
from ellmer_core.contents.tool_calls import ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, Tokens, UserTurn
from ellmer_core.conversation.history import History
from ellmer_core.errors import (
    ConversionError,
    EllmerWarning,
    IncompleteResponseError,
    ServerError,
    UsageError,
)
from ellmer_core.models import prices
from ellmer_core.providers._construction import chat as chat_by_name
from ellmer_core.providers.deepseek import chat_deepseek
from ellmer_core.providers.google_gemini import chat_google_gemini
from ellmer_core.providers.openai import chat_openai
from ellmer_core.providers.openai_compatible import OpenAICompatible, chat_openai_compatible
from ellmer_core.schemas.types import type_array, type_from_schema, type_integer, type_object, type_string
from ellmer_core.tools.definition import tool
from ellmer_core.transport.connections import Timeouts

SSE = {"content-type": "text/event-stream"}


def answer(text="Hello.", finish="stop", usage=None, **message):
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def calls(*ids):
    made = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return answer(None, "tool_calls", tool_calls=made)


def streamed(*deltas, finish="stop"):
    events = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [b"data: " + json.dumps(e).encode() + b"\n\n" for e in events] + [b"data: [DONE]\n\n"]


@pytest.fixture
def make(server):
    made = []

    def make(*args, vendor=chat_openai_compatible, **options):
        options = {"base_url": server.url, "model": "m", "api_key": "k", "max_tries": 1, **options}
        made.append(vendor(*args, **options))
        return made[-1]

    yield make
    for chat in made:
        chat.close()


def f():
    """Does it."""
    return "done"


# Talking ----------------------------------------------------------------------------------------------------


def test_a_chat_remembers(server, reply, make):
    server.answers(*[reply([answer()])] * 2)
    chat = make("Be terse.")
    assert chat.chat("Hi", "there") == "Hello."
    assert type(chat.chat("Again")) is str
    roles = [message["role"] for message in server.asked[1].json["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert server.asked[0].json["messages"][1]["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "text", "text": "there"},
    ]


@pytest.mark.parametrize("wrong", [1, None, ["Hi"], b"Hi", UserTurn("Hi")])
def test_wrong_inputs_are_named_at_once(make, wrong):
    chat = make()
    for say in (chat.chat, chat.stream, chat.stream_async):
        with pytest.raises(UsageError, match=type(wrong).__name__):
            say("Hi", wrong)
    with pytest.raises(UsageError, match="nothing to send"):
        chat.chat()


def test_a_stream_of_everything(server, reply, make):
    chat = make()
    chat.register_tool(f)
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    first = streamed(
        {"reasoning_content": "Hm."}, {"content": "Let me look."}, {"tool_calls": [call]}, finish="tool_calls"
    )
    second = streamed({"content": "It is "}, {"content": "done."})
    server.answers(*[reply(body, headers=SSE) for body in (first, second) * 2])

    everything = list(chat.stream("Hi", content="all"))
    text = list(chat.stream("Hi"))

    request = ContentToolRequest("a", "f", raw="{}")
    assert everything == [
        ContentThinking("Hm."),
        ContentText("Let me look."),
        request,
        ContentToolResult("done", request=request),
        ContentText("It is "),
        ContentText("done."),
    ]
    assert text == ["Let me look.", "It is ", "done."]


class Request(ContentToolRequest):
    title = "Just does it"


def test_a_tools_own_class_of_requests_is_what_callbacks_and_streams_see(server, reply, make):
    server.answers(reply([calls("a")]), reply([answer()]))
    chat, heard = make(), []
    chat.register_tool(tool(f, request=Request))
    chat.on_tool_request(heard.append)
    seen = list(chat.stream("Hi", content="all"))
    assert [type(content) for content in seen[:2]] == [Request, ContentToolResult]
    assert heard == [seen[0]] == [seen[1].request] == [*chat.get_turns()[1].contents]


def test_a_stream_sends_nothing_until_it_is_read(server, make):
    chat = make()
    chat.stream("Hi")
    chat.stream_async("Hi")
    assert server.asked == []
    assert chat.get_turns() == []


def test_wrong_options_say_what_is_right(make):
    chat = make()
    for call, words in (
        (lambda: chat.stream("Hi", content="some"), '"text" or "all"'),
        (lambda: chat.stream_async("Hi", content="some"), '"text" or "all"'),
        (lambda: chat.chat("Hi", echo="loud"), '"none", "output" or "all"'),
        (lambda: chat.chat("Hi", tool_mode="both"), '"sequential" or "concurrent"'),
        (lambda: chat.stream("Hi", controller=1), "StreamController"),
        (lambda: chat.set_turns(["Hi"]), "UserTurn"),
        (lambda: chat.set_system_prompt(1), "string"),
        (lambda: chat.on_tool_request("f"), "function"),
    ):
        with pytest.raises(UsageError, match=words):
            call()


def test_a_chat_is_entered_once(server, reply, make):
    chat = make()
    server.answers(
        *[reply(streamed({"content": "One"}, {"content": "two"}), headers=SSE)] * 2, reply([answer()])
    )
    stream = chat.stream("Hi")
    next(stream)
    for call in (lambda: chat.chat("And"), lambda: next(chat.stream("And")), lambda: chat.set_turns([])):
        with pytest.raises(UsageError, match=r"fork|answered"):
            call()
    assert chat.get_turns()[0] == UserTurn("Hi")
    stream.close()

    async def run():
        stream = chat.stream_async("Hi")
        await anext(stream)
        with pytest.raises(UsageError, match="fork"):
            await chat.chat_async("And")
        await stream.aclose()

    asyncio.run(run())
    assert chat.chat("Now") == "Hello."


def test_a_tool_that_talks_to_its_own_chat_is_told(server, reply, make):
    chat = make()
    chat.register_tool(_tool(lambda: chat.chat("Hi"), "f"))
    server.answers(reply([calls("a")]), reply([answer()]))
    chat.chat("Hi")
    assert "fork" in server.asked[1].json["messages"][-1]["content"]


def _tool(function, name):

    return tool(function, "Does it.", name=name)


def test_an_answer_that_was_cut_at_the_limit_is_a_warning(server, reply, make):
    server.answers(*[reply([answer("Once upon", "length")])] * 2, reply([answer("", "content_filter")]))
    chat = make()
    with pytest.warns(EllmerWarning, match="max_tokens") as caught:
        assert chat.chat("A story") == "Once upon"
    assert caught[0].filename == __file__
    with pytest.warns(EllmerWarning, match="max_tokens") as caught:
        asyncio.run(chat.chat_async("A story"))
    with pytest.warns(EllmerWarning, match="content filter"):
        chat.chat("A story")


# Structured output ------------------------------------------------------------------------------------------


@dataclass
class Book:
    title: str
    pages: int


def test_structured_data(server, reply, make):
    chat = make()
    server.answers(*[reply([answer('{"title": "It", "pages": 1138}')])] * 4)
    kind = type_object("A book.", title=type_string(), pages=type_integer())
    assert chat.chat_structured("Which?", type=kind) == {"title": "It", "pages": 1138}
    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
    assert chat.chat_structured("Which?", type=Book, convert=False) == {"title": "It", "pages": 1138}
    assert asyncio.run(chat.chat_structured_async("Which?", type=Book)) == Book("It", 1138)
    schema = server.asked[0].json["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["title", "pages"]


def test_structured_data_that_is_no_object_travels_in_one(server, reply, make):
    chat = make()
    server.answers(reply([answer('{"wrapper": [1, 2]}')]), reply([answer('```json\n{"wrapper": "x"}\n```')]))
    assert chat.chat_structured("Which?", type=type_array(items=type_integer())) == [1, 2]
    assert chat.chat_structured("Which?", type=str) == "x"
    assert list(server.asked[0].json["response_format"]["json_schema"]["schema"]["properties"]) == ["wrapper"]


def test_a_schema_of_the_callers_is_sent_as_it_is(server, reply, make):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    server.answers(reply([answer('{"a": 1}')]), reply([answer("[1]")]))
    assert make().chat_structured("Which?", type=type_from_schema(json.dumps(schema))) == {"a": 1}
    assert (
        server.asked[0].json["response_format"]["json_schema"]["schema"]["properties"] == schema["properties"]
    )
    with pytest.raises(ConversionError, match="wrapper"):
        make().chat_structured("Which?", type=int)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sorry", "not JSON"),
        ('{"title": "It"}', "pages"),
        ('{"title": "It", "pages": "many"}', "pages"),
    ],
)
def test_structured_data_of_another_shape_is_an_error(server, reply, make, text, words):
    server.answers(reply([answer(text)]))
    with pytest.raises(ConversionError, match=words):
        make().chat_structured("Which?", type=Book)


def test_structured_data_that_was_cut_is_an_error(server, reply, make):
    server.answers(reply([answer('{"title": "I', "length")]))
    chat = make()
    with pytest.raises(IncompleteResponseError, match="max_tokens"):
        chat.chat_structured("Which?", type=Book)
    assert chat.get_turns() == []


def test_what_is_said_before_the_data_is_not_part_of_them(server, reply, make):
    said = [
        {"type": "text", "text": "I look."},
        {"type": "odd"},
        {"type": "text", "text": '{"title": "It", "pages": 1}'},
    ]
    server.answers(reply([answer(said)]))
    assert make().chat_structured("Which?", type=Book) == Book("It", 1)


def test_gemini_before_3_gives_data_by_a_call_where_there_are_tools(server, reply):
    """`Function calling with a response mime type: 'application/json' is unsupported`"""

    def say(*parts):
        return reply(
            [json.dumps({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}).encode()]
        )

    def call(name, **args):
        return {"functionCall": {"name": name, "args": args}}

    data = call("give_structured_data", title="It", pages=1138)
    server.answers(say(call("f")), say({"text": "So."}, data), say({"text": '{"title": "Oz", "pages": 1}'}))
    chat = chat_google_gemini(base_url=server.url, api_key="k", model="gemini-2.5-flash", echo="none")
    chat.register_tool(f)

    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
    assert chat.last_turn("assistant").finish_reason == "success"
    chat.set_tools([])
    assert chat.chat_structured("And?", type=Book) == Book("Oz", 1)

    first, second, third = (asked.json for asked in server.asked)
    names = [one["name"] for one in first["tools"][0]["functionDeclarations"]]
    assert names == ["f", "give_structured_data"]
    assert first["toolConfig"] == second["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert "generationConfig" not in first
    assert third["generationConfig"]["responseMimeType"] == "application/json"
    assert third["contents"][3] == {
        "role": "model",
        "parts": [{"text": "So."}, {"text": '{"title":"It","pages":1138}'}],
    }


def test_structured_data_with_tools(server, reply, make):
    chat = make()
    chat.register_tool(f)
    server.answers(reply([calls("a")]), reply([answer('{"title": "It", "pages": 1138}')]))
    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)


# Turns ------------------------------------------------------------------------------------------------------

TURNS = [UserTurn("q"), AssistantTurn("a")]


def test_turns_can_be_set_and_added(make):
    chat = make("Be terse.")
    chat.set_turns(TURNS)
    assert chat.get_turns() == TURNS
    assert chat.get_turns(include_system_prompt=True) == [SystemTurn("Be terse."), *TURNS]
    chat.set_turns([SystemTurn("Be kind."), *TURNS])
    assert chat.get_system_prompt() == "Be kind."
    chat.add_turn(UserTurn("more"))
    assert chat.get_turns() == [*TURNS, UserTurn("more")]
    chat.set_system_prompt(None)
    assert chat.get_system_prompt() is None
    assert chat.get_turns(include_system_prompt=True) == [*TURNS, UserTurn("more")]
    chat.set_turns([])
    assert chat.get_turns() == []


def test_a_chat_is_asked_in_words_it_knows(make):
    chat = make("s")
    for ask, words in (
        (lambda: chat.set_turns([UserTurn("Hi"), SystemTurn("t")]), "the first turn or none"),
        (lambda: chat.add_turn(SystemTurn("t")), "the first turn or none"),
        (lambda: chat.last_turn("model"), "'model'"),
        (lambda: chat.get_cost("total"), "'total'"),
        (lambda: chat.set_model(None), "by its name, not None"),
    ):
        with pytest.raises(UsageError, match=words):
            ask()
    assert (chat.get_turns(), chat.get_system_prompt(), chat.get_model()) == ([], "s", "m")


def test_turns_set_before_a_stream_is_read_are_sent(server, reply, make):
    chat = make()
    server.answers(reply(streamed({"content": "ok"}), headers=SSE))
    stream = chat.stream("Hi")
    chat.set_turns(TURNS)
    list(stream)
    assert len(server.asked[0].json["messages"]) == 3
    assert len(chat.get_turns()) == 4


def test_the_last_turn_goes_by_role(make):
    chat = make("s")
    assert chat.last_turn("user") is None
    chat.set_turns([*TURNS, UserTurn("more")])
    assert chat.last_turn() == UserTurn("more")
    assert chat.last_turn("assistant") == AssistantTurn("a")
    assert chat.last_turn("system") == SystemTurn("s")


def test_after_a_failed_follow_up_the_last_turn_is_the_request(server, reply, make):
    chat = make()
    ran = []
    chat.register_tool(_tool(lambda: ran.append(1), "f"))
    server.answers(reply([calls("a")]), reply(status=500), reply([answer()]))
    with pytest.raises(ServerError):
        chat.chat("Hi")
    assert chat.last_turn().tool_requests[0].id == "a"
    fork, other = chat.fork(), chat.fork()
    other.add_turn(AssistantTurn("It is done."))
    assert other.get_turns()[2].tool_results[0].id == "a"
    assert fork.chat("And?") == "Hello."
    assert ran == [1]
    assert [m["role"] for m in server.asked[2].json["messages"]][-2:] == ["tool", "user"]


def test_a_saved_chat_goes_on_with_the_same_request(server, reply, make):
    chat = make("s", api_key="secret")
    ran = []
    chat.register_tool(_tool(lambda: ran.append(1) or [IMAGE, 1.5], "f"))
    server.answers(reply([answer()]), reply([calls("a")]), reply(status=500), *[reply([answer()])] * 2)
    chat.chat("Hi")
    with pytest.raises(ServerError):
        chat.chat("Draw")
    saved = json.loads(json.dumps(chat.record()))

    other = make(model="other")
    other.register_tools(chat.get_tools().values())
    other.restore(saved)
    for one in (chat, other):
        one.chat("Go on")

    assert server.asked[-1].body == server.asked[-2].body
    assert ran == [1]
    assert "secret" not in json.dumps(saved)
    assert other.get_turns()[3].tool_requests[0].tool is chat.get_tools()["f"]
    elsewhere = make(vendor=chat_deepseek, model="d")
    elsewhere.restore(saved)
    assert elsewhere.get_model() == "d"
    assert len(elsewhere.get_turns()) == 4


def saved_chat(**props):
    props = {"vendor": "v", "model": "m", "turns": [], "results": {}, **props}
    if isinstance(props["turns"], list):
        props["turns"] = contents_record(props["turns"])
    if isinstance(props["results"], dict):
        props["results"] = {place: contents_record(one) for place, one in props["results"].items()}
    return {"version": 1, "class": "Chat", "props": props}


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ({"version": 2, "class": "Chat", "props": {}}, "version 2"),
        ([], "no saved chat"),
        ({"version": 1, "class": "Chat", "props": {"turns": []}}, "lacks model, results, vendor"),
        (saved_chat(turns={}), "`turns` is a list"),
        (saved_chat(results=[]), "`results` an object"),
        (saved_chat(model=1), "the rest text"),
        (saved_chat(turns=[ContentText("x")]), r"turns\[0\] is ContentText, not a Turn"),
        (saved_chat(results={"0": ContentText("x")}), "results.0 is ContentText, not a ContentToolResult"),
        (saved_chat(results={"0": ContentToolResult("x")}), "no open tool request for results.0"),
    ],
)
def test_what_is_no_saved_chat_is_refused(make, saved, words):
    chat = make()
    chat.set_turns(TURNS)
    with pytest.raises(UsageError, match=words):
        chat.restore(saved)
    assert chat.get_turns() == TURNS


def test_a_fork_goes_its_own_way(server, reply, make):
    server.answers(*[reply([answer()])] * 3)
    chat = make("s")
    chat.register_tool(f)
    chat.chat("Hi")
    other = chat.fork()
    other.chat("There")
    other.set_tools([])
    other.set_model("n")
    chat.chat("Here")
    assert [len(asked.json["messages"]) for asked in server.asked] == [2, 4, 4]
    assert [asked.json["model"] for asked in server.asked] == ["m", "m", "m"]
    assert list(chat.get_tools()) == ["f"]
    assert (chat.get_model(), other.get_model()) == ("m", "n")


# Tools ------------------------------------------------------------------------------------------------------


def test_a_copy_is_a_fork_and_a_pickle_is_refused(server, reply, make):
    server.answers(*[reply([answer()])] * 3)
    chat = make("s")
    chat.chat("Hi")
    for other in (copy(chat), deepcopy(chat)):
        other.chat("Elsewhere")
        assert len(other.get_turns()) == 4
    assert len(chat.get_turns()) == 2
    with pytest.raises(UsageError, match="contents_record"):
        pickle.dumps(chat)


def test_a_fork_is_of_one_moment():
    one, two = ContentToolRequest("a", "f"), ContentToolRequest("b", "g")

    class Turns(list):
        def __iter__(self):
            if committing.ident is None:  # while it is copied, another thread goes on
                committing.start()
                committing.join(0.05)
            return super().__iter__()

    turns, results = [UserTurn("Hi"), AssistantTurn(one)], {0: ContentToolResult(1, request=one)}
    history = History(Turns(turns), results)
    user = History(turns, results).reply(())
    committing = Thread(target=history.commit, args=[user, AssistantTurn(two)])
    copy = history.copy()
    committing.join()
    assert (copy.turns, copy.results) == (turns, results)
    assert len(history.turns) == 4


def test_nothing_to_say_is_not_sent(make):
    chat = make("s")
    for nothing in ((), ("",), ("", ContentText(""))):
        with pytest.raises(UsageError, match="nothing to send"):
            chat.chat(*nothing)
    assert chat.get_turns() == []


def test_tools_are_registered_replaced_and_listed(make):
    chat = make()
    registered = chat.register_tool(f)
    assert chat.get_tools() == {"f": registered}
    chat.register_tools([_tool(f, "f"), _tool(f, "g")])
    assert list(chat.get_tools()) == ["f", "g"]
    chat.set_tools([_tool(f, "h")])
    assert list(chat.get_tools()) == ["h"]
    with pytest.raises(UsageError):
        chat.set_tools([f, "no tool"])
    assert list(chat.get_tools()) == ["h"]


def test_several_tools_are_registered_or_none(make):
    chat = make()
    for register in (chat.register_tools, chat.set_tools):
        with pytest.raises(UsageError, match="is a function, not 3"):
            register([f, 3])
    assert chat.get_tools() == {}


def test_callbacks_can_be_removed(server, reply, make):
    chat, seen = make(), []
    chat.register_tool(f)
    remove = chat.on_tool_request(lambda request: seen.append(request.name))
    chat.on_tool_result(lambda result: seen.append(result.value))
    server.answers(*[reply([calls("a")]), reply([answer()])] * 2)
    chat.chat("Hi")
    remove()
    remove()
    chat.chat("Hi")
    assert seen == ["f", "done", "done"]


def test_a_callback_that_is_registered_twice_is_removed_one_by_one(server, reply, make):
    chat, seen = make(), []
    chat.register_tool(f)
    first, second = chat.on_tool_result(seen.append), chat.on_tool_result(seen.append)
    first()
    first()
    server.answers(*[reply([calls("a")]), reply([answer()])] * 2)
    chat.chat("Hi")
    assert len(seen) == 1
    second()
    chat.chat("Hi")
    assert len(seen) == 1


# Tokens and cost --------------------------------------------------------------------------------------------


def test_tokens_and_cost(server, reply, make, monkeypatch):
    monkeypatch.setattr(prices, "_used", {})
    chat = make(vendor=chat_openai, model="gpt-4.1")
    body = {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}],
        "usage": {"input_tokens": 1000, "output_tokens": 100, "input_tokens_details": {"cached_tokens": 400}},
    }
    server.answers(*[reply([json.dumps(body).encode()])] * 2)
    chat.chat("Hi")
    chat.chat("Again")
    one = (600 * 2.0 + 400 * 0.5 + 100 * 8.0) / 1e6
    assert chat.get_cost("last") == pytest.approx(one)
    assert chat.get_cost() == pytest.approx(2 * one)
    assert chat.get_tokens()[1] == {
        "input": 1000,
        "output": 100,
        "cached": 400,
        "cache_write": None,
        "reasoning": None,
        "cost": pytest.approx(one),
        "preview": "Again",
    }
    [row] = prices.token_usage()
    assert (row["vendor"], row["model"], row["input"], row["cost"]) == (
        "OpenAI",
        "gpt-4.1",
        2000,
        pytest.approx(2 * one),
    )


def test_what_nobody_knows_is_none(server, reply, make, monkeypatch):
    monkeypatch.setattr(prices, "_used", {})
    chat = make()
    server.answers(reply([answer()]), reply([answer(usage={"prompt_tokens": 1, "completion_tokens": 2})]))
    assert chat.get_cost() == 0
    chat.chat("Hi")
    chat.chat("Hi")
    assert chat.get_cost() is None
    assert [row["input"] for row in chat.get_tokens()] == [None, 1]
    assert prices.token_usage()[0]["cost"] is None


def test_partial_turns_have_no_row(make):
    from ellmer_core.contents.turns import AssistantPartialTurn

    chat = make()
    chat.set_turns(
        [UserTurn("a"), AssistantPartialTurn("b"), UserTurn("c"), AssistantTurn("d", tokens=Tokens(1, 2))]
    )
    assert [row["preview"] for row in chat.get_tokens()] == ["c"]


# Constructors -----------------------------------------------------------------------------------------------

VENDORS = {
    "openai": ("OpenAI", "gpt-5.6-terra", "OPENAI_API_KEY", "api.openai.com/v1/responses"),
    "openai_completions": ("OpenAI", "gpt-4.1", "OPENAI_API_KEY", "api.openai.com/v1/chat/completions"),
    "anthropic": ("Anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY", "api.anthropic.com/v1/messages"),
    "google_gemini": (
        "Google/Gemini",
        "gemini-3.5-flash",
        "GOOGLE_API_KEY",
        "generativelanguage.googleapis.com/v1beta/models/gemini-3.5-flash:generateContent",
    ),
    "deepseek": ("DeepSeek", "deepseek-v4-flash", "DEEPSEEK_API_KEY", "api.deepseek.com/chat/completions"),
}
KEYS = {variable for _, _, variable, _ in VENDORS.values()} | {"GEMINI_API_KEY"}


@pytest.fixture
def keys(monkeypatch):
    """A different key for every vendor."""
    for variable in KEYS:
        monkeypatch.setenv(variable, f"key-of-{variable}")
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch


@pytest.mark.parametrize("name", VENDORS)
def test_vendors_by_name(keys, capsys, name):
    vendor, model, variable, url = VENDORS[name]
    chat = chat_by_name(name)
    assert capsys.readouterr().err == f'Using model = "{model}".\n'
    assert repr(chat).startswith(f"<Chat {vendor}/{model} turns=0")
    request = chat.wire.request([UserTurn("Hi")])
    assert request.url == f"https://{url}"
    sent = [value for value in request.headers.values() if "key-of-" in value]
    assert [value.split("-")[-1] for value in sent] == [variable]
    assert chat_by_name(f"{name}/some/model").get_model() == "some/model"
    assert capsys.readouterr().err == ""
    for key in KEYS:
        keys.delenv(key)
    with pytest.raises(UsageError, match=variable):
        chat_by_name(name)


def test_a_second_variable_will_do(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "second")
    request = chat_by_name("google_gemini/g").wire.request([UserTurn("Hi")])
    assert "second" in request.headers.values()


def test_an_unknown_vendor_lists_the_known_ones():
    with pytest.raises(UsageError, match=r"'susan'.*anthropic, .*openai, openai_compatible"):
        chat_by_name("susan/m")
    with pytest.raises(UsageError, match="no provider"):
        chat_by_name("__init__")


def test_vendors_of_other_packages_are_found(tmp_path, monkeypatch):
    info = tmp_path / "acme-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[ellmer_core.providers]\nacme = acme_for_ellmer:chat_acme\n")
    (tmp_path / "acme_for_ellmer.py").write_text(
        "from ellmer_core.providers.openai_compatible import chat_openai_compatible as chat_acme\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    chat = chat_by_name("acme/m", base_url="http://localhost:1")
    assert chat.get_model() == "m"
    with pytest.raises(UsageError, match="acme"):
        chat_by_name("susan")


def test_options_reach_the_request(keys):
    chat = chat_by_name(
        "openai_completions/m",
        "Be terse.",
        params={"temperature": 0.5, "max_tokens": 7},
        api_args={"service_tier": "flex", "max_completion_tokens": 8},
        api_headers={"x-team": "a"},
        base_url="http://localhost:1/v1/",
        api_key=" key ",
        echo="none",
        timeout=3,
        max_tries=5,
        max_tool_rounds=2,
    )
    request = chat.wire.request([UserTurn("Hi")])
    assert request.url == "http://localhost:1/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key"
    assert request.headers["x-team"] == "a"
    assert (request.json["temperature"], request.json["max_completion_tokens"]) == (0.5, 8)
    assert (chat.max_tries, chat.max_tool_rounds) == (5, 2)
    assert chat_by_name("anthropic/m", tool_media="native").wire.tool_media == "native"
    assert chat._connection.timeouts == Timeouts(connect=3, idle=3)


def test_the_base_url_may_come_from_the_environment(keys):
    keys.setenv("OPENAI_BASE_URL", "http://localhost:1")
    assert chat_by_name("openai/m").wire.base_url == "http://localhost:1"
    assert chat_by_name("openai/m", base_url="http://localhost:2").wire.base_url == "http://localhost:2"
    for url in ("http://localhost:1", "http://localhost:1/v1/"):  # Anthropic's own clients add the version
        keys.setenv("ANTHROPIC_BASE_URL", url)
        assert chat_by_name("anthropic/m").wire.base_url == "http://localhost:1/v1"


def test_wrong_constructor_options(keys):
    with pytest.raises(TypeError, match="'modle'"):
        chat_openai(modle="x")
    with pytest.raises(UsageError, match="not both"):
        chat_openai(api_key="a", credentials=lambda: "b")
    with pytest.raises(UsageError, match="function"):
        chat_openai(credentials="b", model="m")
    with pytest.raises(UsageError, match="no name"):
        chat_by_name(3)
    with pytest.raises(UsageError, match="base_url"):
        chat_openai_compatible(model="m")
    with pytest.raises(UsageError, match="model="):
        chat_openai_compatible(base_url="http://localhost:1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"credentials": lambda: {"a": "b"}}, "it returned dict"),
        ({"api_key": 5}, "api_key= is a string, not int"),
        ({"api_key": " "}, "api_key= is blank, and OpenAI wants a key"),
        ({"params": [1]}, "params= is a dictionary"),
        ({"api_headers": "x"}, "api_headers= is a dictionary"),
        ({"timeout": "soon"}, "number of seconds"),
        ({"timeout": 0}, "number of seconds"),
        ({"max_tries": 0}, "max_tries= is a whole number, 1 or more"),
        ({"max_tool_rounds": "3"}, "max_tool_rounds= is a whole number"),
        ({"tool_media": "inside"}, "tool_media"),
        ({"client": 3}, "client= is an httpx.Client"),
    ],
)
def test_options_of_a_wrong_kind_say_which(keys, options, words):
    with pytest.raises(UsageError, match=words):
        chat_openai(model="m", **options).wire.headers()


def test_no_other_vendors_key_goes_to_a_server_of_somebodys(keys):
    chat = chat_openai_compatible(base_url="http://localhost:1", model="m")
    assert "key-of" not in str(dict(chat.wire.request([UserTurn("Hi")]).headers))


def test_a_server_that_needs_no_key_is_sent_no_blank_one():
    chat = chat_openai_compatible(base_url="http://localhost:1", model="m", api_key="")
    assert "authorization" not in chat.wire.request([UserTurn("Hi")]).headers


def test_the_key_is_read_when_a_request_is_built(keys):
    chat = chat_by_name("openai/m")
    keys.setenv("OPENAI_API_KEY", "rotated")
    assert chat.wire.request([UserTurn("Hi")]).headers["authorization"] == "Bearer rotated"


# DeepSeek: text only ----------------------------------------------------------------------------------------

IMAGE = ContentImageInline("image/png", "AAAA")


def test_deepseek_is_told_about_images_of_tools_and_refuses_those_of_users(server, reply, make):
    chat = make(vendor=chat_deepseek)
    chat.register_tool(_tool(lambda: ["A cat:", IMAGE], "f"))
    server.answers(reply([calls("a")]), reply([answer()]))
    with pytest.warns(EllmerWarning, match="DeepSeek's m was not sent an image of a tool"):
        chat.chat("Draw a cat")
    told = server.asked[1].json["messages"][-1]
    assert told["role"] == "tool"
    assert "A cat:" in told["content"]
    assert "image" in told["content"]
    assert "AAAA" not in told["content"]
    with pytest.raises(UsageError, match="takes no image"):
        chat.chat("What is this?", IMAGE)
    assert len(server.asked) == 2
    assert len(chat.get_turns()) == 4


def test_deepseek_gets_its_reasoning_back(server, reply, make):
    chat = make(vendor=chat_deepseek, params={"max_tokens": 9})
    chat.register_tool(f)
    body = json.loads(calls("a"))
    body["choices"][0]["message"]["reasoning_content"] = "Hm."
    server.answers(reply([json.dumps(body).encode()]), reply([calls("b")]), reply([answer()]))
    chat.chat("Go")
    said = [m for m in server.asked[2].json["messages"] if m["role"] == "assistant"]
    assert [m["reasoning_content"] for m in said] == ["Hm.", ""]
    assert server.asked[0].json["max_tokens"] == 9


def test_deepseek_gets_the_schema_in_words(server, reply, make):
    chat = make(vendor=chat_deepseek)
    server.answers(reply([answer('{"title": "It", "pages": 1138}')]))
    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
    sent = server.asked[0].json
    assert sent["response_format"] == {"type": "json_object"}
    assert '"pages"' in sent["messages"][-1]["content"]
    assert len(chat.get_turns()) == 2


def test_a_chat_can_be_made_of_a_wire():
    chat = Chat(OpenAICompatible(model="m", base_url="http://localhost:1"), "s", echo="none")
    assert "── system" in str(chat)
