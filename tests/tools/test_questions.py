"""A running tool asks the user: by a function, at the console, in an app, or later, in another process."""

import asyncio
import json

import pytest

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server import StrictServer
from ellmer_core.conversation.approval import deciding, decision_of
from ellmer_core.errors import ApprovalRequiredError, AsyncToolError
from ellmer_core.tools.definition import CallScope

SEAT = {
    "type": "object",
    "properties": {"seat": {"type": "string"}, "meal": {"type": "boolean", "default": False}},
    "required": ["seat"],
}
calls = []


def book(to: str, context: ec.ToolContext) -> str:
    """Books a flight."""
    calls.append(to)
    answer = context.ask(f"Which seat to {to}?", SEAT)
    if answer is None:
        return "nothing was booked"
    sure = context.ask("Are you sure?")
    return f"{to}, {json.dumps(answer)}, {'sure' if sure is not None else 'not sure'}"


async def book_async(to: str, context: ec.ToolContext) -> str:
    """Books a flight."""
    return json.dumps(await context.ask_async(f"Which seat to {to}?", SEAT))


@pytest.fixture
def chat():
    calls.clear()
    steps = [Answer([Call("book", {"to": "Rome"})]), Answer([Say("So.")])]
    with StrictServer({"talk": Script(steps)}) as server:
        chat = ec.chat_openai(base_url=f"{server.url('talk', '1')}/v1", api_key="k", model="gpt-4.1")
        chat.register_tool(book)
        yield chat
        assert not [found for entry in server.requests for found in entry.violations]


def result(chat):
    [result] = [c for t in chat.get_turns() for c in t.contents if isinstance(c, ec.ContentToolResult)]
    return result.error or result.value


def answers(question):
    assert isinstance(question, ec.ContentToolQuestion)
    return {"approved": True, "arguments": {"seat": "7A", "unasked": 1} if question.schema else None}


DONE = 'Rome, {"meal": false, "seat": "7A"}, sure'


def test_a_function_answers(chat):
    chat.approve = answers
    chat.chat("Book Rome")

    assert result(chat) == DONE


@pytest.mark.parametrize(("decision", "value"), [(False, "nothing was booked"), (True, "nothing was booked")])
def test_no_and_an_answer_without_a_required_field_are_no(chat, decision, value):
    chat.approve = lambda _question: decision
    chat.chat("Book Rome")

    assert result(chat) == value


def test_without_anybody_to_ask_the_answer_is_no(chat):
    chat.chat("Book Rome")

    assert result(chat) == "nothing was booked"


@pytest.mark.parametrize("tool", [book, book_async])
def test_an_async_function_answers_a_tool_of_either_kind(chat, tool):
    async def later(question):
        await asyncio.sleep(0)
        return answers(question)

    async def talk():
        chat.set_tools([ec.tool(tool, name="book")])
        with deciding(later):  # as the app does
            await chat.chat_async("Book Rome")

    asyncio.run(talk())
    assert result(chat) == (DONE if tool is book else '{"meal": false, "seat": "7A"}')


def test_an_async_function_cannot_answer_in_a_blocking_chat(chat):
    async def later(_question):
        raise AssertionError

    chat.approve = later
    chat.chat("Book Rome")
    assert isinstance(result(chat), AsyncToolError)


def test_the_console_asks_for_each_field(chat, monkeypatch, capsys):
    typed = iter(["y", "7A", "no", "true", "n"])
    asked = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or next(typed))
    chat.approve = "console"
    chat.chat("Book Rome")

    assert asked == ["[y]es or [n]o? ", "seat: ", "meal [False]: ", "meal [False]: ", "[y]es or [n]o? "]
    assert "book asks: Which seat to Rome?" in capsys.readouterr().out
    assert result(chat) == 'Rome, {"meal": true, "seat": "7A"}, not sure'


def test_the_answer_comes_later_in_another_process(chat):
    chat.approve = "defer"
    with pytest.raises(ApprovalRequiredError) as waiting:
        chat.chat("Book Rome")
    [question] = waiting.value.requests
    assert (question.message, question.arguments) == ("Which seat to Rome?", {"meal": False})
    saved = json.loads(json.dumps(chat.record()))

    chat.restore(saved)
    [question] = chat.waiting_requests()
    assert (question.title, dict(question.schema)) == ("Which seat to Rome?", SEAT)
    chat.decide({question.id: answers(question)})
    with pytest.raises(ApprovalRequiredError):
        chat.chat()
    [second] = chat.waiting_requests()
    assert second.message == "Are you sure?"
    chat.decide({second.id: True})
    assert chat.chat() == "So."

    assert result(chat) == DONE
    assert calls == ["Rome"] * 3  # it is called from its beginning


def test_arguments_that_were_changed_stay_changed(chat):
    chat.approve, chat.ask_before = "defer", ["book"]
    with pytest.raises(ApprovalRequiredError):
        chat.chat("Book Rome")
    [call] = chat.waiting_requests()
    chat.decide({call.id: {"approved": True, "arguments": {"to": "Oslo"}}})
    with pytest.raises(ApprovalRequiredError):
        chat.chat()
    [question] = chat.waiting_requests()
    assert question.message == "Which seat to Oslo?"
    chat.decide({question.id: False})
    chat.chat()

    assert result(chat) == "nothing was booked"
    [outcome] = [c for t in chat.get_turns() for c in t.contents if isinstance(c, ec.ContentToolResult)]
    assert outcome.decision == "edited"


AGE = {
    "type": "object",
    "properties": {
        "age": {"type": "integer", "minimum": 1, "maximum": 120},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    },
}


def register(age: int, context: ec.ToolContext) -> str:
    """Registers somebody."""
    return json.dumps(context.ask("How old are you?", AGE))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"age": 130}, "`age` must be at most 120, not 130"),
        ({"age": "old"}, '`age` must be integer, not "old"'),
        ({"code": "abc"}, '`code` must be of the pattern ^[A-Z]{3}$, not "abc"'),
    ],
)
def test_an_answer_that_does_not_fit_is_asked_for_again(wrong, said):
    asked = []

    def answer(question):
        asked.append(question.message)
        return {"approved": True, "arguments": wrong if len(asked) == 1 else {"age": 30, "code": "ABC"}}

    context = ec.ToolContext(ec.ContentToolRequest("c", "register", {}), scope(answer), print)

    assert register(1, context) == '{"age": 30, "code": "ABC"}'
    assert asked == ["How old are you?", f"How old are you?\n{said}"]


def test_a_program_that_cannot_answer_is_told_after_three_times():
    context = ec.ToolContext(
        ec.ContentToolRequest("c", "register", {}),
        scope(lambda _: {"approved": True, "arguments": {"age": 0}}),
        print,
    )

    with pytest.raises(ec.UsageError, match="has no valid answer: `age` must be at least 1, not 0"):
        register(1, context)


def scope(answer):
    return CallScope(ask=answer, read=decision_of)
