"""The reference: every public name says what each parameter means, and its examples run against the strict server."""

import ast
import doctest
import inspect
import json
import os
import re
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Literal, is_typeddict

import httpx
import pytest

import ellmer_core
import ellmer_harness
from ellmer_conformance.scenarios.cases._media_and_tools import RED
from ellmer_conformance.scenarios.script import Answer, Say, Script
from ellmer_conformance.server import StrictServer

ALIAS = (type(Callable[[], None]), type(Literal[0]), type(dict[str, int]))
ADA = Script((Answer((Say('{"name": "Ada Lovelace", "born": 1815}'),)),))
HELLO = Script((Answer((Say("Hello!"),)),))

#: What the model says in the examples that ask for data; in all others it says hello.
GIVES_DATA = {
    "Chat.chat_structured",
    "Chat.stream_structured",
    "Chat.chat_structured_async",
    "Chat.stream_structured_async",
    "parallel_chat_structured",
    "parallel_chat_structured_async",
}

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


#: Modules of the harness whose names its README and the reference show, beside those of the package itself.
HARNESS = (
    "ellmer_harness",
    *(f"ellmer_harness.{name}" for name in ("faults", "recordings", "serving", "store")),
)

#: Modules of the suite whose names an author of adapters, cases or rules uses.
CONFORMANCE = (
    "adapters",
    "adapters.base_adapter",
    *("scenarios.messages", "scenarios.script", "scenarios.case"),
    *("contract.observed.exchange", "contract.rule", "contract.rulebook"),
    *("server", "pytest.suite"),
)

#: The recordings that the harness's examples replay.
WEATHER = {
    "request": {"method": "GET", "uri": "https://api.example.com/weather", "headers": {}, "body": None},
    "response": {
        "status": {"code": 200, "message": "OK"},
        "headers": {"content-type": ["application/json"]},
        "body": {"json": {"temperature": 21}},
    },
}
STREAM = {
    "request": {"method": "GET", "uri": "https://api.example.com/stream", "headers": {}, "body": None},
    "response": {
        "status": {"code": 200, "message": "OK"},
        "headers": {"content-type": ["text/event-stream"]},
        "body": {"sse": [{"data": {"n": 1}}, {"data": {"n": 2}}]},
    },
}


BY_PROVIDER = sorted(ellmer_core._names_by_provider())


def documented(module=ellmer_core):
    """Yields the names of the reference: public names, and the public methods of their classes, by qualified name."""
    for name in module.__all__:
        if name in BY_PROVIDER:
            continue  # they have a form of their own, which is tested below
        value = getattr(module, name)
        if callable(value) and not isinstance(value, ALIAS):
            yield name, value
        if inspect.isclass(value):
            yield from methods(name, value)


def methods(name, cls):
    """Yields the methods of the class and of its private bases."""
    for base in cls.__mro__:
        if base is cls or (base.__module__.startswith("ellmer_core._chat") and name == "Chat"):
            for key, value in vars(base).items():
                function = getattr(value, "__func__", value)
                if not key.startswith("_") and inspect.isfunction(function) and key not in fields(cls):
                    yield f"{name}.{key}", function


def fields(cls):
    """Yields the fields of a dataclass, whose defaults may be functions."""
    return getattr(cls, "__dataclass_fields__", {})


TESTING = import_module("ellmer_core.testing")
OF_CORE = {**dict(documented()), **{f"testing.{name}": value for name, value in documented(TESTING)}}
OF_HARNESS = {
    f"{name.removeprefix('ellmer_')}.{key}": value
    for name in HARNESS
    for key, value in documented(import_module(name))
    if key != "CassetteServer.server_bind"  # the base's
}
OF_CONFORMANCE = {
    f"conformance.{name}.{key}": value
    for name in CONFORMANCE
    for key, value in documented(import_module(f"ellmer_conformance.{name}"))
    if key != "ConformanceSuite.test_conformance"  # pytest calls it
}
DOCUMENTED = OF_CORE | OF_HARNESS | OF_CONFORMANCE


def parameters(value):
    """Yields the parameters by name."""
    if is_typeddict(value):
        return [*value.__annotations__]
    if getattr(value, "_is_protocol", False) or (inspect.isclass(value) and issubclass(value, Enum)):
        return []
    if inspect.isclass(value) and issubclass(value, BaseException) and is_made_by_its_base(value):
        return []
    return [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]


def is_made_by_its_base(value):
    """Tells whether a class is made as its base class is. Errors about wrong keywords wrap what makes it."""
    made, base = (inspect.unwrap(each.__init__) for each in value.__mro__[:2])
    return "__new__" not in vars(value) and (made is base or "__init__" not in vars(value))


def is_explained_by_its_base(value):
    """Tells whether a class has the parameters of a public base class."""
    own = inspect.isclass(value) and is_made_by_its_base(value)
    return own and value.__mro__[1].__name__ in {*ellmer_core.__all__, "Exception"}


def explains_its_parameters(value):
    """Tells whether the section `Args:` has each parameter in order, or the base class explains them."""
    args = re.search(r"^Args:\n((?:    .*\n?|\n)+)", inspect.getdoc(value) or "", re.MULTILINE)
    explained = re.findall(r"^    \*{0,2}(\w+): \S", args[1] if args else "", re.MULTILINE)
    return explained == parameters(value) or (not explained and is_explained_by_its_base(value))


def test_every_parameter_is_explained():
    assert len(DOCUMENTED) > 300
    assert not [name for name, value in DOCUMENTED.items() if not explains_its_parameters(value)]


def told_defaults(value):
    """Yields the parameters that have a default, and what the section `Args:` says of each."""
    text = "\n".join(
        re.findall(r"^Args:\n((?:    .*\n?|\n)+)", inspect.getdoc(value) or "", re.MULTILINE)[:1]
    )
    told = dict(re.findall(r"^    \*{0,2}(\w+): ((?:.*\n?)(?:        .*\n?)*)", text, re.MULTILINE))
    if is_typeddict(value):
        return told.items()
    signature = inspect.signature(value).parameters if told else {}
    return [(n, t) for n, t in told.items() if n in signature and signature[n].default is not inspect._empty]


def test_every_default_is_told():
    said = re.compile("[Dd]efault|As in|As `|The same")
    silent = [(n, p) for n, v in DOCUMENTED.items() for p, text in told_defaults(v) if not said.search(text)]
    assert silent == []


def functions():
    """Yields the functions among the documented names, with their docstrings."""
    for name, value in DOCUMENTED.items():
        if inspect.isfunction(inspect.unwrap(value)):
            yield name, inspect.unwrap(value), inspect.getdoc(value)


def test_what_a_function_returns_is_told():
    told = re.compile(r"(Returns|Yields|Tells) |[\s\S]*^(Returns|Yields):$", re.MULTILINE)
    returned = [(n, d) for n, f, d in functions() if f.__annotations__.get("return") not in NOTHING]
    assert len(returned) > 150
    assert not [name for name, text in returned if not told.match(text)]


NOTHING = ("None", "NoReturn", None)


def raised_by(function):
    """Returns the names of the classes in the function's own `raise` statements."""
    tree = ast.parse(dedent(inspect.getsource(function)))
    raised = (each.exc for each in ast.walk(tree) if isinstance(each, ast.Raise))
    names = (ast.unparse(each.func).rpartition(".")[2] for each in raised if isinstance(each, ast.Call))
    return {name for name in names if name[0].isupper()}


def test_the_errors_that_a_function_raises_itself_are_told():
    silent = [(n, e) for n, f, text in functions() for e in raised_by(f) if e not in text]
    assert silent == []


#: What an author implements, or what only the harness and the suite call.
NOT_CALLED_BY_USERS = re.compile(
    r"faults\.\w+\.change|Adapter\.(capabilities|session|kind)|Session\.|Structured|Sessions$|serve_forever"
    r"|(Cassette|use_cassette)\.(begin|holds|routed)|Scrub\.head|laid_out|CassetteServer\.(handle_error|opened)"
)


def test_every_public_name_has_an_example():
    wanted = {name: value for name, value in DOCUMENTED.items() if not NOT_CALLED_BY_USERS.search(name)}
    assert len(wanted) > 300
    assert not [n for n, v in wanted.items() if "\nExamples:\n    >>> " not in inspect.getdoc(v)]


PROVIDERS = {name: getattr(ellmer_core, name) for name in BY_PROVIDER if name.startswith("chat_")}


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_constructor_names_its_keys_its_default_model_and_a_source(name):
    text, module = inspect.getdoc(PROVIDERS[name]), import_module(PROVIDERS[name].__module__)
    wires = [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
    own = [
        value
        for wire in wires
        for value in (*getattr(wire, "key_vars", ()), getattr(wire, "default_model", ""))
    ]

    assert [value for value in own if value and f"`{value}`" not in text] == []
    assert "https://" in text
    assert re.findall(r"^    (\w+): \S", text, re.MULTILINE)[
        : len(parameters(PROVIDERS[name]))
    ] == parameters(PROVIDERS[name])


@pytest.mark.parametrize("name", sorted(PROVIDERS.keys() - {"chat_github"}))
def test_the_example_of_a_constructor_prints_what_it_shows(name):
    assert_prints_what_it_shows(name, PROVIDERS)


@pytest.fixture(scope="module")
def server():
    with StrictServer({"hello": HELLO, "data": ADA}) as started:
        yield started


@pytest.mark.parametrize("name", [n for n, v in OF_CORE.items() if ">>>" in (v.__doc__ or "")])
def test_an_example_prints_what_it_shows(name, server, tmp_path, monkeypatch):
    url = server.url("data" if name in GIVES_DATA else "hello", name)
    for key in [key for key in os.environ if re.search("_(KEY|TOKEN|SECRET|BASE_URL)$", key)]:
        monkeypatch.delenv(key)
    for key in KEYS:
        monkeypatch.setenv(key, "any-key")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.chdir(tmp_path)
    Path("red.png").write_bytes(RED.data)
    names = {each: getattr(ellmer_core, each) for each in dir(ellmer_core) if not each.startswith("_")}
    names |= {each: getattr(TESTING, each) for each in TESTING.__all__}

    assert_prints_what_it_shows(name, names)


@pytest.mark.parametrize("name", [n for n, v in OF_HARNESS.items() if ">>>" in (v.__doc__ or "")])
def test_an_example_of_the_harness_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    about = {"ellmer_harness": {"format": 1, "recorded_from": "example"}}
    for file, interaction in (("weather.json", WEATHER), ("stream.json", STREAM)):
        cassette = {"version": 1, "metadata": about, "interactions": [interaction]}
        Path(file).write_text(json.dumps(cassette), "utf-8")
    names = {each: getattr(ellmer_harness, each) for each in ellmer_harness.__all__}

    assert_prints_what_it_shows(name, {**names, "httpx": httpx, "Path": Path})


@pytest.mark.parametrize("name", [n for n, v in OF_CONFORMANCE.items() if ">>>" in (v.__doc__ or "")])
def test_an_example_of_the_suite_prints_what_it_shows(name):
    modules = [vars(import_module(f"ellmer_conformance.{module}")) for module in CONFORMANCE]
    names = {key: value for each in modules for key, value in each.items() if not key.startswith("_")}
    own = vars(import_module(DOCUMENTED[name].__module__))  # two modules may have a name in common

    assert_prints_what_it_shows(name, {**names, **own, "__name__": "examples"})


def assert_prints_what_it_shows(name, names):
    text = inspect.getdoc(DOCUMENTED.get(name) or PROVIDERS[name])
    example = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    told = []
    doctest.DocTestRunner().run(example, out=told.append)

    assert example.examples
    assert not told, "".join(told)
