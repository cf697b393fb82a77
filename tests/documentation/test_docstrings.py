"""The reference: every public name says what each parameter means, and its examples run against the strict server."""

import doctest
import inspect
import os
import re
from pathlib import Path
from typing import is_typeddict

import pytest

import ellmer_core
from ellmer_conformance.scenarios.cases._media_and_tools import RED
from ellmer_conformance.scenarios.script import Answer, Say, Script
from ellmer_conformance.server import StrictServer

ADA = Script((Answer((Say('{"name": "Ada Lovelace", "born": 1815}'),)),))
HELLO = Script((Answer((Say("Hello!"),)),))

#: What the model says in the examples that ask for data; in all others it says hello.
GIVES_DATA = {
    "Chat.chat_structured",
    "Chat.stream_structured",
    "parallel_chat_structured",
    "parallel_chat_structured_async",
}

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def documented():
    """What the reference shows: public names, and the public methods of their classes, by qualified name."""
    for name in ellmer_core.__all__:
        value = getattr(ellmer_core, name)
        if callable(value):
            yield name, value
        if inspect.isclass(value):
            yield from methods(name, value)


def methods(name, cls):
    """The methods that the class or one of its private bases defines."""
    for base in cls.__mro__:
        if base is cls or (base.__module__.startswith("ellmer_core._chat") and name == "Chat"):
            for key, value in vars(base).items():
                function = getattr(value, "__func__", value)
                if not key.startswith("_") and inspect.isfunction(function) and key not in fields(cls):
                    yield f"{name}.{key}", function


def fields(cls):
    """The fields of a dataclass, whose defaults may be functions."""
    return getattr(cls, "__dataclass_fields__", {})


DOCUMENTED = dict(documented())


def parameters(value):
    """What a caller may pass, by name."""
    if is_typeddict(value):
        return [*value.__annotations__]
    if inspect.isclass(value) and "__init__" not in vars(value) and issubclass(value, Exception):
        return []
    return [name for name in inspect.signature(value).parameters if name != "self"]


def is_explained_by_its_base(value):
    """Whether a class takes what a public base class takes."""
    own = inspect.isclass(value) and not {"__init__", "__new__"} & vars(value).keys()
    return own and value.__mro__[1].__name__ in {*ellmer_core.__all__, "Exception"}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_parameter_is_explained(name):
    value = DOCUMENTED[name]
    args = re.search(r"^Args:\n((?:    .*\n?|\n)+)", inspect.getdoc(value) or "", re.MULTILINE)
    explained = re.findall(r"^    \*{0,2}(\w+): \S", args[1] if args else "", re.MULTILINE)

    assert explained == parameters(value) or (not explained and is_explained_by_its_base(value))


@pytest.mark.parametrize(
    "name", [name for name, value in DOCUMENTED.items() if "." not in name and parameters(value)]
)
def test_every_public_name_has_an_example(name):
    assert "\nExamples:\n    >>> " in inspect.getdoc(DOCUMENTED[name])


@pytest.fixture(scope="module")
def server():
    with StrictServer({"hello": HELLO, "data": ADA}) as started:
        yield started


@pytest.mark.parametrize("name", [n for n, v in DOCUMENTED.items() if ">>>" in (v.__doc__ or "")])
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

    example = doctest.DocTestParser().get_doctest(inspect.getdoc(DOCUMENTED[name]), names, name, None, None)
    told = []
    doctest.DocTestRunner().run(example, out=told.append)

    assert example.examples
    assert not told, "".join(told)
