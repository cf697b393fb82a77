"""ellmer's page on content types, sentence by sentence. `moving.md` lists where this library differs."""

import inspect

import pytest

import ellmer_core as ec
from ellmer_core import (
    Content,
    ContentImage,
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.testing import ScriptedModel, run_tool, tool_call

CLASSES = [
    ContentText, ContentImage, ContentImageRemote, ContentImageInline, ContentToolRequest, ContentToolResult,
    ContentThinking, ContentPDF,
]  # fmt: skip


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_inherits_from_content(cls):
    assert issubclass(cls, Content)


def test_the_base_classes_can_be_made():
    assert repr(Content()) == "Content()"
    assert repr(ContentImage()) == "ContentImage()"


def test_both_images_are_images():
    assert issubclass(ContentImageRemote, ContentImage)
    assert issubclass(ContentImageInline, ContentImage)


#: Class: its fields with their defaults, in the order of the page. `...` is required.
FIELDS = {
    ContentText: {"text": ...},
    ContentImageRemote: {"url": ..., "detail": ""},
    ContentImageInline: {"type": ..., "data": ""},  # no data are an empty text here
    ContentToolRequest: {"id": ..., "name": ..., "arguments": {}, "tool": None},
    ContentToolResult: {"value": None, "error": None, "extra": {}, "request": None},
    ContentThinking: {"thinking": ..., "extra": {}},
    ContentPDF: {"type": ..., "data": ...},
}


@pytest.mark.parametrize("cls", FIELDS)
def test_the_fields_have_the_order_and_the_defaults_of_the_page(cls):
    required = ["x" for default in FIELDS[cls].values() if default is ...]
    made = cls(*required)
    assert list(inspect.signature(cls).parameters)[: len(FIELDS[cls])] == list(FIELDS[cls])
    assert {name: getattr(made, name) for name, default in FIELDS[cls].items() if default is not ...} == {
        name: default for name, default in FIELDS[cls].items() if default is not ...
    }


@pytest.mark.parametrize("cls", [cls for cls, fields in FIELDS.items() if ... in fields.values()])
def test_what_is_required_is_required(cls):
    with pytest.raises(TypeError):
        cls()


def test_an_inline_image_may_have_no_data():
    assert ContentImageInline("image/png").data == ""


def test_text_is_a_single_string():
    with pytest.raises(ec.ContentFieldError):
        ContentText(["a", "b"])


def test_text_is_shown_as_it_arrives():
    pieces = list(ScriptedModel("one two three").chat().stream("Go", content="all"))
    assert [type(piece) for piece in pieces] == [ContentText] * 3


def test_a_call_is_shown_whole():
    model = ScriptedModel(tool_call("mean", x=[1]), "Done")
    chat = model.chat()
    chat.register_tool(mean)
    pieces = list(chat.stream("Go", content="all"))
    assert [type(p).__name__ for p in pieces] == ["ContentToolRequest", "ContentToolResult", "ContentText"]


def mean(x: list[int]) -> float:
    """Returns the mean."""
    return sum(x) / len(x)


def test_the_example_of_a_text():
    text = ContentText("Tell me a joke")
    assert (text.text, repr(text)) == ("Tell me a joke", "ContentText(text='Tell me a joke')")


def test_the_example_of_a_remote_image():
    image = ContentImageRemote("https://www.r-project.org/Rlogo.png")
    assert (image.url, image.detail) == ("https://www.r-project.org/Rlogo.png", "")


def test_the_example_of_a_request():
    call = ContentToolRequest(id="abc", name="mean", arguments={"x": [1, 2, 3, 4, 5]})
    assert (call.id, call.name, call.arguments, call.tool) == ("abc", "mean", {"x": [1, 2, 3, 4, 5]}, None)


def test_the_functions_make_the_classes(tmp_path):
    from PIL import Image

    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    assert isinstance(ec.content_image_file(tmp_path / "a.png"), ContentImageInline)
    assert isinstance(ec.content_image_url("https://example.com/a.png"), ContentImageRemote)
    assert isinstance(ec.content_pdf_file(tmp_path / "a.pdf"), ContentPDF)


def test_a_request_is_of_the_assistant_and_a_result_of_the_user():
    chat = ScriptedModel(tool_call("mean", x=[1, 3]), "Two").chat()
    chat.register_tool(mean)
    chat.chat("Go")
    _, asked, answered, _ = chat.get_turns()
    assert (asked.role, type(asked.contents[0])) == ("assistant", ContentToolRequest)
    assert (answered.role, type(answered.contents[0])) == ("user", ContentToolResult)


def test_the_id_associates_a_request_and_a_result():
    chat = ScriptedModel([tool_call("mean", x=[1]), tool_call("mean", x=[3])], "Two").chat()
    chat.register_tool(mean)
    chat.chat("Go")
    _, asked, answered, _ = chat.get_turns()
    assert [c.id for c in asked.contents] == [c.id for c in answered.contents]
    assert len({c.id for c in asked.contents}) == 2


def test_a_request_is_matched_to_the_tools_of_the_chat():
    chat = ScriptedModel([tool_call("mean", x=[1]), tool_call("median", x=[3])], "Two").chat()
    chat.register_tool(mean)
    chat.chat("Go")
    known, unknown = chat.get_turns()[1].contents
    assert known.tool is chat.get_tools()["mean"]
    assert unknown.tool is None


def test_the_result_is_made_from_the_value_that_the_function_returned():
    result = run_tool(mean, {"x": [1, 2]})
    assert (type(result), result.value, result.error, result.extra) == (ContentToolResult, 1.5, None, {})
    assert result.request.name == "mean"


def test_a_tool_may_return_a_result_with_more_data():
    def look() -> ContentToolResult:
        """Looks."""
        return ContentToolResult("a cat", extra={"seen": 1})

    result = run_tool(look, {})
    assert (result.value, result.extra["seen"], result.request.name) == ("a cat", 1, "look")


def test_the_extra_data_are_not_sent():
    def look() -> ContentToolResult:
        """Looks."""
        return ContentToolResult("a cat", extra={"secret": "only for you"})

    model = ScriptedModel(tool_call("look"), "Done")
    chat = model.chat()
    chat.register_tool(look)
    chat.chat("Go")
    assert "only for you" not in str(model.asked)
    assert model.asked[1].results == ["a cat"]


def test_the_error_is_a_message_or_the_exception():
    def fail() -> str:
        """Fails."""
        raise ValueError("it broke")

    failed = run_tool(fail, {})
    assert isinstance(failed.error, ValueError)
    assert failed.value is None
    assert ContentToolResult(error="it broke").error == "it broke"


def test_thinking_has_its_words():
    assert ContentThinking("hm").thinking == "hm"


def test_other_packages_derive_classes_with_methods_of_their_own():
    class Quote(ContentText):
        pass

    @ec.contents_markdown.register(Quote)
    def _(content: Quote) -> str:
        return f"> {content.text}"

    assert ec.contents_markdown(Quote("so")) == "> so"
    model = ScriptedModel("Yes")
    model.chat().chat(Quote("so"))
    assert model.asked[0].text == "so"
