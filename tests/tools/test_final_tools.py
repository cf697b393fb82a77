"""The result of a tool with `final=True` is the answer: the model is not asked again, and the next request has the result."""

import asyncio
import sys
from pathlib import Path

import pytest

import ellmer_core as ec
from ellmer_core.testing import ScriptedModel, tool_call

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.grid import Cell, one_of_each
from sweep.judge import _chat, refusal


@ec.tool(final=True)
def book(seat: str) -> dict[str, str]:
    """Books a seat."""
    if seat == "none":
        raise ValueError("there is no such seat")
    return {"booked": seat}


@ec.tool
def look(seat: str) -> str:
    """Looks at a seat."""
    return f"{seat} is free"


BOOKED = '{"booked":"12A"}'


def scripted(*answers, system=None, tools=(book, look)):
    model = ScriptedModel(*answers)
    chat = model.chat(system)
    chat.register_tools(tools)
    return model, chat


CALL = tool_call("book", seat="12A")


def streamed_async(chat, content="text"):
    async def run():
        return [piece async for piece in chat.stream_async("Book.", content=content)]

    return asyncio.run(run())


WAYS = {
    "chat": lambda chat: chat.chat("Book."),
    "chat_async": lambda chat: asyncio.run(chat.chat_async("Book.")),
    "stream": lambda chat: "".join(chat.stream("Book.")),
    "stream_async": lambda chat: "".join(streamed_async(chat)),
    "echo": lambda chat: chat.chat("Book.", echo="output"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_the_answer_and_the_next_request_has_it(way, capsys):
    model, chat = scripted(CALL, lambda asked: f"You have {asked.results[0]}.")

    assert WAYS[way](chat) == BOOKED
    assert [turn.role for turn in chat.get_turns()] == ["user", "assistant"]
    assert len(model.asked) == 1
    assert chat.chat("Which seat is it?") == f"You have {BOOKED}."
    assert [turn.role for turn in chat.get_turns()] == ["user", "assistant"] * 2
    model.assert_finished()


def test_a_text_before_the_call_is_a_paragraph_of_its_own_in_a_stream():
    _, chat = scripted(["I book it.", CALL])
    assert "".join(chat.stream("Book.")) == f"I book it.\n\n{BOOKED}"

    _, chat = scripted(["I book it.", CALL])
    assert chat.chat("Book.") == BOOKED


def test_contents_of_a_stream_end_with_the_result():
    _, chat = scripted(CALL)
    *_, last = chat.stream("Book.", content="all")
    assert isinstance(last, ec.ContentToolResult)
    assert last.value == {"booked": "12A"}


def test_calls_beside_it_are_run_and_their_results_are_sent_later():
    model, chat = scripted([tool_call("look", seat="12A"), CALL], lambda asked: " and ".join(asked.results))
    assert chat.chat("Look, and book.") == BOOKED
    assert chat.chat("Well?") == f"12A is free and {BOOKED}"
    model.assert_finished()


def test_several_results_are_paragraphs():
    _, chat = scripted([CALL, tool_call("book", seat="12B")])
    assert chat.chat("Book two.") == BOOKED + '\n\n{"booked":"12B"}'


def test_the_model_is_told_of_an_error_and_may_correct_it():
    model, chat = scripted(tool_call("book", seat="none"), CALL)
    assert chat.chat("Book.") == BOOKED
    assert "no such seat" in model.asked[1].results[0]


def test_without_a_new_message_the_model_continues():
    _, chat = scripted(CALL, "It is booked.")
    chat.chat("Book.")
    assert chat.chat() == "It is booked."


def test_texts_of_many_prompts_are_the_results(tmp_path):
    model, chat = scripted(CALL, CALL)
    journal = tmp_path / "texts.jsonl"
    assert ec.parallel_chat_text(chat, ["Book.", "Book again."], path=journal) == [BOOKED, BOOKED]
    assert ec.parallel_chat_text(chat, ["Book.", "Book again."], path=journal) == [BOOKED, BOOKED]
    model.assert_finished()


def test_data_are_still_asked_of_the_model():
    _, chat = scripted(CALL, {"seat": "12A"})
    assert chat.chat_structured("Book.", type=ec.type_object(seat=ec.type_string())) == {"seat": "12A"}


def test_a_call_that_was_approved_later_ends_the_conversation_too():
    asking = ec.tool(book.function, name="book", final=True, needs_approval=True)
    model, chat = scripted(CALL, tools=[asking])
    chat.approve = "defer"
    with pytest.raises(ec.ApprovalRequiredError) as waiting:
        chat.chat("Book.")
    chat.decide({waiting.value.requests[0].id: True})
    assert chat.chat() == BOOKED
    model.assert_finished()


def test_a_saved_chat_keeps_the_result():
    _, chat = scripted(CALL)
    chat.chat("Book.")
    _, other = scripted(lambda asked: asked.results[0])
    other.restore(ec.contents_record(chat))
    assert other.chat("And?") == BOOKED


@pytest.mark.parametrize("provider", one_of_each(), ids=lambda provider: provider.name)
def test_every_provider_accepts_the_next_request(provider):
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    chat.set_turns(
        [
            ec.UserTurn("Book."),
            ec.AssistantTurn([ec.ContentToolRequest("call_1aaaa", "book", {"seat": "12A"}, book)]),
        ]
    )
    chat.register_tool(book)
    [request] = chat._history.open_requests
    chat._history.keep(0, ec.ContentToolResult({"booked": "12A"}, request=request))
    assert chat._history.results
    assert refusal(provider, chat) is None
