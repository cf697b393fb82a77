"""The chat app after errors, during decisions, and its view of a conversation."""

import re
import threading

import pytest
from playwright.sync_api import expect
from servers.blocks_model import blocks_model

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Delivery, Failure, Say
from ellmer_core.testing import ScriptedModel

gone = []


@ec.tool(annotations=ec.tool_annotations("Delete file", destructive_hint=True))
def delete(path: str) -> str:
    """Deletes a file."""
    gone.append(path)
    return f"{path} is gone"


@ec.tool
def measure(city: str) -> str:
    """Measures."""
    return f"3 degrees in {city}\n" * 60


def other_page(it):
    """A second tab of the same chat."""
    page = it.page.context.new_page()
    page.goto(it.page.url)
    expect(page.get_by_role("textbox", name="Chat message")).to_be_visible()
    return page


def typed(page, text):
    """Returns the user's text on the page."""
    return page.locator(".shiny-chat-user-message .content-type-text", has_text=text)


def said(it):
    return [turn.text for turn in it.chat.get_turns() if turn.role == "user"]


# when things go wrong ---------------------------------------------------------------------------------------


def test_an_error_stands_in_the_conversation_until_a_retry(talk, axe, picture):
    it = talk([Failure("overloaded"), Answer((Say("Fine."),))])
    it.say("Hi")
    trouble = it.log.get_by_role("alert")
    for _ in ("live", "again"):
        expect(trouble).to_contain_text("The provider is overloaded or has a problem. Nothing is lost")
        expect(trouble.get_by_text("The provider says: Overloaded")).to_be_visible()
        expect(trouble.get_by_text("claude-sonnet-5")).not_to_be_visible()
        expect(typed(it.page, "Hi")).to_be_visible()
        assert "Error in Chat" not in it.page.content()
        it.page.reload()
    expect(trouble).to_be_visible()
    assert axe(it.page) == {}
    it.page.set_viewport_size({"width": 760, "height": 420})
    picture(it.page, "ui-trouble.png")
    trouble.get_by_role("button", name="Retry").click()

    expect(it.log.get_by_text("Fine.")).to_be_visible()
    expect(trouble).to_have_count(0)
    assert said(it) == ["Hi"]


def test_a_retry_does_not_run_tools_again(talk):
    gone.clear()
    steps = [Answer((Say("I measure."), Call("remove", {}))), Failure("overloaded"), Answer((Say("Done."),))]
    tool = ec.tool(lambda: gone.append(1) or "ok", name="remove", description="Removes.", arguments={})
    it = talk(steps, tool)
    it.say("Hi")
    it.log.get_by_role("button", name="Retry").click()

    expect(it.log.get_by_text("Done.")).to_be_visible()
    assert gone == [1]


def test_two_tabs_show_one_conversation_that_can_be_undone_edited_and_begun_anew(talk):
    it = talk([Answer((Say(f"Answer {n}."),)) for n in range(4)])
    other = other_page(it)
    it.ask("One")
    it.ask("Two")
    for page in (it.page, other):
        expect(page.get_by_text("Answer 1.")).to_be_visible()
        expect(typed(page, "Two")).to_be_visible()
    other.get_by_role("button", name="Undo").click()
    for page in (it.page, other):
        expect(page.get_by_text("Answer 1.")).to_have_count(0)
        expect(page.get_by_text("Answer 0.")).to_be_visible()
    it.page.get_by_role("button", name="Edit", exact=True).click()
    expect(it.page.get_by_role("textbox", name="Chat message")).to_have_text("One")
    expect(it.log.get_by_text("Answer 0.")).to_have_count(0)
    it.page.keyboard.press("Enter")
    expect(other.get_by_text("Answer 2.")).to_be_visible()
    assert said(it) == ["One"]
    it.settled()
    it.page.get_by_role("button", name="New chat").click()
    expect(other.get_by_text("Answer 2.")).to_have_count(0)
    assert it.chat.get_turns() == []
    other.get_by_role("button", name="Undo").click()
    expect(it.log.get_by_text("Answer 2.")).to_be_visible()
    assert said(it) == ["One"]


#: A page and its server hear of each other when a test says so, and then in the order in which things happened.
LATE_SOCKETS = """
const waiting = [];
let open = false;
const later = (act) => function (event) {
  if (open) act.call(this, event);
  else waiting.push(() => act.call(this, event));
};
window.openSockets = () => {
  open = true;
  waiting.splice(0).forEach((act) => act());
};
window.WebSocket = class extends window.WebSocket {
  set onopen(act) { super.onopen = later(act); }
  set onmessage(act) { super.onmessage = later(act); }
  get readyState() { return open ? super.readyState : WebSocket.CONNECTING; }
};
"""


def test_what_is_sent_before_the_server_listens_is_delivered(page, server_of):
    chat = ScriptedModel("Answer 0.").chat()
    page.add_init_script(LATE_SOCKETS)
    with server_of(ec.chat_app(chat)) as address:
        page.goto(address)
        box = page.get_by_role("textbox", name="Chat message")
        box.fill("Early")
        box.press("Enter")
        expect(box).to_have_text("Early")
        page.evaluate("window.openSockets()")
        expect(page.get_by_text("Answer 0.")).to_be_visible()
        expect(box).to_have_text("")
    assert [turn.text for turn in chat.get_turns()] == ["Early", "Answer 0."]


def test_escape_stops_an_answer(talk):
    story = Answer((Say("Once upon a time", ("Once ", "upon ", "a ", "time")),))
    it = talk([Delivery(story, after=900, ending="stall")])
    it.say("A story")
    expect(it.log.get_by_text("Once")).to_be_visible()
    it.page.keyboard.press("Escape")

    expect(it.log.get_by_text("[cancelled]")).to_be_visible()


def test_a_lost_connection_is_said_and_comes_back_with_what_was_typed(page, server_of):
    chat = ec.chat_anthropic(api_key="none", model="m")
    chat.set_turns([ec.UserTurn("Hi"), ec.AssistantTurn("Fine.")])
    box, lost = (
        page.get_by_role("textbox", name="Chat message"),
        page.get_by_text("The connection to the chat is lost."),
    )
    with server_of(ec.chat_app(chat)) as address:
        page.goto(address)
        box.fill("not sent yet")
    expect(lost).to_be_visible()
    page.keyboard.press("Enter")  # nobody is there to receive it
    expect(box).to_have_text("not sent yet")
    with server_of(ec.chat_app(chat), port=int(address.rpartition(":")[2])):
        expect(lost).to_have_count(0)
        expect(box).to_have_text("not sent yet")
        expect(page.get_by_text("Fine.")).to_be_visible()
        page.close()


BINARY, TEXT = b"\x00\x01\xff", b"words"


def pick(page, files):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach file").click()
    chooser.value.set_files([{"name": n, "mimeType": kind, "buffer": data} for n, kind, data in files])


def bring(page, files, event):
    """Drops files on the input, or pastes them."""
    page.get_by_role("textbox", name="Chat message").evaluate(
        """(box, [event, files]) => {
            const data = new DataTransfer();
            for (const [name, type, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name, { type }));
            const options = { bubbles: true, cancelable: true };
            box.dispatchEvent(event === "drop" ? new DragEvent(event, { ...options, dataTransfer: data }) : new ClipboardEvent(event, { ...options, clipboardData: data }));
        }""",
        [event, [[name, kind, list(data)] for name, kind, data in files]],
    )


@pytest.mark.parametrize("way", ["picked", "drop", "paste"])
def test_a_file_that_cannot_be_sent_is_refused_when_it_is_chosen(talk, way):
    it = talk([Answer((Say("I see."),))])
    files = [
        ("a.txt", "text/plain", BINARY),
        ("b.zip", "application/zip", TEXT),
        ("c.txt", "text/plain", TEXT),
    ]
    pick(it.page, files) if way == "picked" else bring(it.page, files, way)

    refused = it.page.get_by_text("a.txt, b.zip cannot be sent: only images, PDFs and text can.")
    expect(refused).to_be_visible()
    expect(it.page.get_by_role("button", name="Remove c.txt")).to_be_visible()
    expect(it.page.get_by_role("button", name="Remove a.txt")).to_have_count(0)
    assert it.chat.get_turns() == []
    it.ask("What is this?")
    expect(it.log.get_by_text("I see.")).to_be_visible()
    expect(refused).to_have_count(0)
    assert said(it) == ["What is this?c.txt:\n\nwords"]


# deciding ---------------------------------------------------------------------------------------------------


def test_calls_are_approved_edited_and_denied(talk, axe, picture):
    gone.clear()
    steps = [
        Answer((Say("I delete."), *(Call("delete", {"path": path}) for path in "abc"))),
        Answer((Say("So."),)),
    ]
    it = talk(steps, delete)
    it.say("Delete all")
    question = it.log.get_by_role("group", name="Decide: Delete file")
    expect(question).to_be_visible()
    it.page.set_viewport_size({"width": 760, "height": 520})
    picture(it.page, "ui-decide.png")
    question.get_by_role("button", name="Approve").click()
    expect(question.get_by_role("textbox")).to_have_value('{\n  "path": "b"\n}')
    question.get_by_role("textbox").fill("nonsense")
    question.get_by_role("button", name="Approve").click()
    expect(question.get_by_text("This is not a JSON object.")).to_be_visible()
    assert axe(it.page) == {}
    question.get_by_role("textbox").fill('{"path": "d"}')
    question.get_by_role("button", name="Approve").click()
    expect(question.get_by_role("textbox")).to_have_value('{\n  "path": "c"\n}')
    question.get_by_role("button", name="Deny").click()
    expect(it.log.get_by_text("So.")).to_be_visible()

    assert sorted(gone) == ["a", "d"]  # they run at the same time
    it.log.get_by_role("button", name=re.compile("Delete file")).first.click()
    for _ in ("live", "again"):
        for word in ("approved", "edited", "denied"):
            expect(it.log.get_by_text(word, exact=True)).to_be_attached()
        expect(it.log.get_by_text("failed")).to_have_count(0)
        assert axe(it.page) == {}
        it.reload("So.")
        it.log.get_by_role("button", name=re.compile("Delete file")).first.click()
    assert [word in str(it.chat) for word in ("approved]", 'edited to delete(path = "d")]', "denied]")] == [
        True
    ] * 3


def test_a_call_to_decide_takes_the_focus_and_one_chord_approves_it(talk):
    gone.clear()
    it = talk([Answer((Say("I delete."), Call("delete", {"path": "a"}))), Answer((Say("So."),))], delete)
    it.say("Delete it")
    question = it.log.get_by_role("group", name="Decide: Delete file")
    expect(question).to_be_focused()
    expect(question).to_contain_text("This call waits for your approval.")
    expect(question).to_contain_text("It may delete or overwrite something.")
    expect(question).to_contain_text("Deletes a file.")
    it.page.keyboard.press("Control+Enter")
    expect(it.log.get_by_text("So.")).to_be_visible()

    expect(it.page.get_by_role("textbox", name="Chat message")).to_be_focused()
    assert gone == ["a"]


def test_a_call_to_decide_does_not_take_the_focus_from_who_is_typing(talk):
    slow = threading.Event()
    wait = ec.tool(lambda: slow.wait() and "ok", name="wait", description="Waits.", arguments={})
    steps = [Answer((Say("I."), Call("wait", {}))), Answer((Say("I delete."), Call("delete", {"path": "a"})))]
    it = talk(steps, wait, delete)
    it.say("Delete it")
    it.page.get_by_role("textbox", name="Chat message").press_sequentially("And then")
    slow.set()
    expect(it.log.get_by_role("group", name="Decide: Delete file")).to_be_visible()

    expect(it.page.get_by_role("textbox", name="Chat message")).to_be_focused()
    it.page.get_by_role("button", name="Deny").click()


# seeing -----------------------------------------------------------------------------------------------------


def test_what_a_user_pastes_stays_as_it_is(talk):
    code = "# not a heading\n    *args, <b>\n\n\nend"
    it = talk([Answer((Say("I see."),))])
    it.page.get_by_role("textbox", name="Chat message").focus()
    it.page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        code,
    )
    it.page.keyboard.press("Enter")
    expect(it.log.get_by_text("I see.")).to_be_visible()
    for _ in ("live", "again"):
        shown = it.page.locator(".shiny-chat-user-message .content-type-text")
        assert shown.inner_text() == said(it)[0] == code
        it.reload("I see.")


def test_model_tokens_and_cost_are_shown_and_a_message_can_be_copied(talk):
    it = talk([Answer((Say("Fine."),))])
    it.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    it.ask("Hi")
    expect(it.page.locator("#ellmer-status")).to_have_text(
        re.compile(r"claude-sonnet-5 · \d+ tokens in, \d+ out · \$")
    )
    it.log.get_by_role("button", name="Copy message").last.click()
    expect(it.log.get_by_text("Copied")).to_be_visible()

    assert it.page.evaluate("navigator.clipboard.readText()") == "Fine."


def test_calls_of_one_tool_are_told_apart_and_a_tall_result_unfolds(talk):
    cities = ("Köln", "Bonn", "Aachen")
    it = talk(
        [Answer((Say("I look."), *(Call("measure", {"city": c}) for c in cities))), Answer((Say("So."),))],
        measure,
    )
    it.ask("Weather?")
    it.log.get_by_role("button", name=re.compile("Measure")).first.click()
    for city in cities:
        expect(it.log.get_by_role("button", name=re.compile(city))).to_be_visible()
    it.log.get_by_role("button", name=re.compile("Köln")).click()
    tall = it.log.locator(".ellmer-tall")
    expect(tall).to_have_count(1)
    it.log.get_by_role("button", name="Show all").click()

    expect(tall).to_have_count(0)


CODE = """
```python
# a comment
class Point(Base):
    '''A text.'''

    @property
    def size(self) -> int:
        return print(len(f"{self.x}"), None, True, 12, r"a+")
```
```html
<!-- a comment --><a href="x" class="y">text</a>
```
```diff
- old
+ new
```
```markdown
# Title
- [link](https://example.com)
> quote
```
```css
a#id.big:hover { color: #fff; }
```
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_of_code_can_be_read(talk, axe, scheme):
    it = talk([Answer((Say(CODE),))])
    it.page.emulate_media(color_scheme=scheme)
    it.ask("Code?")
    expect(it.log.locator("span[class^=hljs-]").last).to_be_visible()
    kinds = {
        name
        for span in it.log.locator("[class^=hljs-]").all()
        for name in span.get_attribute("class").split()
    }

    assert {
        "hljs-comment",
        "hljs-built_in",
        "hljs-string",
        "hljs-title",
        "hljs-literal",
        "hljs-deletion",
    } <= kinds
    assert axe(it.page) == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_of_a_long_conversation_is_printed_in_dark_on_white(talk, axe, scheme):
    many = [Call("measure", {"city": f"City {n}"}) for n in range(25)]
    it = talk([Answer((Say("I look."), *many)), Answer((Say("So it is. " * 900),))], measure)
    it.page.emulate_media(color_scheme=scheme)
    it.ask("Everywhere?")
    assert axe(it.page) == {}
    it.page.emulate_media(color_scheme=scheme, media="print")

    expect(it.log).to_have_css("color", "rgb(0, 0, 0)")
    for name in ("Chat message", "Undo", "Copy message"):
        expect(it.page.get_by_label(name).or_(it.page.get_by_text(name, exact=True)).first).to_be_hidden()
    assert axe(it.page) == {}
    pages = re.findall(rb"/Type /Page\b", it.page.pdf())
    assert len(pages) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_menu_of_a_phone_holds_what_can_be_done(talk, axe, scheme):
    it = talk([Answer((Say("Fine."),))])
    it.page.emulate_media(color_scheme=scheme)
    it.page.set_viewport_size({"width": 390, "height": 844})
    it.ask("Hi")
    it.page.get_by_role("button", name="Toggle app menu").click()

    for name in ("New chat", "Undo", "Edit"):
        expect(it.page.get_by_role("button", name=name, exact=True)).to_be_visible()
    assert axe(it.page) == {}


def test_the_page_has_an_icon_and_asks_nobody_else(talk):
    it = talk([])

    assert it.page.locator("link[rel=icon]").get_attribute("href").startswith("data:image/svg+xml")


def test_formulas_are_drawn_and_keep_their_backslashes(talk):
    it = talk([Answer((Say(r"The root \(\sqrt{x_1}\) and $$\frac{a}{b}$$ for $5 and $6."),))])
    it.ask("A formula")
    for _ in ("live", "again"):
        expect(it.log.locator("math msqrt msub")).to_be_visible()
        expect(it.log.locator("math[display=block] mfrac")).to_be_visible()
        expect(it.log.get_by_text("for $5 and $6.")).to_be_visible()
        it.reload("for $5 and $6.")


SOURCE = {"type": "web_search_result_location", "encrypted_index": "E", "cited_text": "Rye grows."}
CITED = [
    {"type": "text", "text": "Rye "},
    {
        "type": "text",
        "text": "grows in **Bohemia**",
        "citations": [{**SOURCE, "url": "https://a.test", "title": "Fields"}],
    },
    {"type": "text", "text": ", and "},
    {
        "type": "text",
        "text": "wheat too",
        "citations": [{**SOURCE, "url": url, "title": ""} for url in ("https://b.test", "https://a.test")],
    },
    {"type": "text", "text": "."},
]


def test_citations_are_footnotes(page, served, axe, picture, tmp_path):
    chat = ec.chat_anthropic(
        base_url=f"{served(blocks_model([CITED]))}/v1", api_key="none", model="claude-sonnet-5", echo="none"
    )
    page.goto(served(ec.chat_app(chat)))
    box = page.get_by_role("textbox", name="Chat message")
    box.fill("Where does it grow?")
    box.press("Enter")
    for where in ("live", "again", "exported"):
        for name, url, times in (("1", "https://a.test", 2), ("2", "https://b.test", 1)):
            marks = page.locator("sup").get_by_role("link").filter(has_text=name)
            expect(marks).to_have_count(times)
            expect(marks.first).to_have_attribute("href", re.compile(url))
        expect(page.get_by_text("Rye grows in Bohemia1, and wheat too1 2.")).to_be_visible()
        expect(page.get_by_role("listitem").get_by_role("link", name="Fields")).to_be_visible()
        expect(page.get_by_text("Sources", exact=True)).to_have_count(1)
        assert axe(page) == {}
        if where == "again":
            picture(page.locator(".shiny-chat-message"), "ui-footnotes.png")
        exported = tmp_path / f"{where}.html"
        page.reload() if where == "live" else page.goto(ec.export(chat, exported).as_uri())
