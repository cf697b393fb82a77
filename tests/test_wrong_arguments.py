"""A wrong keyword, and a value of a wrong type, are named in the error of every public function and class."""

import asyncio
import inspect
import re
from pathlib import PurePosixPath

import pytest

import ellmer_core as ec
import ellmer_core.testing
import ellmer_core.web
from ellmer_core.base import argument_checks
from ellmer_core.errors import UsageError

#: These take any name: a dictionary's type, the provider's own parameters, hints of MCP, and properties.
OPEN = {"Options", "ToolResultDisplay", "params", "tool_annotations", "type_object"}
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


class Unprintable:
    def __repr__(self):
        raise ValueError


def public():
    for name in ec.__all__:
        value = getattr(ec, name)
        if callable(value) and name not in OPEN and name.split("_", 1)[-1] not in ELSEWHERE:
            yield name


def called(function, /, *args, **kwargs):
    outcome = function(*args, **kwargs)
    return asyncio.run(outcome) if inspect.iscoroutine(outcome) else outcome


@pytest.mark.parametrize("name", [*public()])
def test_a_wrong_keyword_is_named(name):
    with pytest.raises(TypeError, match=r"`zzz_wrong=` is not a parameter of \w+\(\); "):
        called(getattr(ec, name), zzz_wrong=1)


def others():
    """Yields the methods of every other public class."""
    for kind in (getattr(ec, name) for name in ec.__all__):
        for base in kind.__mro__ if isinstance(kind, type) and not issubclass(kind, ec.Chat) else ():
            if base.__module__.startswith("ellmer_core"):
                fields = getattr(base, "__dataclass_fields__", ())
                yield from (
                    (base, name)
                    for name, method in vars(base).items()
                    if inspect.isfunction(method) and not name.startswith("_") and name not in fields
                )


@pytest.mark.parametrize(("kind", "name"), sorted({*others()}, key=str))
def test_a_wrong_keyword_of_any_method_is_named(kind, name):
    with pytest.raises(TypeError, match=rf"`zzz_wrong=` is not a parameter of {name}\(\); "):
        called(getattr(kind, name), ec.UserTurn("a"), zzz_wrong=1)


def test_what_is_shown_may_be_given_by_name():
    assert ec.contents_markdown(value=ec.ContentText("a")) == "a"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'value'"):
        ec.contents_markdown()


def methods():
    return [
        n
        for base in ec.Chat.__mro__[:2]  # the second is what a chat knows
        for n, m in vars(base).items()
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


# --- every parameter of every public function ------------------------------------------------------------


class Nothing:
    """Its values are of no type that a parameter has."""


#: What a call needs besides the parameter that is tried, by the name of the parameter.
NEEDED = {
    "chat": CHAT, "chats": [CHAT], "prompts": ["a"], "path": "nowhere", "type": ec.type_string(), "function": len, "data": "aGk=",
    "wire": "openai-chat", "request": ec.ContentToolRequest("i", "n"), "values": ["a"], "forms": {}, "approved": True, "turns": [],
    "base_url": "http://127.0.0.1:9", "model": "m", "api_key": "k", "protocol": ellmer_core.web.ag_ui, "find": len,
}  # fmt: skip
NEEDED_BY = {
    "ContentFile": {"type": "text/plain"}, "ContentPDF": {"type": "application/pdf"}, "ContentImageInline": {"type": "image/png"},
    "ContentProviderCall": {"data": {}}, "ContentProviderResult": {"data": {}}, "ContentUnknown": {"data": {}},
    "ContentUploaded": {"type": "image/png"}, "ToolDef": {"arguments": ec.type_object()},
}  # fmt: skip
#: A chat of a retired service is refused before anything else.
RETIRED = {"chat_github"}


def callables():
    for name in ec.__all__:
        value = getattr(ec, name)
        if callable(value) and not (isinstance(value, type) and issubclass(value, dict)):
            yield name, value
    yield from ((name, getattr(CHAT, name)) for name in methods())
    for module in (ellmer_core.testing, ellmer_core.web.ag_ui, ellmer_core.web.vercel):
        functions = vars(module).items()
        yield from (
            (n, f)
            for n, f in functions
            if getattr(f, "__wrapped__", None) and f.__module__ == module.__name__
        )


def parameters(function):
    for each in inspect.signature(function).parameters.values():
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL) and each.annotation not in (
            "Any",
            "D",
            "object",
        ):
            yield each.name


def needed(name, function, tried):
    given = {**NEEDED, **NEEDED_BY.get(name, {})}
    for each in inspect.signature(function).parameters.values():
        chat = name.startswith("chat_") and each.name in {"model", "api_key", "base_url"}
        both = {tried, each.name} == {"api_key", "credentials"}
        left_out = each.default is not each.empty or each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        if each.name != tried and not both and (chat or not left_out):
            yield each, given.get(each.name, "x")


ACCOUNTS = {
    "AWS_REGION": "us-east-1", "AWS_BEARER_TOKEN_BEDROCK": "k", "AZURE_OPENAI_ENDPOINT": "https://a.example",
    "CLOUDFLARE_ACCOUNT_ID": "a", "DATABRICKS_HOST": "https://a.example", "GOOGLE_CLOUD_PROJECT": "p",
    "GOOGLE_CLOUD_LOCATION": "l", "SNOWFLAKE_ACCOUNT": "a-b",
}  # fmt: skip


WITH_PARAMETERS = [
    pytest.param(name, function, id=name)
    for name, function in callables()
    if name not in RETIRED
    and (name == "models_openai" or not name.startswith("models_"))
    and [*parameters(function)]
]


@pytest.mark.parametrize(("name", "function"), WITH_PARAMETERS)
def test_a_wrong_type_of_any_parameter_is_named(name, function, monkeypatch):
    for variable, value in ACCOUNTS.items():
        monkeypatch.setenv(variable, value)
    for tried in parameters(function):
        call_wrongly(name, function, tried)


def call_wrongly(name, function, tried):
    rest = [*needed(name, function, tried)]
    wrong = {tried: Nothing()} | {each.name: value for each, value in rest}
    first = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_ONLY]
    with pytest.raises((ec.UsageError, TypeError), match=rf"\b{tried}\b"):
        called(function, *[wrong.pop(each) for each in first if each in wrong], **wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            lambda: ec.chat_openai(api_key="k", base_url=3),
            "base_url= of chat_openai() must be str or None, not 3 (int).",
        ),
        (lambda: ec.chat_openai(api_key="k", limits="x"), "limits= must be Limits(…), not 'x'."),
        (lambda: ec.chat_openai(api_key="k", usage_limits=3), "usage_limits= must be UsageLimits(…), not 3."),
        (lambda: ec.chat_openai(api_key="k", when_busy=3), 'when_busy= must be "raise" or "wait", not 3.'),
        (
            lambda: ec.chat_openai(api_key="k", ask_before=3),
            "ask_before= must be names, True or a function, not 3.",
        ),
        (lambda: ec.chat_fallback(5), "chats= of chat_fallback() must be a list, not 5 (int)."),
        (lambda: ec.parallel_chat(5, ["a"]), "chat= of parallel_chat() must be Chat, not 5 (int)."),
        (
            lambda: ec.parallel_chat(CHAT, ["a"], rpm="x"),
            "rpm= of parallel_chat() must be float, not 'x' (str).",
        ),
        (
            lambda: ec.parallel_chat(CHAT, ["a"], path=5),
            "path= of parallel_chat() must be str, a path or None, not 5 (int).",
        ),
        (
            lambda: ec.content_pdf_file(None),
            "path= of content_pdf_file() must be str or a path, not None (NoneType).",
        ),
        (lambda: ec.content_image_url(5), "url= of content_image_url() must be str, not 5 (int)."),
        (lambda: ec.tool(len, name=5), "name= of tool() must be str or None, not 5 (int)."),
        (
            lambda: ec.type_from_schema(5),
            "text= of type_from_schema() must be str, a dictionary or None, not 5 (int).",
        ),
        (lambda: ec.UserTurn(5), "contents= of UserTurn() must be str, Content or a list, not 5 (int)."),
        (lambda: ec.AssistantTurn("a", tokens=5), "tokens= must be Tokens(…), not 5."),
        (
            lambda: ec.Timeouts(connect="x"),
            "connect= must be a number of seconds, 0 or more, or None, not 'x'.",
        ),
        (lambda: ec.Limits(answer="x"), "answer= must be a number, 0 or more, or None, not 'x'."),
        (lambda: ec.parallel_chat(CHAT, "hi"), "prompts= of parallel_chat() must be a list, not 'hi' (str)."),
        (
            lambda: ec.parallel_chat_text(CHAT, ["hi", ["a", 5]]),
            "prompts[1] must be a string, a content or a list of them, not 5 (int).",
        ),
        (
            lambda: ec.batch_chat(CHAT, [5], "batch.json"),
            "prompts[0] must be a string, a content or a list of them, not 5 (int).",
        ),
        (
            lambda: CHAT.chat(PurePosixPath("notes.md")),
            "A chat takes strings and contents, not PurePosixPath('notes.md') (PurePosixPath). content_file(path) reads the file.",
        ),
        (lambda: CHAT.chat(Unprintable()), "A chat takes strings and contents, not a Unprintable."),
        (
            lambda: CHAT.set_tools({"len": len}),
            "The tools must be a list, not a dictionary: each has its own name.",
        ),
        (lambda: ec.parallel_chat(CHAT, ["a"], rpm=0), "rpm= must be more than 0, not 0."),
        (lambda: ec.parallel_chat(CHAT, ["a"], max_active=0), "max_active= must be 1 or more, not 0."),
        (
            lambda: ec.refresh_prices("none.json"),
            "none.json is not a table of prices: No such file or directory. See prices.json of this package.",
        ),
        (
            lambda: ec.tool(len, name="size", timeout=0),
            "timeout= must be a number of seconds above 0, not 0.",
        ),
        (lambda: ec.interpolate_file("none.md"), "none.md cannot be read: No such file or directory."),
        (
            lambda: ec.chat_app(CHAT, settings={"temperature": 1}),
            "settings= has a list of values for each parameter; `temperature` has 1.",
        ),
        (lambda: CHAT.set_turns(5), "turns= of set_turns() must be a list, not 5 (int)."),
        (lambda: CHAT.upload(5), "path= of upload() must be str or a path, not 5 (int)."),
    ],
)
def test_a_wrong_type_names_the_parameter(wrong, said):
    with pytest.raises(UsageError) as error:
        wrong()
    assert str(error.value) == said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            lambda: ec.parallel_chat(CHAT, ["a"], 5),
            "parallel_chat() has too many arguments; name them: `chat=`,",
        ),
        (lambda: CHAT.set_model("a", "b", "c"), "set_model() has too many arguments; name them: `model=`"),
        (lambda: ec.Timeouts(1, 2, 3, 4), "Timeouts() has too many arguments; name them: `connect=`"),
        (lambda: ec.StreamController(5), "StreamController() has too many arguments; it takes none."),
        (lambda: ec.tool_context(5, 5), "tool_context() has too many arguments; name them: `deps=`,"),
        (lambda: ec.token_usage(5), "token_usage() has too many arguments; it takes none."),
    ],
)
def test_too_many_arguments_are_said_with_the_names(wrong, said):
    with pytest.raises(TypeError) as error:
        wrong()
    assert str(error.value).startswith(said)


def test_an_error_inside_of_a_function_is_left_alone():
    def add(x):
        return x

    def on_history(turns):
        return add(turns, 1)

    chat = ec.testing.ScriptedModel("Hi").chat()
    chat.on_history(on_history)
    with pytest.raises(TypeError, match=r"add\(\) takes 1 positional argument but 2 were given"):
        chat.chat("Hello")


def test_a_field_of_a_content_is_named():
    with pytest.raises(ec.ContentFieldError, match=r"ContentText.citations is int, not tuple"):
        ec.ContentText("a", citations=5)


def test_an_error_of_the_program_itself_stays():
    """A callback that raises is no wrong argument."""

    def broken(_progress):
        raise ValueError("mine")

    chat = ec.chat_openai(api_key="k", model="m", base_url="http://127.0.0.1:9", max_tries=1)
    with pytest.raises(ValueError, match="mine"):
        ec.parallel_chat(chat, ["a"], progress=broken, max_active=1)


@pytest.mark.parametrize(
    ("give", "said"),
    [
        (lambda: CHAT.on_tool_request(lambda: None), "callback= of on_tool_request() must be a function of one argument, not <lambda>()."),
        (lambda: CHAT.on_history(lambda a, b: a), "callback= of on_history() must be a function of one argument, not <lambda>(a, b)."),
        (lambda: ec.chat_openai(model="m", credentials=lambda key: key), "credentials= of chat_openai() must be a function without arguments or None, not <lambda>(key)."),
        (lambda: ec.parallel_chat(CHAT, [], progress=lambda: 1), "progress= of parallel_chat() must be bool, a function of one argument or None, not <lambda>()."),
        (lambda: setattr(CHAT.fork(), "approve", lambda: True), "approve= must be a function of one argument, "),
    ],
)  # fmt: skip
def test_a_function_that_cannot_be_called_as_it_will_be_is_refused_at_once(give, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        give()


def test_a_function_is_judged_by_how_many_arguments_it_takes():
    """Also the second one, whose type was seen before. One without a signature may take them."""
    for fine in (lambda *_: None, lambda a, b=1: None, print, int, ec.ContentText):
        CHAT.fork().on_tool_request(fine)
    with pytest.raises(UsageError):
        CHAT.fork().on_tool_request(lambda: None)


def test_a_type_that_cannot_be_known_is_not_judged():
    """The annotation names a module that is imported for type checkers only."""

    def given(value: "absent_module.Thing") -> str:  # noqa: F821 - as said above
        return f"{value}"

    assert argument_checks.spelt(given)(5) == "5"


@pytest.mark.parametrize(
    ("make", "wrong", "meant"),
    [
        (ec.chat_azure_openai, "endpont", "endpoint"),
        (ec.chat_aws_bedrock, "regoin", "region"),
        (ec.chat_snowflake, "acount", "account"),
        (ec.chat_google_vertex, "projct", "project"),
    ],
)
def test_what_is_missing_under_a_wrong_name_is_named(make, wrong, meant):
    with pytest.raises(TypeError, match=f"`{wrong}=` is not a parameter of .* did you mean `{meant}=`"):
        make(**{wrong: "x"})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda chat: chat.chat("Hi", temperature=1), "of chat(): give params=params(temperature=…)"),
        (lambda chat: chat.stream("Hi", thinking="low"), "of stream(): give params=params(thinking=…)"),
        (lambda chat: chat.chat("Hi", tools=[]), "of chat(): give the tools to register_tools()"),
        (lambda _: ec.chat_openai(max_tokens=5), "of chat_openai(): give params=params(max_tokens=…)"),
        (lambda _: ec.chat_openai(tools=[]), "of chat_openai(): give the tools to register_tools()"),
        (lambda chat: chat.chat(["a", "b"]), "with a star: chat.chat(*…)"),
        (lambda chat: chat.token_count(), "There is nothing to count"),
        (lambda _: ec.chat("gpt-4.1"), "Write PROVIDER/MODEL, such as openai/gpt-4.1."),
        (lambda _: ec.type_enum(["a", "b"]), "write type_enum(values=…)"),
        (lambda _: ec.type_array(ec.type_string()), "write type_array(items=…)"),
    ],
)
def test_the_error_says_where_it_belongs(call, said):
    chat = ec.chat_openai(model="gpt-4.1", api_key="k")
    with pytest.raises((TypeError, UsageError), match=re.escape(said)):
        call(chat)
