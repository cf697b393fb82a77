"""The design of tool calls in shinychat (issue 31, "Tool/Function calling UI"), sentence by sentence.

`moving.md` lists where this library differs.
"""

import asyncio
import inspect
from dataclasses import dataclass

import pytest

pytest.importorskip("shinychat")

import pydantic

import ellmer_core as ec
from ellmer_core import (
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    contents_html,
    contents_markdown,
    contents_shinychat,
    local_shinychat,
    shinychat_stream,
    tool,
    tool_annotations,
)
from ellmer_core.testing import ScriptedModel, run_tool, tool_call

QUESTION, SAID = "What time is it in London?", "Sure, I can look up the time."
TIME = "2025-03-31 11:12:13"


def get_current_time(tz: str = "UTC") -> str:
    """Gets the current time."""
    return TIME


def made(*answers: object, tools=(get_current_time,)) -> ec.Chat:
    chat = ScriptedModel(
        *answers or ([SAID, tool_call("get_current_time", tz="UK/London")], "It's 11am in London.")
    ).chat()
    for each in tools:
        chat.register_tool(each)
    return chat


def talked(**how) -> ec.Chat:
    chat = made(**how)
    chat.chat(QUESTION)
    return chat


def blocks(message) -> list[dict]:
    return [
        segment
        for segment in message.segments
        if isinstance(segment, dict) and "type" in segment and "request_id" in segment
    ]


# --- as ellmer and chatlas have it -----------------------------------------------------------------------


def test_the_output_with_echo_all(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = "How long ago exactly was the moment Neil Armstrong touched down on the moon?"
    said = "Neil Armstrong touched down on the moon on July 20, 1969, at 20:17 UTC.\n\nAs of now, which is February 27, 2025, at 17:53 UTC, it has been approximately 55 years, 7 months, and 7 days since that historic moment."
    calls = [
        ContentToolRequest("call_WkRmaly9E7kgpMB5RPWVzijh", "get_current_time", {"tz": "UTC"}),
        ContentToolRequest("call_0OqdPpugMw3wjX9IEz1xVwxd", "get_current_time", {"tz": "America/New_York"}),
    ]
    made(calls, said).chat(long, echo="all")
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        f"> {long}",
        '< [tool request (call_WkRmaly9E7kgpMB5RPWVzijh)]: get_current_time(tz = "UTC")',
        "< [tool request (call_0OqdPpugMw3wjX9IEz1xVwxd)]: get_current_time(tz =",
        '< "America/New_York")',
        f"> [tool result  (call_WkRmaly9E7kgpMB5RPWVzijh)]: {TIME}",
        f"> [tool result  (call_0OqdPpugMw3wjX9IEz1xVwxd)]: {TIME}",
        "< Neil Armstrong touched down on the moon on July 20, 1969, at 20:17 UTC.",
        "<",
        "< As of now, which is February 27, 2025, at 17:53 UTC, it has been",
        "< approximately 55 years, 7 months, and 7 days since that historic moment.",
        "<",
    ]


def test_the_description_comes_from_a_docstring_in_numpys_form():
    def get_current_temperature(latitude: float, longitude: float) -> float:
        """
        Get the current weather given a latitude and longitude.

        Parameters
        ----------
        latitude
            The latitude of the location.
        longitude
            The longitude of the location.
        """
        return latitude + longitude

    found = tool(get_current_temperature)
    assert found.description == "Get the current weather given a latitude and longitude."
    assert {name: type.description for name, type in found.arguments.properties.items()} == {
        "latitude": "The latitude of the location.",
        "longitude": "The longitude of the location.",
    }
    assert {type.type for type in found.arguments.properties.values()} == {"number"}


def test_register_tool_takes_a_function_and_a_model():
    class Place(pydantic.BaseModel):
        """Looks at a place."""

        latitude: float = pydantic.Field(description="The latitude.")

    def look(latitude):
        return latitude * 2

    chat = made("Hi")
    chat.register_tool(look, model=Place)
    assert chat.get_tools()["look"].arguments.properties["latitude"].description == "The latitude."
    assert run_tool(chat.get_tools()["look"], {"latitude": 1.5}).value == 3.0
    assert inspect.signature(chat.register_tool).parameters["model"].default is None


def test_one_call_may_have_its_own_echo(capsys):
    made("Hello").chat("Hi", echo="all")
    assert "> Hi\n< Hello" in capsys.readouterr().out


def test_the_tools_of_a_chat_can_be_listed():
    assert list(made().get_tools()) == ["get_current_time"]


# --- what people see -------------------------------------------------------------------------------------


def test_the_name_becomes_a_label():
    assert "Get current time" in str(contents_html(talked().get_turns()[2].contents[0]))


@pytest.mark.parametrize("look", ["inline", "block"])
def test_a_tool_is_shown_inline_or_as_a_block(look):
    noted = tool(get_current_time, annotations=tool_annotations(display=look))
    (block,) = blocks(contents_shinychat(talked(tools=(noted,)))[1])
    assert block["open_style"] == {"inline": "minimal", "block": "framed"}[look]


def test_the_title_may_be_a_function_of_the_arguments():
    noted = tool(get_current_time, annotations=tool_annotations(lambda a: f"Get time in {a['tz']}"))
    result = talked(tools=(noted,)).get_turns()[2].contents[0]
    assert "Get time in UK/London" in str(contents_html(result))


def test_the_parameters_of_the_call_can_be_seen():
    assert "UK/London" in str(contents_html(talked().get_turns()[2].contents[0]))


def test_the_result_takes_the_place_of_its_request():
    request, result = (talked().get_turns()[n].contents[-1] for n in (1, 2))
    (begun,), (ended,) = blocks(contents_shinychat(request)), blocks(contents_shinychat(result))
    assert (begun["type"], ended["type"]) == ("tool_request", "tool_result")
    assert begun["request_id"] == ended["request_id"] == request.id


def test_a_result_may_have_a_display_of_its_own():
    def search() -> ContentToolResult:
        """Searches flights."""
        return ContentToolResult("3", extra={"display": {"html": "<b>3 flights</b>", "title": "Flights"}})

    model = ScriptedModel(tool_call("search"), "Three.")
    chat = model.chat()
    chat.register_tool(search)
    chat.chat("Go")
    shown = str(contents_html(chat.get_turns()[2].contents[0]))
    assert "<b>3 flights</b>" in shown
    assert "Flights" in shown
    assert model.asked[1].results == ["3"]


# --- the static case -------------------------------------------------------------------------------------


def test_the_structure_of_the_turns():
    assert [(turn.role, [type(c) for c in turn.contents]) for turn in talked().get_turns()] == [
        ("user", [ContentText]),
        ("assistant", [ContentText, ContentToolRequest]),
        ("user", [ContentToolResult]),
        ("assistant", [ContentText]),
    ]


def test_markdown_has_the_text_and_neither_request_nor_result():
    _, asked, answered, said = talked().get_turns()
    assert contents_markdown(said.contents[0]) == "It's 11am in London."
    assert not contents_markdown(asked.contents[1])
    assert not contents_markdown(answered.contents[0])


def test_the_results_are_a_part_of_the_assistants_message():
    messages = contents_shinychat(talked())
    assert [message.role for message in messages] == ["user", "assistant"]
    assert TIME in str(messages[1].segments)


def test_the_request_is_not_shown_beside_its_result():
    assert [block["type"] for block in blocks(contents_shinychat(talked())[1])] == ["tool_result"]


def test_a_content_without_a_method_is_shown_as_html_or_markdown():
    class Note(ec.Content):
        pass

    class Page(ec.Content):
        pass

    @contents_markdown.register(Note)
    def _(_content: Note) -> str:
        return "a *note*"

    @contents_html.register(Page)
    def _(_content: Page) -> str:
        return "<p>page</p>"

    assert "a *note*" in str(contents_shinychat(Note()))
    assert "<p>page</p>" in str(contents_shinychat(Page()))


# --- the live case ---------------------------------------------------------------------------------------


def streamed(chat: ec.Chat) -> list[object]:
    async def pieces():
        return [piece async for piece in chat.stream_async(QUESTION, content="all")]

    return asyncio.run(pieces())


@pytest.mark.parametrize("way", [lambda chat: list(chat.stream(QUESTION, content="all")), streamed])
def test_a_stream_of_everything_yields_text_then_the_request_then_the_result(way):
    kinds = []
    for piece in way(made()):
        if not kinds or kinds[-1] is not type(piece):
            kinds.append(type(piece))
    assert kinds == [ContentText, ContentToolRequest, ContentToolResult, ContentText]


def test_a_stream_of_text_yields_text_only():
    assert all(isinstance(piece, str) for piece in made().stream(QUESTION))


def test_text_goes_to_the_terminal_and_to_the_program(capsys):
    pieces = "".join(made("Hello you").stream("Hi", echo="output"))
    assert pieces == "Hello you"
    assert "Hello you" in capsys.readouterr().out


def order_of_events() -> list[str]:
    events = []

    def look() -> str:
        """Looks."""
        events.append("run")
        return "seen"

    chat = made(tool_call("look"), "Done", tools=(look,))
    chat.on_tool_request(lambda _request: events.append("on_tool_request"))
    chat.on_tool_result(lambda _result: events.append("on_tool_result"))
    names = {ContentToolRequest: "request", ContentToolResult: "result"}
    for piece in chat.stream("Go", content="all"):
        events += [names[type(piece)]] if type(piece) in names else []
    return events


def test_the_request_is_yielded_before_its_callback_and_the_result_before_its_own():
    assert order_of_events() == ["request", "on_tool_request", "run", "result", "on_tool_result"]


def test_a_tool_may_return_a_class_of_result_of_its_own():
    @dataclass(frozen=True)
    class Boarding(ContentToolResult):
        seat: str = ""

    def board() -> Boarding:
        """Boards."""
        return Boarding("yes", seat="7A")

    chat = made(tool_call("board"), "Done", tools=(board,))
    chat.chat("Go")
    result = chat.get_turns()[2].contents[0]
    assert (type(result), result.seat, result.request.name) == (Boarding, "7A", "board")


def test_the_library_fills_in_id_tool_and_arguments_of_a_result():
    def look(tz: str) -> ContentToolResult:
        """Looks."""
        return ContentToolResult("seen")

    chat = made(tool_call("look", tz="UTC"), "Done", tools=(look,))
    chat.chat("Go")
    result = chat.get_turns()[2].contents[0]
    assert (result.id, result.request.tool, result.request.arguments) == (
        "call_1",
        chat.get_tools()["look"],
        {"tz": "UTC"},
    )


def test_a_callback_can_be_removed():
    heard = []
    chat = made()
    chat.on_tool_request(heard.append)()
    chat.on_tool_result(heard.append)()
    chat.chat(QUESTION)
    assert heard == []


def test_the_live_conversation_ends_as_the_restored_one_is_shown():
    live, restored = made(), talked()
    list(live.stream(QUESTION, content="all"))
    assert [m.segments for m in contents_shinychat(live)] == [
        m.segments for m in contents_shinychat(restored)
    ]


# --- annotations and progress ----------------------------------------------------------------------------


def test_a_tool_carries_annotations():
    noted = tool(get_current_time, annotations=tool_annotations("Clock", read_only_hint=True, colour="red"))
    assert noted.annotations["title"] == "Clock"
    assert noted.annotations["read_only_hint"] is True
    assert noted.annotations["colour"] == "red"


def progress_of(work) -> list[str]:
    shown = []

    def busy() -> str:
        """Works."""
        work(local_shinychat())
        return "done"

    from ellmer_core.tool_execution import showing

    chat = made(tool_call("busy"), "Done", tools=(busy,))
    with showing(lambda _request, text: shown.append(text)):
        chat.chat("Go")
    assert "Progress" not in str(chat)
    return shown


def test_a_tool_appends_progress():
    assert progress_of(lambda ui: (ui.append("Progress: 0%"), ui.append("!"))) == [
        "Progress: 0%",
        "Progress: 0%!",
    ]


def test_a_tool_replaces_progress():
    assert progress_of(lambda ui: (ui.append("Progress: 0%"), ui.replace("Progress: 50%"))) == [
        "Progress: 0%",
        "Progress: 50%",
    ]


def test_append_replaces_if_it_is_told_so():
    assert progress_of(
        lambda ui: (ui.append("Progress: 0%"), ui.append("Progress: 50%", operation="replace"))
    ) == [
        "Progress: 0%",
        "Progress: 50%",
    ]


def test_progress_does_nothing_outside_of_a_chat():
    ui = local_shinychat()
    ui.append("Progress: 0%")
    ui.append("Progress: 50%", operation="replace")
    ui.replace("All done!")


def test_a_stream_for_shiny_has_text_calls_and_results():
    async def pieces():
        return [piece async for piece in shinychat_stream(made(), QUESTION)]

    calls = [piece for piece in asyncio.run(pieces()) if not isinstance(piece, ContentText)]
    assert [type(call) for call in calls] == [ContentToolRequest, ContentToolResult]
