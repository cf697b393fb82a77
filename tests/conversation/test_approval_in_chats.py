"""The chat's settings for approvals: a function, the console, or a later decision."""

import asyncio
import json

import pytest

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server.strict_server import StrictServer

ran = []


@ec.tool(needs_approval=lambda arguments: arguments["path"] != "tmp")
def remove(path: str) -> str:
    """Removes."""
    ran.append(path)
    return f"{path} is gone"


@ec.tool
def look(path: str) -> str:
    """Looks."""
    ran.append(f"look {path}")
    return f"{path} is there"


CALLS = (
    Call("remove", {"path": "a"}, "r1"),
    Call("look", {"path": "a"}, "l1"),
    Call("remove", {"path": "tmp"}, "r2"),
)


@pytest.fixture
def url():
    ran.clear()
    steps = [Answer((Say("I will."), *CALLS)), Answer((Say("So."),))]
    with StrictServer({"talk": Script(steps)}) as server:
        yield f"{server.url('talk', '1')}/v1"


def made(url, **options):
    chat = ec.chat_anthropic(base_url=url, api_key="none", model="claude-sonnet-5", echo="none", **options)
    chat.register_tools([remove, look])
    return chat


def results(chat):
    turns = [turn for turn in chat.get_turns() if isinstance(turn, ec.UserTurn)]
    return {r.request.name + str(r.request.arguments["path"]): r for t in turns for r in t.tool_results}


def test_a_function_says_yes_or_no(url):
    asked = []
    chat = made(url, approve=lambda request: asked.append(request.arguments["path"]) or True)

    assert chat.chat("Go") == "So."
    assert (asked, ran) == (["a"], ["a", "look a", "tmp"])
    assert results(chat)["removea"].decision == "approved"


def test_a_denied_call_is_a_result_and_no_error(url):
    chat = made(url, approve=lambda _request: ec.Decision(approved=False, reason="Keep it."))
    chat.chat("Go")

    denied = results(chat)["removea"]
    assert (denied.decision, denied.error, denied.value) == ("denied", None, "Tool call denied. Keep it.")
    assert "denied" in ec.contents_html(denied)
    assert ran == ["look a", "tmp"]


@pytest.mark.parametrize(
    ("ask_before", "asked"),
    [("look", ["a", "a"]), (["look", "other"], ["a", "a"]), (True, ["a", "a", "tmp"]),
     (lambda request: request.arguments["path"] == "tmp", ["a", "tmp"]), ((), ["a"])],
)  # fmt: skip
def test_the_chat_asks_before_further_calls(url, ask_before, asked):
    seen = []
    chat = made(
        url, ask_before=ask_before, approve=lambda request: seen.append(request.arguments["path"]) or True
    )
    chat.chat("Go")

    assert seen == asked


def test_an_async_function_may_take_its_time(url):
    async def approve(_request):
        await asyncio.sleep(0)
        return {"approved": True, "arguments": {"path": "b"}}

    chat = made(url, approve=approve)
    assert asyncio.run(chat.chat_async("Go")) == "So."
    assert results(chat)["removeb"].decision == "edited"


@pytest.mark.parametrize(
    ("typed", "called", "decision"),
    [(["y"], ["a"], "approved"), (["n"], [], "denied"), (["e", '{"path": "b"}'], ["b"], "edited"),
     (["e", "what?"], [], "denied"), ([], [], "denied")],
)  # fmt: skip
def test_the_console_asks_whoever_sits_there(url, monkeypatch, typed, called, decision):
    prompts, answers = [], iter(typed)

    def typing(prompt):
        prompts.append(prompt)
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typing)
    chat = made(url, approve="console")
    chat.chat("Go")

    assert prompts[0].startswith('Remove: remove({"path": "a"})')
    assert [path for path in ran if path in {"a", "b"}] == called
    assert results(chat)[f"remove{(called or ['a'])[0]}"].decision == decision


@pytest.mark.parametrize("mode", ["chat", "stream", "async"])
@pytest.mark.parametrize(
    ("said", "gone", "decision"),
    [(True, "a", "approved"), ({"approved": True, "arguments": {"path": "b"}}, "b", "edited"),
     ({"approved": False, "reason": "No."}, None, "denied")],
)  # fmt: skip
def test_stop_save_decide_resume(url, said, gone, decision, mode):
    chat = made(url, approve="defer")
    with pytest.raises(ec.ApprovalRequiredError) as stopped:
        chat.chat("Go")

    assert [request.id for request in stopped.value.requests] == ["r1"]
    assert ran == ["look a", "tmp"]  # what nobody is asked about runs first
    saved = json.loads(json.dumps({"chat": chat.record(), "said": {"r1": said}}))

    later = made(url, approve="defer")
    later.restore(saved["chat"])
    assert [request.name for request in later.waiting_requests()] == ["remove"]
    later.decide(saved["said"])
    resume = {
        "chat": later.chat,
        "stream": lambda: "".join(later.stream()),
        "async": lambda: asyncio.run(later.chat_async()),
    }
    assert resume[mode]() == "So."

    assert ran == ["look a", "tmp", *filter(None, [gone])]
    assert results(later)[f"remove{gone or 'a'}"].decision == decision
    assert len(results(later)) == 3
    assert later.waiting_requests() == []


def test_who_goes_on_without_a_decision_says_that_the_call_was_not_run(url):
    chat = made(url, approve="defer")
    with pytest.raises(ec.ApprovalRequiredError):
        chat.chat("Go")

    assert chat.chat("Never mind") == "So."
    assert "before the tool could be invoked" in results(chat)["removea"].error
    assert "a" not in ran


def test_a_decision_may_be_put_off_again(url):
    chat = made(url, approve="defer")
    with pytest.raises(ec.ApprovalRequiredError):
        chat.chat("Go")
    chat.decide({"r1": "defer"})

    assert [request.id for request in chat.waiting_requests()] == ["r1"]


def test_only_waiting_calls_are_decided_about_and_only_in_known_words(url):
    chat = made(url, approve="defer")
    with pytest.raises(ec.ApprovalRequiredError):
        chat.chat("Go")

    with pytest.raises(ec.UsageError, match=r"'l1' waits.*Waiting: `r1` \(remove\)"):
        chat.decide({"l1": True})
    for wrong in (
        "yes",
        {"approved": "yes"},
        {"approved": True, "args": {}},
        {"approved": True, "arguments": [1]},
    ):
        with pytest.raises(ec.UsageError, match="A decision is"):
            chat.decide({"r1": wrong})
    with pytest.raises(
        ec.UsageError, match='approve= must be a function of one argument, "console", "defer"'
    ):
        made(url, approve="browser").chat("Go")
