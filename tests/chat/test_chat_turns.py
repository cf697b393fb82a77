"""The turns of a chat: set, added, saved, forked."""

import json
import pickle
from copy import copy, deepcopy
from threading import Thread

import pytest
from chats.answers import IMAGE, SSE, answer, calls, f, named_tool, streamed

from ellmer_core.contents.content import ContentText, ContentToolRequest, ContentToolResult
from ellmer_core.contents.json_serialization import contents_record
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation.history import History
from ellmer_core.errors import ServerError, UsageError
from ellmer_core.providers.deepseek import chat_deepseek

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
        (lambda: chat.set_turns([UserTurn("Hi"), SystemTurn("t")]), "Only the first turn"),
        (lambda: chat.add_turn(SystemTurn("t")), "Only the first turn"),
        (lambda: chat.last_turn("model"), "'model'"),
        (lambda: chat.get_cost("total"), "'total'"),
        (lambda: chat.set_model(None), "must be str, not None"),
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
    chat.register_tool(named_tool(lambda: ran.append(1), "f"))
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
    chat.register_tool(named_tool(lambda: ran.append(1) or [IMAGE, 1.5], "f"))
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
    elsewhere = make(provider=chat_deepseek, model="d")
    elsewhere.restore(saved)
    assert elsewhere.get_model() == "d"
    assert len(elsewhere.get_turns()) == 4


def saved_chat(**props):
    props = {"provider": "v", "model": "m", "turns": [], "results": {}, **props}
    if isinstance(props["turns"], list):
        props["turns"] = contents_record(props["turns"])
    if isinstance(props["results"], dict):
        props["results"] = {place: contents_record(one) for place, one in props["results"].items()}
    return {"version": 1, "class": "Chat", "props": props}


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ({"version": 2, "class": "Chat", "props": {}}, "version 2"),
        ([], "not a saved chat"),
        ({"version": 1, "class": "Chat", "props": {"turns": []}}, "lacks model, provider, results"),
        (saved_chat(turns={}), "`turns` must be a list"),
        (saved_chat(results=[]), "`results` an object"),
        (saved_chat(model=1), "all other fields text"),
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


def test_a_chat_saved_when_providers_were_called_vendors_is_restored(make):
    saved = saved_chat(turns=TURNS)
    saved["props"]["vendor"] = saved["props"].pop("provider")
    chat = make()
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
