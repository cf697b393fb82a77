"""The chat app for its users: tool calls that start, report progress, end, fail, are stopped, and are restored."""

import json
import re
import threading
import wave
from base64 import b64decode, b64encode
from dataclasses import dataclass
from io import BytesIO

import pytest
from htmltools import div
from playwright.sync_api import expect

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Delivery, Failure, Say, Think

CAT = ec.ContentImageInline(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)
PDF = ec.ContentPDF("application/pdf", "JVBERi0xLjQKJSVFT0YK", "report.pdf")


@ec.tool(annotations=ec.tool_annotations(lambda a: f"Get weather in {a['city']}", icon="🌦️"))
def get_weather(city: str) -> dict:
    """Gets the weather."""
    return {"city": city, "celsius": 3.2}


@ec.tool
def get_current_time() -> str:
    """Gets the time."""
    return "11:12:13"


@ec.tool
def paint() -> list:
    """Paints."""
    return ["as asked", CAT, PDF]


@ec.tool
def speak() -> ec.Content:
    """Speaks, which is a second of silence."""
    with wave.open(sound := BytesIO(), "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(bytes(16000))
    return ec.ContentFile("audio/wav", b64encode(sound.getvalue()).decode(), "hello.wav")


@ec.tool
def print_report() -> str:
    """Prints."""
    raise RuntimeError("The printer is on fire.")


class Slow:
    """A tool that continues when the test says so."""

    def __init__(self):
        self.steps = threading.Semaphore(0)
        self.tool = ec.tool(self.search, name="search_flights", description="Searches.", arguments={})

    def search(self):
        line = ec.local_shinychat()
        line.append("asked 1")
        self.steps.acquire()
        line.append(", asked 2")
        self.steps.acquire()
        line.replace("all asked")
        self.steps.acquire()
        return "3 flights"


@dataclass(frozen=True)
class Boarding(ec.ContentToolResult):
    """A result with its own display."""

    seat: str = "7A"


ec.contents_shinychat.register(Boarding)(lambda content: div(f"Seat {content.seat}", class_="boarding"))


@ec.tool
def check_in() -> Boarding:
    """Checks in."""
    return Boarding({"ok": True}, extra={"display": {"title": "Boarding pass"}}, seat="12C")


def calls(*calls, say="I look."):
    return Answer((Say(say), *calls))


def told(talk):
    """Returns the tool results that the model got."""
    return [c.value for t in talk.chat.get_turns() for c in t.contents if isinstance(c, ec.ContentToolResult)]


# a call's life ----------------------------------------------------------------------------------------------


def test_a_request_appears_tells_how_far_it_is_and_is_replaced_by_its_result(talk, picture):
    slow = Slow()
    it = talk([calls(Call("search_flights", {})), Answer((Say("Three."),))], slow.tool)

    it.say("Flights?")
    waiting = it.card("Search flights")
    expect(waiting).to_contain_text("asked 1")
    slow.steps.release()
    expect(waiting).to_contain_text("asked 1, asked 2")
    expect(it.page.get_by_role("status", name="Tool progress")).to_have_text("asked 1, asked 2")
    picture(it.log.locator(".shiny-chat-message"), "ui-progress.png")
    slow.steps.release()
    expect(waiting).to_contain_text("all asked")
    expect(waiting).not_to_contain_text("asked 1")
    expect(it.stop).to_be_visible()
    slow.steps.release()

    expect(it.log.get_by_text("Three.")).to_be_visible()
    expect(it.card("Search flights")).to_have_count(1)
    expect(it.log).not_to_contain_text("all asked")
    assert told(it) == ["3 flights"]


def test_title_arguments_and_value_of_a_call(talk):
    steps = [calls(Call("get_weather", {"city": "Duluth, MN"}), Call("get_current_time", {})),
             Answer((Say("Cold."),))]  # fmt: skip
    it = talk(steps, get_weather, get_current_time)
    it.ask("Weather?")

    expect(it.card("Get current time")).to_be_visible()
    card = it.card("🌦️ Get weather in Duluth, MN")
    expect(it.log.get_by_text('"celsius": 3.2')).to_have_count(0)
    card.click()
    expect(card).to_have_attribute("aria-expanded", "true")
    expect(it.log.get_by_text('"celsius": 3.2')).to_be_visible()
    it.log.get_by_text("Tool call").click()
    expect(it.log.get_by_text('"city": "Duluth, MN"').first).to_be_visible()


def test_results_are_in_one_answer(talk):
    it = talk([calls(Call("get_current_time", {})), calls(Call("get_weather", {"city": "Köln"}), say="And?"),
               Answer((Say("All done."),))], get_weather, get_current_time)  # fmt: skip
    it.ask("Both")
    expect(it.log.get_by_text("All done.")).to_be_visible()

    assert len(it.chat.get_turns()) == 6
    said = ("I look.", "Get current time", "And?", "Get weather in Köln", "All done.")
    answer = it.log.locator(".shiny-chat-message")
    expect(answer).to_have_count(1)
    places = [answer.inner_text().index(text) for text in said]
    assert places == sorted(places)


def test_images_and_files_of_a_result_are_seen(talk):
    it = talk([calls(Call("paint", {})), Answer((Say("Nice."),))], paint)
    it.ask("Paint")

    image = it.log.get_by_role("img", name="Paint")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.naturalWidth") == 1
    with it.page.expect_download() as download:
        it.log.get_by_role("link", name="report.pdf").click()
    assert download.value.path().read_bytes() == b"%PDF-1.4\n%%EOF\n"
    assert "content tool-call-id" not in it.page.content()
    it.reload("Nice.")
    expect(image).to_be_visible()
    assert "content tool-call-id" not in it.page.content()


#: Resolves with the seconds of a sound, as soon as the browser has read it.
SECONDS = (
    "sound => new Promise((done) => { sound.onloadedmetadata = () => done(sound.duration); sound.load(); })"
)


@pytest.mark.filterwarnings("ignore:.*was not sent a file")
def test_a_sound_of_a_result_can_be_played(talk, axe):
    it = talk([calls(Call("speak", {})), Answer((Say("Done."),))], speak)
    it.ask("Speak")
    sound = it.log.locator("audio[controls]")
    expect(sound).to_be_visible()

    assert sound.evaluate(SECONDS) == 1
    assert axe(it.page) == {}


def test_a_failed_call_is_marked(talk):
    it = talk([calls(Call("print_report", {})), Answer((Say("Sorry."),))], print_report)
    it.ask("Print")

    card = it.card("Print report failed")
    expect(card).to_be_visible()
    card.click()
    expect(it.log.get_by_text("The printer is on fire.")).to_be_visible()


def test_a_result_of_a_class_of_ones_own(talk):
    it = talk([calls(Call("check_in", {})), Answer((Say("Have a good flight."),))], check_in)
    it.ask("Check in")

    expect(it.log.locator(".boarding")).to_have_text("Seat 12C")
    it.reload("Have a good flight.")
    expect(it.log.locator(".boarding")).to_have_text("Seat 12C")
    assert told(it) == [{"ok": True}]


def test_a_picture_that_is_attached_is_sent_and_shown(talk):
    it = talk([Answer((Say("A cat."),))])
    with it.page.expect_file_chooser() as chooser:
        it.page.get_by_role("button", name="Attach file").click()
    picture = {"name": "cat.png", "mimeType": "image/png", "buffer": b64decode(CAT.data)}
    chooser.value.set_files(picture)
    it.ask("What is this?")

    expect(it.log.get_by_text("A cat.")).to_be_visible()
    asked, _ = it.chat.get_turns()
    assert asked.contents == (ec.ContentText("What is this?"), CAT)
    live = shape(it)
    it.reload("A cat.")
    assert shape(it) == live


# stopped, torn, refused -------------------------------------------------------------------------------------


def test_stopping_keeps_what_was_received(talk):
    story = Answer((Say("Once upon a time", ("Once ", "upon ", "a ", "time")),))
    it = talk([Delivery(story, after=900, ending="stall"), Answer((Say("Fine."),))])

    it.say("A story")
    expect(it.log.get_by_text("Once")).to_be_visible()
    it.stop.click()
    it.settled()

    expect(it.log.get_by_text("[cancelled]")).to_be_visible()
    partial = it.chat.last_turn()
    assert isinstance(partial, ec.AssistantPartialTurn)
    assert partial.text.startswith("Once")
    it.ask("Go on")
    expect(it.log.get_by_text("Fine.")).to_be_visible()
    live = shape(it)
    it.reload("Fine.")
    assert shape(it) == live


def test_stopping_while_a_tool_runs(talk):
    slow = Slow()
    it = talk([calls(Call("search_flights", {}), Call("get_current_time", {})), Answer((Say("Fine."),))],
              slow.tool, get_current_time)  # fmt: skip
    it.say("Flights?")
    expect(it.card("Search flights")).to_contain_text("asked 1")
    it.stop.click()
    slow.steps.release(3)
    it.settled()
    it.ask("Go on")

    expect(it.log.get_by_text("Fine.")).to_be_visible()
    assert "3 flights" in told(it)
    live = shape(it)
    it.reload("Fine.")
    assert shape(it) == live


@pytest.mark.filterwarnings("ignore:.*Overloaded")  # shiny's, of what the page was told
def test_an_error_of_the_provider_is_shown(talk):
    it = talk([Failure("overloaded"), Answer((Say("Fine."),))])
    it.say("Hi")

    expect(it.page.get_by_text("The provider is overloaded")).to_be_visible()
    assert it.chat.get_turns() == []
    it.ask("Hi again")
    expect(it.log.get_by_text("Fine.")).to_be_visible()


# shown again ------------------------------------------------------------------------------------------------


def shape(talk):
    """Returns the page's accessibility tree and its visible text. The duration of a thought varies."""
    texts = [talk.log.aria_snapshot(), talk.log.inner_text()]
    return [re.sub("Thought for [a-z0-9 ]+|Thinking", "Thought", text) for text in texts]


def dressed(talk):
    """Waits for the buttons that the page adds last."""
    for name in ("Regenerate answer", "Enlarge Paint"):
        expect(talk.log.get_by_role("button", name=name)).to_be_attached()


def test_a_reload_restores_what_was_there_live(talk):
    steps = [
        Answer((Think("Three things to do."), Say("I **look**."), Call("get_weather", {"city": "Köln"}),
                Call("paint", {}), Call("print_report", {}))),
        calls(Call("check_in", {}), say="Then:"),
        calls(Call("get_current_time", {}), Call("get_current_time", {}), say="Twice:"),
        Answer((Say("All done."),)),
    ]  # fmt: skip
    it = talk(steps, get_weather, paint, print_report, check_in, get_current_time)
    it.ask("Do <b>all</b> of *this*")
    expect(it.log.get_by_text("All done.")).to_be_visible()
    dressed(it)
    live = shape(it)

    it.reload("All done.")
    dressed(it)
    assert shape(it) == live
    assert '- button "Thought"' in live[0]
    it.log.get_by_role("button", name="Thinking").click()
    expect(it.log.get_by_text("Three things to do.")).to_be_visible()


def test_a_chat_that_was_recorded_looks_the_same(talk):
    steps = [calls(Call("get_weather", {"city": "Köln"}), Call("paint", {})), Answer((Say("Nice."),))]
    it = talk(steps, get_weather, paint)
    it.ask("Go")
    dressed(it)
    live = shape(it)

    it.chat.restore(json.loads(json.dumps(it.chat.record())))
    it.reload("Nice.")
    dressed(it)
    assert shape(it) == live


def test_a_reload_while_a_tool_runs(talk):
    slow = Slow()
    it = talk([calls(Call("search_flights", {})), Answer((Say("Fine."),))], slow.tool)
    it.say("Flights?")
    expect(it.card("Search flights")).to_contain_text("asked 1")
    it.page.reload()
    expect(it.page.get_by_role("textbox", name="Chat message")).to_be_visible()
    slow.steps.release(3)

    expect(it.card("Search flights")).to_be_visible()
    expect(it.log.get_by_text("Fine.")).to_be_visible()
    it.settled()  # the page takes no message before the answer has ended
    it.ask("Go on")
    expect(it.log.get_by_text("Fine.")).to_have_count(2)
    expect(it.log).not_to_contain_text("failed")
    assert told(it) == ["3 flights"]


def test_a_page_that_is_loaded_again_joins_in_the_answer(talk):
    slow = Slow()
    it = talk([calls(Call("search_flights", {})), Answer((Say("Three."),))], slow.tool)
    it.say("Flights?")
    expect(it.card("Search flights")).to_contain_text("asked 1")
    it.page.reload()
    expect(it.card("Search flights")).to_be_visible()
    slow.steps.release(3)

    expect(it.log.get_by_text("Three.")).to_be_visible()
    assert [turn.role for turn in it.chat.get_turns()] == ["user", "assistant"] * 2


def test_an_answer_that_nobody_returns_to_ends_and_is_kept(talk, monkeypatch):
    monkeypatch.setattr("ellmer_core.live.shared_conversation.REJOIN", 0.0)
    story = Answer((Say("Once upon a time", ("Once ", "upon ", "a ", "time")),))
    it = talk([Delivery(story, after=900, ending="stall"), Answer((Say("Fine."),))])
    it.say("A story")
    expect(it.log.get_by_text("Once")).to_be_visible()
    it.page.reload()

    expect(it.log.get_by_text("Once")).to_be_visible()
    expect(it.log.get_by_text("[interrupted]")).to_be_visible()
    it.ask("Go on")
    expect(it.log.get_by_text("Fine.")).to_be_visible()


HOSTILE = (
    "<style>* { display: none }</style> <img src=x onerror=alert(1)> <title> <div>, `<div>`, <b>bold</b>"
)


def test_markup_of_the_model_is_text_live_and_restored(talk):
    said = Delivery(Answer((Think(HOSTILE), Say(f"{HOSTILE}\n\nThe end."))), slices=(3,))
    app = talk([said])
    shown = app.log.get_by_text(HOSTILE.replace("`", "").replace("<b>bold</b>", "bold"))
    app.ask(HOSTILE)
    live = app.log.inner_html()

    expect(shown.last).to_be_visible()
    expect(app.log.locator("code", has_text="<div>")).to_have_count(2)
    expect(app.log.locator("b")).to_have_text(["bold", "bold"])
    assert "<style>" not in live
    assert "<img" not in live
    app.reload("The end.")
    expect(shown.last).to_be_visible()
    expect(app.log.locator("b")).to_have_text(["bold", "bold"])


@pytest.mark.parametrize(
    "text",
    ["word" * 200, f"https://example.com/{'path/' * 80}", f"| {'column | ' * 40}\n|{'---|' * 40}\n| 1 |"],
    ids=["a word", "an address", "a table"],
)
def test_nothing_makes_the_conversation_wider_than_a_phone(talk, text):
    app = talk([Answer((Say(text),))])
    app.page.set_viewport_size({"width": 390, "height": 844})
    app.ask("All of it.")

    assert app.log.evaluate("log => log.closest('.shiny-chat-messages').scrollWidth") <= 390


def test_calls_of_one_id_in_several_answers_are_told_apart(talk):
    """Some servers restart their ids with each answer."""
    weather = [Call("get_weather", {"city": city}, id="toolu_0") for city in ("Duluth", "Köln", "Bonn")]
    steps = [calls(weather[0]), calls(weather[1], say="And:"), Answer((Say("Mild."),)), calls(weather[2]),
             Answer((Say("Warm."),))]  # fmt: skip
    it = talk(steps, get_weather)
    it.ask("Duluth and Köln?")
    expect(it.log.get_by_text("Mild.")).to_be_visible()
    it.ask("Bonn?")
    expect(it.log.get_by_text("Warm.")).to_be_visible()
    for city in ("Duluth", "Köln", "Bonn"):
        card = it.card(f"Get weather in {city}")
        card.click()
        expect(it.log.get_by_text(re.compile(f'"city": "{city}",\\s+"celsius"'))).to_be_visible()
        card.click()
    live = shape(it)

    it.reload("Warm.")
    assert shape(it) == live
