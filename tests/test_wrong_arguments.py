"""A wrong keyword, and a value of a wrong type, are named in the error of every public function and class."""

import asyncio
import inspect

import pytest

import ellmer_core as ec
from ellmer_core.errors import UsageError

#: These take any name: a dictionary's type, the provider's own parameters, hints of MCP, and properties.
OPEN = {"Options", "ToolResultDisplay", "params", "tool_annotations", "type_object"}
#: Nobody makes one: it is what a callback gets.
GIVEN = {"PromptProgress"}
#: They say first what is missing in the environment, or that the service has ended.
ELSEWHERE = {
    "aws_bedrock",
    "azure_openai",
    "cloudflare",
    "databricks",
    "github",
    "google_vertex",
    "snowflake",
}


def public():
    for name in ec.__all__:
        value = getattr(ec, name)
        error = isinstance(value, type) and issubclass(value, BaseException)
        if (
            callable(value)
            and not error
            and name not in OPEN | GIVEN
            and name.split("_", 1)[-1] not in ELSEWHERE
        ):
            yield name


def called(function, *args, **kwargs):
    outcome = function(*args, **kwargs)
    return asyncio.run(outcome) if inspect.iscoroutine(outcome) else outcome


@pytest.mark.parametrize("name", [*public()])
def test_a_wrong_keyword_is_named(name):
    first = (
        ()
        if isinstance(getattr(ec, name), type) or not name.startswith("contents_")
        else (ec.ContentText("a"),)
    )
    with pytest.raises(TypeError, match=r"`zzz_wrong=` is not a parameter of \w+\(\); "):
        called(getattr(ec, name), *first, zzz_wrong=1)


def methods():
    return [
        n
        for n, m in vars(ec.Chat).items()
        if inspect.isfunction(m) and not n.startswith("_") and n != "set_params"
    ]


@pytest.mark.parametrize("name", methods())
def test_a_wrong_keyword_of_a_method_is_named(name):
    chat = ec.chat_openai(model="gpt-4.1", api_key="k")
    with pytest.raises(TypeError, match=rf"`zzz_wrong=` is not a parameter of {name}\(\); "):
        called(getattr(chat, name), zzz_wrong=1)


def test_a_parameter_that_is_nearly_spelt_right_is_no_parameter_of_the_provider():
    chat = ec.chat_openai(model="gpt-4.1", api_key="k")
    with pytest.raises(
        TypeError, match=r"`temprature=` is not a parameter of params.*did you mean `temperature=`"
    ):
        chat.set_params(temprature=1)


CHAT = ec.chat_openai(model="gpt-4.1", api_key="k")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            lambda: ec.chat_openai(api_key="k", base_url=3),
            "base_url= of chat_openai() must be str or None, not 3 (int).",
        ),
        (lambda: ec.chat_openai(api_key="k", limits="x"), "limits= must be Limits(…), not 'x'."),
        (lambda: ec.chat_openai(api_key="k", usage_limits=3), "usage_limits must be UsageLimits(…), not 3."),
        (lambda: ec.chat_openai(api_key="k", when_busy=3), 'when_busy must be "raise" or "wait", not 3.'),
        (
            lambda: ec.chat_openai(api_key="k", ask_before=3),
            "ask_before must be names, True or a function, not 3.",
        ),
        (lambda: ec.chat_fallback(5), "chats= of chat_fallback() must be Sequence, not 5 (int)."),
        (lambda: ec.parallel_chat(5, ["a"]), "chat= of parallel_chat() must be Chat, not 5 (int)."),
        (
            lambda: ec.parallel_chat(CHAT, ["a"], rpm="x"),
            "rpm= of parallel_chat() must be float, not 'x' (str).",
        ),
        (
            lambda: ec.parallel_chat(CHAT, ["a"], path=5),
            "path= of parallel_chat() must be str or a path, not 5 (int).",
        ),
        (
            lambda: ec.content_pdf_file(None),
            "path= of content_pdf_file() must be str or a path, not None (NoneType).",
        ),
        (lambda: ec.content_image_url(5), "url= of content_image_url() must be str, not 5 (int)."),
        (lambda: ec.tool(len, name=5), "name= of tool() must be str or None, not 5 (int)."),
        (
            lambda: ec.type_from_schema(5),
            "text= of type_from_schema() must be str, Mapping or None, not 5 (int).",
        ),
        (lambda: ec.UserTurn(5), "contents= of UserTurn() must be str, Content or Iterable, not 5 (int)."),
        (lambda: ec.AssistantTurn("a", tokens=5), "tokens= must be Tokens(…), not 5."),
        (
            lambda: ec.Timeouts(connect="x"),
            "connect= must be a number of seconds, 0 or more, or None, not 'x'.",
        ),
        (lambda: ec.Limits(answer="x"), "answer= must be a number, 0 or more, or None, not 'x'."),
        (lambda: CHAT.set_turns(5), "turns= of set_turns() must be Iterable, not 5 (int)."),
        (lambda: CHAT.upload(5), "path= of upload() must be str or a path, not 5 (int)."),
    ],
)
def test_a_wrong_type_names_the_parameter(wrong, said):
    with pytest.raises(UsageError) as error:
        wrong()
    assert str(error.value) == said


def test_a_field_of_a_content_is_named():
    with pytest.raises(ec.ContentFieldError, match=r"ContentText.citations is int, not tuple"):
        ec.ContentText("a", citations=5)


def test_an_error_of_the_program_itself_stays():
    """A callback that raises is no wrong argument."""

    def broken(_progress):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        ec.parallel_chat(CHAT, ["a"], progress=broken, max_active=1)


def test_the_error_that_a_wrong_type_led_to_is_its_cause():
    with pytest.raises(ec.UsageError, match="of parallel_chat") as caught:
        ec.parallel_chat(CHAT, ["a"], max_active="x")
    assert caught.value.__cause__ is not None
