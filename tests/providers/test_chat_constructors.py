"""The constructors of a chat: providers by name, options, keys."""

import inspect
from typing import Unpack

import pytest

import ellmer_core as ec
from ellmer_core._chat.chat import Chat
from ellmer_core.base.argument_checks import spell_out
from ellmer_core.contents.turns import UserTurn
from ellmer_core.errors import UsageError
from ellmer_core.providers._construction import Options
from ellmer_core.providers._construction import chat as chat_by_name
from ellmer_core.providers.openai import chat_openai
from ellmer_core.providers.openai_compatible import OpenAICompatible, chat_openai_compatible
from ellmer_core.transport.http_clients import Timeouts

PROVIDERS = {
    "openai": ("OpenAI", "gpt-5.6-terra", "OPENAI_API_KEY", "api.openai.com/v1/responses"),
    "openai_completions": ("OpenAI", "gpt-5.6-terra", "OPENAI_API_KEY", "api.openai.com/v1/chat/completions"),
    "anthropic": ("Anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY", "api.anthropic.com/v1/messages"),
    "google_gemini": (
        "Google/Gemini",
        "gemini-3.5-flash",
        "GOOGLE_API_KEY",
        "generativelanguage.googleapis.com/v1beta/models/gemini-3.5-flash:generateContent",
    ),
    "deepseek": ("DeepSeek", "deepseek-flash", "DEEPSEEK_API_KEY", "api.deepseek.com/chat/completions"),
}
KEYS = {variable for _, _, variable, _ in PROVIDERS.values()} | {"GEMINI_API_KEY"}


@pytest.fixture
def keys(monkeypatch):
    """Sets a different key for every provider."""
    for variable in KEYS:
        monkeypatch.setenv(variable, f"key-of-{variable}")
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch


@pytest.mark.parametrize("name", PROVIDERS)
def test_providers_by_name(keys, capsys, name):
    provider, model, variable, url = PROVIDERS[name]
    chat = chat_by_name(name)
    assert capsys.readouterr().err == f'Using model = "{model}".\n'
    assert repr(chat).startswith(f"<Chat {provider}/{model} turns=0")
    request = chat.wire.request([UserTurn("Hi")])
    assert request.url == f"https://{url}"
    sent = [value for value in request.headers.values() if "key-of-" in value]
    assert [value.split("-")[-1] for value in sent] == [variable]
    assert chat_by_name(f"{name}/some/model").get_model() == "some/model"
    assert capsys.readouterr().err == ""
    for key in KEYS:
        keys.delenv(key)
    with pytest.raises(UsageError, match=variable):
        chat_by_name(name)


def test_a_second_variable_will_do(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "second")
    request = chat_by_name("google_gemini/g").wire.request([UserTurn("Hi")])
    assert "second" in request.headers.values()


def test_an_unknown_provider_lists_the_known_ones():
    with pytest.raises(UsageError, match=r"'susan'.*anthropic, .*openai, openai_compatible"):
        chat_by_name("susan/m")
    with pytest.raises(UsageError, match="no provider"):
        chat_by_name("__init__")


def test_providers_of_other_packages_are_found(tmp_path, monkeypatch):
    info = tmp_path / "acme-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[ellmer_core.providers]\nacme = acme_for_ellmer:chat_acme\n")
    (tmp_path / "acme_for_ellmer.py").write_text(
        "from ellmer_core.providers.openai_compatible import chat_openai_compatible as chat_acme\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    chat = chat_by_name("acme/m", base_url="http://localhost:1")
    assert chat.get_model() == "m"
    with pytest.raises(UsageError, match="acme"):
        chat_by_name("susan")


def test_options_reach_the_request(keys):
    chat = chat_by_name(
        "openai_completions/m",
        "Be terse.",
        params={"temperature": 0.5, "max_tokens": 7},
        api_args={"service_tier": "flex", "max_completion_tokens": 8},
        api_headers={"x-team": "a"},
        base_url="http://localhost:1/v1/",
        api_key=" key ",
        echo="none",
        timeout=3,
        max_tries=5,
        max_tool_rounds=2,
    )
    request = chat.wire.request([UserTurn("Hi")])
    assert request.url == "http://localhost:1/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key"
    assert request.headers["x-team"] == "a"
    assert (request.json["temperature"], request.json["max_completion_tokens"]) == (0.5, 8)
    assert (chat.max_tries, chat.max_tool_rounds) == (5, 2)
    assert chat_by_name("anthropic/m", tool_media="native").wire.tool_media == "native"
    assert chat._connection.timeouts == Timeouts(connect=3, idle=3)


def test_the_base_url_may_come_from_the_environment(keys):
    keys.setenv("OPENAI_BASE_URL", "http://localhost:1")
    assert chat_by_name("openai/m").wire.base_url == "http://localhost:1"
    assert chat_by_name("openai/m", base_url="http://localhost:2").wire.base_url == "http://localhost:2"
    for url in ("http://localhost:1", "http://localhost:1/v1/"):  # Anthropic's own clients add the version
        keys.setenv("ANTHROPIC_BASE_URL", url)
        assert chat_by_name("anthropic/m").wire.base_url == "http://localhost:1/v1"
    keys.setenv("CO_API_URL", "http://localhost:1")
    assert chat_by_name("cohere/m", api_key="k").wire.base_url == "http://localhost:1/v2"


def test_bedrocks_address_and_region_may_come_from_the_environment(keys):
    keys.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://localhost:1")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        keys.delenv(name, raising=False)
    found = chat_by_name("aws_bedrock/m", api_key="k").wire
    assert (found.base_url, found.region) == ("http://localhost:1", "us-east-1")
    keys.setenv("AWS_REGION", "eu-west-3")
    assert chat_by_name("aws_bedrock/m", api_key="k").wire.region == "eu-west-3"
    found = chat_by_name("aws_bedrock/m", api_key="k", base_url="http://localhost:2").wire
    assert (found.base_url, found.region) == ("http://localhost:2", "eu-west-3")


def test_wrong_constructor_options(keys):
    with pytest.raises(TypeError, match=r"`modle=` is not a parameter of chat_openai.*`model=`"):
        chat_openai(modle="x")
    with pytest.raises(UsageError, match="not both"):
        chat_openai(api_key="a", credentials=lambda: "b")
    with pytest.raises(UsageError, match="function"):
        chat_openai(credentials="b", model="m")
    with pytest.raises(UsageError, match="A chat is named"):
        chat_by_name(3)
    with pytest.raises(UsageError, match="base_url"):
        chat_openai_compatible(model="m")
    with pytest.raises(UsageError, match="model="):
        chat_openai_compatible(base_url="http://localhost:1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"credentials": lambda: {"a": "b"}}, "returned a value of type dict"),
        ({"api_key": 5}, "api_key= must be a string, not int"),
        ({"api_key": " "}, "api_key= is blank, but OpenAI needs a key"),
        ({"params": [1]}, "params= must be a dictionary"),
        ({"api_headers": "x"}, "api_headers= must be a dictionary"),
        ({"timeout": "soon"}, "number of seconds"),
        ({"timeout": 0}, "number of seconds"),
        ({"max_tries": 0}, "max_tries= must be a whole number, 1 or more"),
        ({"max_tool_rounds": "3"}, "max_tool_rounds= must be a whole number"),
        ({"tool_media": "inside"}, "tool_media"),
        ({"client": 3}, "client= must be an httpx.Client"),
    ],
)
def test_options_of_a_wrong_kind_say_which(keys, options, words):
    with pytest.raises(UsageError, match=words):
        chat_openai(model="m", **options).wire.headers()


def test_no_other_providers_key_goes_to_a_server_of_somebodys(keys):
    chat = chat_openai_compatible(base_url="http://localhost:1", model="m")
    assert "key-of" not in str(dict(chat.wire.request([UserTurn("Hi")]).headers))


def test_a_server_that_needs_no_key_is_sent_no_blank_one():
    chat = chat_openai_compatible(base_url="http://localhost:1", model="m", api_key="")
    assert "authorization" not in chat.wire.request([UserTurn("Hi")]).headers


def test_the_key_is_read_when_a_request_is_built(keys):
    chat = chat_by_name("openai/m")
    keys.setenv("OPENAI_API_KEY", "rotated")
    assert chat.wire.request([UserTurn("Hi")]).headers["authorization"] == "Bearer rotated"


def test_a_chat_can_be_made_of_a_wire():
    chat = Chat(OpenAICompatible(model="m", base_url="http://localhost:1"), "s", echo="none")
    assert "── system" in str(chat)


def test_help_on_a_constructor_explains_every_option():
    text = ec.chat_together.__doc__
    assert [name for name in Options.__annotations__ if f"\n    {name}: " not in text] == []
    assert "keyword arguments of `Options`" not in text


def test_a_constructor_is_spelled_out_with_the_options_that_are_not_its_own():
    def make(model: str = "m", **options: "Unpack[Options]"):
        """Makes a chat.

        Args:
            model: Its model.
            options: The keyword arguments of `Options`.
        """

    spell_out(make)
    names = [*inspect.signature(make).parameters]

    assert names == ["model", *(name for name in Options.__annotations__ if name != "model")]
    assert [name for name in names if f"    {name}: " not in make.__doc__] == []
    assert "Args:" in make.__doc__.partition("Makes a chat.")[2].partition("model: Its")[0]
    assert "Examples:" not in make.__doc__


JOBS = [name for name in ec.__all__ if name.startswith("parallel_chat")]


@pytest.mark.parametrize("name", ["chat", *JOBS])
def test_help_shows_each_option_of_every_function(name):
    function = getattr(ec, name)
    parameters = inspect.signature(function).parameters
    assert all(each.kind is not each.VAR_KEYWORD for each in parameters.values())
    assert [each for each in parameters if f"    {each}: " not in function.__doc__] == []
    if name in JOBS:
        assert [parameters[each].default for each in ("max_active", "rpm", "on_error")] == [10, 500, "return"]


def test_the_shared_arguments_are_explained():
    assert ec.chat_openai.__doc__.count("\n    usage_limits: ") == 1
