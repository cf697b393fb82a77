"""Conversations that are kept: a restart, a list of them, versions, choices, thumbs; and users who never meet."""

import re
from contextlib import contextmanager
from http.cookies import SimpleCookie

import pytest
from playwright.sync_api import expect

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Say, Script
from ellmer_conformance.server.strict_server import StrictServer


@pytest.fixture
def model():
    """`model(n)` returns a chat whose model gives n different answers."""
    servers = []

    def chat(count, *, model="claude-sonnet-5"):
        steps = [Answer((Say(f"Answer {n}."),)) for n in range(count)]
        servers.append(StrictServer({"talk": Script(steps)}))
        url = servers[-1].__enter__().url("talk", "1")
        return ec.chat_anthropic(base_url=f"{url}/v1", api_key="none", model=model, echo="none", max_tries=1)

    yield chat
    for server in servers:
        server.__exit__(None, None, None)


@pytest.fixture
def checked(axe, picture):
    """`checked(page, name)` finds no accessibility problem in light and dark, and takes a picture for the docs."""

    def check(page, name):
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            assert axe(page) == {}
        picture(page, name)

    return check


def say(page, text):
    page.get_by_role("textbox", name="Chat message").fill(text)
    page.keyboard.press("Enter")


def shows(page, text):
    expect(page.get_by_role("log").get_by_text(text)).to_be_visible()
    expect(page.get_by_role("button", name="Send message")).to_be_visible()


def test_conversations_survive_a_restart_and_are_found_renamed_deleted_and_brought_back(
    page, server_of, model, checked, tmp_path
):
    page.set_viewport_size({"width": 1300, "height": 800})
    chat = model(2)
    with server_of(ec.chat_app(chat, store=tmp_path)) as address:
        page.goto(address)
        expect(page.get_by_role("textbox", name="Chat message")).to_be_focused()
        say(page, "About rye")
        shows(page, "Answer 0.")
        page.get_by_role("button", name="New chat").click()
        expect(page.get_by_text("Answer 0.")).to_have_count(0)
        say(page, "About wheat")
        shows(page, "Answer 1.")
    lost = page.get_by_text("The connection to the chat is lost.")
    expect(lost).to_be_visible()
    with server_of(ec.chat_app(model(1), store=tmp_path), port=int(address.rpartition(":")[2])):
        expect(lost).to_have_count(0)
        shows(page, "Answer 1.")
        earlier = page.get_by_role("region", name="Conversations")
        expect(earlier.get_by_role("button", name=re.compile("^Open"))).to_have_count(2)
        earlier.get_by_role("searchbox").fill("ANSWER 0")
        expect(earlier.get_by_role("button", name=re.compile("^Open"))).to_have_count(1)
        earlier.get_by_role("button", name="Open About rye").click()
        shows(page, "Answer 0.")
        checked(page, "ui-conversations.png")
        earlier.get_by_role("button", name="Rename About rye").click()
        page.keyboard.type("Cereals")
        page.keyboard.press("Enter")
        earlier.get_by_role("searchbox").fill("")
        earlier.get_by_role("button", name="Delete Cereals").click()
        expect(page.get_by_text("Answer 0.")).to_have_count(0)
        earlier.get_by_role("button", name="Bring back Cereals").click()
        earlier.get_by_role("button", name="Open Cereals").click()
        shows(page, "Answer 0.")
        with page.expect_download() as download:
            earlier.get_by_role("button", name="Download this conversation").click()
        assert download.value.suggested_filename == "Cereals.html"
        assert "Answer 0." in download.value.path().read_text(encoding="utf-8")
        (tmp_path / "conversations.sqlite").write_bytes(b"x" * 9000)
        say(page, "And now?")
        expect(page.get_by_text("This conversation is not being saved.")).to_be_visible()
        page.close()


def test_versions_choices_and_thumbs(page, served, model, checked):
    chat, rated = model(4), []
    options = {
        "models": ["claude-sonnet-5", "claude-haiku-4-5"],
        "settings": {"max_tokens": [100, 200]},
        "brand": {"name": "Acme", "color": "#ffcc00"},
        "on_feedback": lambda turn, good, user: rated.append((turn.text, good, user)),
    }
    page.goto(served(ec.chat_app(chat, **options)))
    log = page.get_by_role("log")
    expect(page.get_by_role("heading", name="Acme")).to_be_visible()
    say(page, "One")
    shows(page, "Answer 0.")
    say(page, "Two")
    shows(page, "Answer 1.")
    log.get_by_role("button", name="Regenerate answer").first.click()
    shows(page, "Answer 2.")
    expect(log.get_by_text("Answer 1.")).to_have_count(0)
    log.get_by_role("button", name="Edit message").first.click()
    expect(page.get_by_role("textbox", name="Chat message")).to_have_text("One")
    say(page, "Another one")
    shows(page, "Answer 3.")
    expect(log.get_by_text("3/3")).to_be_visible()
    checked(page, "ui-versions.png")
    for _ in range(2):
        log.get_by_role("button", name="Version before").click()
    shows(page, "Answer 1.")
    expect(log.get_by_text("1/3")).to_be_visible()
    log.get_by_role("button", name="Good answer").last.click()
    expect(log.get_by_role("button", name="Good answer").last).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Model").select_option("claude-haiku-4-5")
    page.get_by_label("Max tokens").select_option("200")
    expect(page.locator("#ellmer-status")).to_have_text(re.compile("claude-haiku-4-5"))

    assert rated == [("Answer 1.", True, "")]
    assert chat.get_model() == "claude-haiku-4-5"
    assert chat.get_params() == {"max_tokens": 200}
    assert [turn.text for turn in chat.get_turns()] == ["One", "Answer 0.", "Two", "Answer 1."]


class Proxy:
    """Names the user by a cookie, as a proxy does after a login, whatever the browser claims."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "lifespan":
            headers = [pair for pair in scope["headers"] if pair[0] != b"x-forwarded-user"]
            cookies = SimpleCookie(dict(headers).get(b"cookie", b"").decode())
            if "who" in cookies:
                headers.append((b"x-forwarded-user", cookies["who"].value.encode()))
            scope = {**scope, "headers": headers}
        await self.app(scope, receive, send)


@contextmanager
def visitor(chromium, address, who):
    context = chromium.new_context()
    context.add_cookies([{"name": "who", "value": who, "url": address}])
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def test_ten_users_at_once_see_only_their_own(chromium, served, tmp_path, model):
    app = ec.chat_app(model(1), store=tmp_path, user_header="X-Forwarded-User")
    address = served(Proxy(app))
    stranger = chromium.new_context(extra_http_headers={"X-Forwarded-User": "u0"})
    assert stranger.new_page().goto(address).status == 403
    stranger.close()
    contexts = [visitor(chromium, address, f"u{n}") for n in range(10)]
    pages = [context.__enter__() for context in contexts]
    for n, page in enumerate(pages):
        say(page, f"I am number {n}")
    for n, page in enumerate(pages):
        shows(page, "Answer 0.")
        expect(page.locator(".shiny-chat-user-message")).to_have_count(1)
        expect(page.get_by_role("log")).to_contain_text(f"I am number {n}")
        expect(page.locator("#ellmer-conversations > li")).to_have_count(1)
    for context in contexts:
        context.__exit__(None, None, None)
