"""A conversation outside the app: the exported page and the notebook show the same cards."""

import pytest
from playwright.sync_api import expect

import ellmer_core as ec

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def call(name, title, value=None, *, error=None, arguments=None, **display):
    """A request and its result."""
    tool = ec.tool(lambda **_: None, name=name, arguments={}, annotations={"title": title, "icon": "🔧"})
    request = ec.ContentToolRequest(f"id of {name}", name, arguments or {}, tool)
    return request, ec.ContentToolResult(value, error, {"display": display} if display else {}, request)


CALLS = [
    call("get_weather", "Get weather in Duluth, MN", {"celsius": 3.2}, arguments={"city": "Duluth, MN"}),
    call("paint", "Paint a picture", ec.ContentImageInline("image/png", PNG)),
    call("search", "Flights to Lisbon", [1, 2], html="<table><tr><th>Price</th></tr><tr><td>96 EUR</td></tr></table>", style="block"),
    call("print_report", "Print the report", error="The printer is on fire."),
    call("find", "Find the report", ec.ContentPDF("application/pdf", "JVBERi0xLjQK", "report.pdf")),
]  # fmt: skip


@pytest.fixture
def chat():
    chat = ec.chat_anthropic(api_key="none", model="m")
    chat.set_turns([
        ec.UserTurn("All of <it>, please."),
        ec.AssistantTurn(["I will.", *(request for request, _ in CALLS)]),
        ec.UserTurn([result for _, result in CALLS]),
        ec.AssistantPartialTurn("Here it", reason="cancelled"),
    ])  # fmt: skip
    return chat


@pytest.fixture
def exported(chat, page, tmp_path):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(ec.export(chat, tmp_path / "chat.html", title="Lisbon & back").as_uri())
    yield page
    assert [url for url in asked if not url.startswith("data:")] == [page.url]  # it holds all it needs


def check_cards(page):
    """Checks that cards are folded or open as in the app, with the right content."""
    weather = page.get_by_text("Get weather in Duluth, MN")
    expect(page.get_by_text('"celsius": 3.2')).to_be_hidden()
    weather.click()
    expect(page.get_by_text('"celsius": 3.2')).to_be_visible()
    expect(page.get_by_text('get_weather(city = "Duluth, MN")')).to_be_visible()
    image = page.get_by_role("img", name="Paint a picture")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.naturalWidth") == 1
    expect(page.get_by_role("columnheader", name="Price")).to_be_visible()
    expect(page.get_by_role("link", name="report.pdf")).to_be_visible()
    expect(page.get_by_text("The printer is on fire.")).to_be_hidden()
    page.get_by_text("Print the report failed").press("Enter")
    expect(page.get_by_text("The printer is on fire.")).to_be_visible()
    expect(page.get_by_text("[cancelled]")).to_be_visible()
    assert "tool-call-id" not in page.content()


def test_an_exported_page(exported, picture):
    expect(exported).to_have_title("Lisbon & back")
    expect(exported.get_by_role("heading", name="Assistant")).to_have_count(1)
    expect(exported.get_by_text("All of <it>, please.")).to_be_visible()
    check_cards(exported)
    picture(exported, "ui-export.png")
    with exported.expect_download() as download:
        exported.get_by_role("link", name="report.pdf").click()
    assert download.value.path().read_bytes() == b"%PDF-1.4\n"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_exported_page_for_everybody(exported, axe, scheme):
    exported.emulate_media(color_scheme=scheme)
    exported.get_by_text("Get weather in Duluth, MN").click()

    assert axe(exported) == {}


WIDE = "| " + " | ".join(f"column {n}" for n in range(40)) + " |\n|" + "---|" * 40 + "\n| 1 |"
ODD = {
    "a word": "word" * 200,
    "code": f"```\n{'x' * 900}\n```",
    "a table": WIDE,
    "addresses": f"<https://example.com/{'path/' * 80}>",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_nothing_is_wider_than_a_phone(text, page, tmp_path, axe):
    request, result = call("query", text[:300], text, arguments={"sql": text})
    chat = ec.chat_anthropic(api_key="none", model="m")
    chat.set_turns([ec.UserTurn(text), ec.AssistantTurn([text, request]), ec.UserTurn([result])])
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(ec.export(chat, tmp_path / "chat.html").as_uri())
    page.locator("summary").click()

    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert axe(page) == {}


def test_arabic_begins_at_the_right(page, tmp_path):
    page.goto(ec.export([ec.UserTurn("مرحبا\n\nHello")], tmp_path / "chat.html").as_uri())
    right_to_left, left_to_right = page.locator("p").all()
    offset = "p => { const r = document.createRange(); r.selectNodeContents(p); return r.getBoundingClientRect().left - p.getBoundingClientRect().left }"

    assert right_to_left.evaluate(offset) > 100
    assert left_to_right.evaluate(offset) == 0


def test_of_a_remote_image_the_address_is_shown(page, tmp_path):
    image = ec.ContentImageRemote("https://example.com/cat.png")
    request, result = call("paint", "Paint a picture", image)
    turns = [ec.UserTurn([image]), ec.AssistantTurn([request]), ec.UserTurn([result])]
    page.goto(ec.export(turns, tmp_path / "chat.html").as_uri())

    expect(page.get_by_role("link", name="https://example.com/cat.png", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Paint a picture: https://example.com/cat.png")).to_be_visible()


def test_a_chat_in_a_notebook(chat, page):
    page.set_content(f"<title>Notebook</title><main>{chat._repr_html_()}</main>")
    frame = page.frames[-1]

    check_cards(frame)
    expect(page.get_by_text("<Turn: user>")).to_be_hidden()
    with page.expect_download() as download:
        frame.get_by_role("link", name="report.pdf").click()
    assert download.value.path().read_bytes() == b"%PDF-1.4\n"


def test_a_frame_in_a_notebook_is_as_high_as_its_page(chat, page):
    page.set_content(chat._repr_html_())
    frame = page.frames[-1]
    higher = "before => document.documentElement.offsetHeight > before + 20 && frameElement.clientHeight === document.documentElement.offsetHeight"
    frame.wait_for_load_state()  # what arrives later changes the height, too
    frame.wait_for_function(higher, arg=0)
    before = frame.evaluate("document.documentElement.offsetHeight")

    frame.get_by_text("Get weather in Duluth, MN").click()

    frame.wait_for_function(higher, arg=before)


def test_a_turn_in_a_notebook(chat, page):
    page.set_content(chat.get_turns()[2]._repr_html_())

    expect(page.frames[-1].get_by_role("img", name="Paint a picture")).to_be_visible()
    expect(page.frames[-1].get_by_text("Print the report failed")).to_be_visible()
