"""`ellmer-demo` for a newcomer: the tour with mouse and keyboard, in light and dark mode, with a screen reader."""

import re
import shutil
import subprocess

import pytest
from playwright.sync_api import expect

#: What the model suggests, and the last words of its answer.
SCENES = (
    ("What is the weather in Duluth, MN and in Köln?", "in Köln."),
    ("Paint a sunset", "sinks into the sea."),
    ("Find me a flight to Lisbon", "the cheapest."),
    ("Print the report", "I am afraid."),
    ("Then show it to me", "That was the tour."),
)


@pytest.fixture
def demo():
    program = subprocess.Popen(
        [shutil.which("ellmer-demo"), "--no-launch"], stdout=subprocess.PIPE, text=True
    )
    yield re.search(r"http://127\.0\.0\.1:\d+", program.stdout.readline()).group()
    program.terminate()
    program.wait()
    program.stdout.close()


@pytest.fixture
def touring(page, demo):
    page.goto(demo)
    expect(page.get_by_role("heading", name="A chat that needs no key")).to_be_visible()
    return page


def tour(page, choose):
    """Follows each suggestion in turn, with `choose(suggestion)`."""
    for suggestion, last_words in SCENES:
        choose(page.get_by_role("button", name=f"Use chat suggestion: {suggestion}"))
        expect(page.get_by_role("log")).to_contain_text(last_words)
        expect(page.get_by_role("button", name="Send message")).to_be_visible()


def test_the_tour(touring, axe, picture):
    assert axe(touring) == {}
    tour(touring, lambda suggestion: suggestion.click())

    log = touring.get_by_role("log")
    for card in ("Get weather in Duluth, MN", "Get weather in Köln", "Paint a picture", "Print the report failed",
                 "Find the report"):  # fmt: skip
        there = log.get_by_role("button", name=card).and_(log.locator(":not(.ellmer-enlarge)"))
        expect(there).to_be_visible()
    flights = log.get_by_role("region", name="Flights to Lisbon")
    expect(flights.get_by_role("row", name="19:05 96 EUR")).to_be_visible()
    expect(log.get_by_role("img", name="Paint a picture")).to_be_visible()
    expect(log.get_by_role("link", name="report.pdf")).to_be_visible()
    assert axe(touring) == {}

    touring.set_viewport_size({"width": 820, "height": 1120})
    log.get_by_role("button", name="Get weather in Köln").click()
    log.locator(".content-type-text").first.scroll_into_view_if_needed()
    picture(touring, "ui-app.png")
    log.get_by_role("button", name="Print the report failed").click()
    log.get_by_text("on fire").scroll_into_view_if_needed()
    picture(touring, "ui-cards.png")


def test_the_tour_by_keyboard_in_the_dark(touring, axe):
    touring.get_by_role("button", name="Switch from light to dark mode").press("Enter")
    tour(touring, lambda suggestion: suggestion.press("Enter"))

    card = touring.get_by_role("button", name="Print the report failed")
    card.press("Enter")
    expect(card).to_have_attribute("aria-expanded", "true")
    expect(touring.get_by_role("region", name="Print the report")).to_contain_text("on fire")
    card.press("Space")
    expect(card).to_have_attribute("aria-expanded", "false")
    assert axe(touring) == {}


def test_from_the_message_tab_leads_to_the_tool_calls(touring):
    tour(touring, lambda suggestion: suggestion.click())
    touring.get_by_role("textbox", name="Chat message").focus()
    reached = set()
    for _ in range(40):
        touring.keyboard.press("Shift+Tab")
        reached.add(touring.evaluate("document.activeElement.innerText").strip())

    assert any("Get weather in Duluth, MN" in text for text in reached)
    assert any("Flights to Lisbon" in text for text in reached)
