"""The model is told why a call was denied, whoever or whatever denied it."""

import pytest

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server.strict_server import StrictServer

DEFAULT = "The user denied the tool call."


@ec.tool(needs_approval=True)
def remove(path: str) -> str:
    """Removes."""
    raise AssertionError(f"{path} was removed")


@pytest.fixture
def told():
    """`told(approve)` returns what the model is told about a call, and the chat."""
    script = Script([Answer((Call("remove", {"path": "a"}, "r1"),)), Answer((Say("So."),))])
    with StrictServer({"talk": script}) as server:

        def denied(approve):
            chat = ec.chat_anthropic(
                base_url=f"{server.url('talk', '1')}/v1",
                api_key="none",
                model="claude-sonnet-5",
                echo="none",
                approve=approve,
            )
            chat.register_tool(remove)
            chat.chat("Go")
            (result,) = chat.get_turns()[-2].tool_results
            assert (result.decision, result.error) == ("denied", None)
            return result.value

        yield denied


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (False, DEFAULT),
        (ec.Decision(approved=False), DEFAULT),
        (ec.Decision(approved=False, reason="Not on a Sunday."), "Not on a Sunday."),
        ({"approved": False}, DEFAULT),
        ({"approved": False, "reason": None}, DEFAULT),
        ({"approved": False, "reason": "Not on a Sunday."}, "Not on a Sunday."),
    ],
)
def test_the_reason_of_a_function(told, said, reason):
    assert told(lambda _request: said) == f"Tool call denied. {reason}"


def test_nobody_can_be_asked(told):
    assert told(None) == "Tool call denied. The tool needs an approval, and nobody was there to give it."


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        (["n"], DEFAULT),
        ([""], DEFAULT),
        (["e", "[1]"], "The user wanted other arguments, but wrote no JSON object."),
        (["e", "{"], "The user wanted other arguments, but wrote no JSON object."),
        ([], "Nobody was there to approve the tool call."),
    ],
)
def test_the_reason_at_the_console(told, monkeypatch, typed, reason):
    answers = iter(typed)

    def typing(_prompt):
        if (answer := next(answers, None)) is None:
            raise EOFError
        return answer

    monkeypatch.setattr("builtins.input", typing)
    assert told("console") == f"Tool call denied. {reason}"


@pytest.mark.parametrize(
    "said",
    ["yes", {"approved": "yes"}, {"approved": False, "reason": 1}, {"approved": False, "why": "x"}, 1],
    ids=str,
)
def test_what_is_no_decision_is_an_error_of_the_caller(told, said):
    with pytest.raises(ec.UsageError, match=r"^A decision is True, False, \"defer\""):
        told(lambda _request: said)
