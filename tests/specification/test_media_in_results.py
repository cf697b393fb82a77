"""ellmer's pull request 735, "tools that return image or PDF content types", sentence by sentence.

`moving.md` lists where this library differs.
"""

import json
import sys
import warnings
from pathlib import Path

import pytest

import ellmer_core as ec
from ellmer_core import (
    AssistantTurn,
    ContentImageInline,
    ContentPDF,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ToolResultError,
    UserTurn,
    check_tool_result,
    content_image_file,
    contents_markdown,
    tool,
    type_integer,
)
from ellmer_core.testing import ScriptedModel, run_tool, tool_call
from ellmer_core.tools.results import flatten, split

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.grid import Cell, places
from sweep.judge import _chat, request_of
from sweep.values import PNG

CAT = ContentImageInline("image/png", PNG)
PAPER = ContentPDF("application/pdf", "JVBERi0xLjQ=", "cat.pdf")
CALL = ContentToolRequest("call_1", "get_cat_image", {"n_images": 2})
TAG, END = ContentText('<content tool-call-id="call_1">'), ContentText("</content>")


def flat(value: object) -> list[ec.Content]:
    return flatten([ContentToolResult(value, request=CALL)])


def item(number: int) -> ContentText:
    return ContentText(f'<content tool-call-id="call_1" item="{number}">')


# --- the form --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [CAT, PAPER, ec.ContentImageRemote("https://placecats.com/200/200")])
def test_an_image_or_a_pdf_alone_follows_its_result(content):
    result, *more = flat(content)
    assert result.value == "[see below]"
    assert more == [TAG, content, END]


def test_those_of_a_list_are_numbered_from_one():
    result, *more = flat([CAT, PAPER])
    assert result.value == ["[see below: item 1]", "[see below: item 2]"]
    assert more == [item(1), CAT, END, item(2), PAPER, END]


def test_other_items_keep_their_value_and_count():
    result, *more = flat([CAT, "not an image", CAT])
    assert result.value == ["[see below: item 1]", "not an image", "[see below: item 3]"]
    assert more == [item(1), CAT, END, item(3), CAT, END]


def test_a_list_of_one_is_a_list():
    assert flat([CAT])[0].value == ["[see below: item 1]"]


@pytest.mark.parametrize("value", ["text", 5, None, [], ["a", 1], {"a": [1]}, ContentText("a")])
def test_values_without_media_stay(value):
    assert flat(value) == [ContentToolResult(value, request=CALL)]


def test_a_turn_without_results_stays():
    assert flatten([ContentText("Hi"), CAT]) == [ContentText("Hi"), CAT]


def test_results_and_other_contents_are_separate_lists():
    """The review asks for two functions: one that flattens, and one that splits."""
    result = ContentToolResult("a", request=CALL)
    assert split([ContentText("Hi"), result, CAT]) == ([result], [ContentText("Hi"), CAT])


def test_each_result_names_its_own_call():
    other = ContentToolRequest("call_2", "get_cat_image", {})
    both = flatten([ContentToolResult(CAT, request=CALL), ContentToolResult(CAT, request=other)])
    assert TAG in both
    assert ContentText('<content tool-call-id="call_2">') in both


# --- on the wire -----------------------------------------------------------------------------------------


def sent(provider, contents) -> str:
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    chat.set_turns([UserTurn("A cat, please."), AssistantTurn([CALL]), UserTurn(contents)])
    with warnings.catch_warnings(action="ignore"):
        return request_of(chat).body.decode()


@pytest.mark.parametrize("provider", places(), ids=lambda provider: provider.name)
def test_the_result_comes_first_and_the_medium_after_it(provider):
    body = sent(provider, [ContentText("Is it cute?"), ContentToolResult([CAT, "and", CAT], request=CALL)])
    if "cannot be shown" in body:  # the model of this provider sees no images
        assert PNG not in body
        assert body.index("cannot be shown") < body.index("Is it cute?")
        return
    assert body.count(PNG) == 2
    assert body.index("[see below: item 1]") < body.index("<content tool-call-id=") < body.index(PNG)
    assert body.index("[see below: item 1]") < body.index("Is it cute?")
    assert 'item=\\"1\\"' in body
    assert 'item=\\"3\\"' in body


def messages(provider_name: str) -> list[dict]:
    provider = next(p for p in places() if p.name == provider_name)
    body = json.loads(sent(provider, [ContentText("Is it cute?"), ContentToolResult(CAT, request=CALL)]))
    return body.get("messages") or body["input"]


@pytest.mark.parametrize(
    "name", ["openai_completions", "deepseek", "ollama", "databricks", "openai_compatible"]
)
def test_a_result_is_a_message_of_its_own_right_after_the_call(name):
    roles = [message["role"] for message in messages(name)]
    after = roles.index("assistant") + 1
    assert roles[after : after + 2] == ["tool", "user"]


def test_openais_responses_have_the_output_right_after_the_call():
    kinds = [each.get("type", "message") for each in messages("openai")]
    after = kinds.index("function_call") + 1
    assert kinds[after : after + 2] == ["function_call_output", "message"]


def test_claudes_message_has_the_result_before_the_words():
    blocks = [block["type"] for block in messages("anthropic")[2]["content"]]
    assert blocks[0] == "tool_result"
    assert set(blocks[1:]) == {"text", "image"}


def test_a_list_is_sent_as_json():
    provider = next(p for p in places() if p.name == "openai_completions")
    body = json.loads(sent(provider, [ContentToolResult([CAT, CAT], request=CALL)]))
    result = next(m for m in body["messages"] if m["role"] == "tool")
    assert result["content"] == '["[see below: item 1]","[see below: item 2]"]'


# --- the example -----------------------------------------------------------------------------------------


@pytest.fixture
def chat(tmp_path):
    from PIL import Image

    Image.new("RGB", (20, 20)).save(tmp_path / "cat.jpg")

    def cats(n_images: int = 1):
        found = [content_image_file(tmp_path / "cat.jpg", resize="none") for _ in range(n_images)]
        return found[0] if n_images == 1 else found

    model = ScriptedModel(
        tool_call("get_cat_image", n_images=1),
        "It looks curious.",
        tool_call("get_cat_image", n_images=2),
        "Both are calm.",
    )
    chat = model.chat(echo="none")
    chat.register_tool(
        tool(
            cats,
            name="get_cat_image",
            description="Gets a random cat image.",
            arguments={"n_images": type_integer("Number of cat images to get at once.", required=False)},
        )
    )
    chat.chat("Get a random cat image and describe what the cat is feeling.")
    chat.chat("Get 2 random cat images and describe what the cats are feeling.")
    return chat


def test_the_printed_chat_is_that_of_the_page(chat):
    first, *lines = str(chat).splitlines()
    assert first.startswith("<Chat Scripted/scripted turns=8 tokens=40/20")
    assert [line for line in lines if not line.startswith("── ")] == [
        "Get a random cat image and describe what the cat is feeling.",
        "[tool request (call_1)]: get_cat_image(n_images = 1)",
        "[tool result  (call_1)]: [see below]",
        '<content tool-call-id="call_1">',
        "[inline image]",
        "</content>",
        "It looks curious.",
        "Get 2 random cat images and describe what the cats are feeling.",
        "[tool request (call_2)]: get_cat_image(n_images = 2)",
        '[tool result  (call_2)]: ["[see below: item 1]","[see below: item 2]"]',
        '<content tool-call-id="call_2" item="1">',
        "[inline image]",
        "</content>",
        '<content tool-call-id="call_2" item="2">',
        "[inline image]",
        "</content>",
        "Both are calm.",
    ]


def test_the_rules_have_the_role_and_80_columns(chat):
    rules = [line for line in str(chat).splitlines() if line.startswith("── ")]
    assert [rule.split()[1] for rule in rules] == ["user", "assistant"] * 4
    assert {len(rule) for rule in rules} == {80}


def test_the_counts_of_the_page():
    """Input and output of the four answers of the page; its negative counts are no counts here."""
    used = [(149, 281), (368, 624), (495, 346), (814, 691)]
    turns: list[ec.Turn] = []
    for taken, made in used:
        turns += [UserTurn("a"), AssistantTurn("b", tokens=ec.Tokens(input=taken, output=made), cost=0.0001)]
    chat = ScriptedModel().chat()
    chat.set_turns(turns)
    first, *lines = str(chat).splitlines()
    assert first == "<Chat Scripted/scripted turns=8 tokens=1826/1942 $0.00>"
    labels = [" ".join(line.split()[1:-1]) for line in lines if line.startswith("── ")]
    assert labels == [
        "user [149]",
        "assistant [281]",
        "user",
        "assistant [624]",
        "user",
        "assistant [346]",
        "user",
        "assistant [691]",
    ]


@pytest.mark.parametrize("turn", [2, 6])
def test_the_images_of_a_turn_are_markdown(chat, turn):
    text = contents_markdown(chat.get_turns()[turn])
    assert text.count("![](data:image/jpeg;base64,") == {2: 1, 6: 2}[turn]
    assert "<content" not in text


def test_people_do_not_see_the_tags(chat):
    assert "<content" not in str(ec.contents_html(chat))
    assert "&lt;content" not in str(ec.contents_html(chat))


def test_the_tags_are_not_in_the_app_either(chat):
    pytest.importorskip("shinychat")
    assert "content tool-call-id" not in str([message.segments for message in ec.contents_shinychat(chat)])


@pytest.mark.parametrize(
    "name", ["openai/gpt-5-nano", "anthropic", "google_gemini", "deepseek", "ollama/mistral-small3.2"]
)
def test_a_chat_is_found_by_the_name_of_its_provider(name, monkeypatch):
    for key in ("OPENAI", "ANTHROPIC", "GEMINI", "DEEPSEEK"):
        monkeypatch.setenv(f"{key}_API_KEY", "k")
    chat = ec.chat(name, echo="none")
    _, _, model = name.partition("/")
    assert chat.get_model() == (model or chat.wire.default_model)


def test_the_model_that_was_not_named_is_announced(capsys):
    chat = ec.chat_openai(api_key="k")
    assert capsys.readouterr().err == f'Using model = "{chat.get_model()}".\n'


def test_an_answer_whose_tool_gave_an_image_is_printed_while_it_runs(capsys):
    model = ScriptedModel(tool_call("look"), "A cat.")
    talk = model.chat(echo="all")
    talk.register_tool(tool(lambda: CAT, name="look", description="Looks."))
    talk.chat("Go")
    shown = capsys.readouterr().out
    assert '> <content tool-call-id="call_1">\n> [inline image]\n> </content>' in shown


# --- what a tool may return ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["text", CAT, PAPER, ContentText("a"), [CAT, ContentText("a")], ["a", CAT]])
def test_a_tool_may_return_a_string_a_content_or_a_list_of_contents(value):
    assert check_tool_result("look", value) == value


def test_a_result_that_is_no_json_is_an_informative_error_and_the_chat_goes_on():
    with pytest.raises(
        ToolResultError,
        match=r"`look` returned a value that cannot be sent to a model: `value\[0\]` is object",
    ):
        check_tool_result("look", [object()])
    result = run_tool(tool(lambda: iter(""), name="look", description="Looks."), {})
    assert isinstance(result.error, ToolResultError)


def test_a_value_that_is_no_json_can_still_be_printed():
    assert "[tool result  (call_1)]" in str(ContentToolResult(object(), request=CALL))
    assert "[tool result  (call_1)]" in str(ContentToolResult([CAT, object()], request=CALL))


def test_a_tool_is_matched_when_its_turn_comes():
    model = ScriptedModel(tool_call("look"), "A cat.")
    talk = model.chat()
    talk.register_tool(tool(lambda: CAT, name="look", description="Looks."))
    talk.chat("Go")
    assert talk.get_turns()[1].contents[0].tool is talk.get_tools()["look"]


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "openai-chat", "openai-responses"])
def test_a_cassette_has_a_tool_that_returned_an_image(wire):
    recorded = [path.read_text("utf-8") for path in Path("cassettes", wire).rglob("*.json")]
    assert any("[see below]" in text and "<content tool-call-id=" in text for text in recorded)
