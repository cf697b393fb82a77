"""The names of `import ellmer_core`, and the modules that it does not load."""

import ast
import builtins
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ellmer_core
from ellmer_core import _MODULES
from ellmer_core.providers import _stub

PACKAGE = Path(ellmer_core.__file__).parent
HEAVY = ("httpx", "pydantic", "rich", "PIL", "matplotlib", "markdown_it", "docstring_parser", "asyncio")

#: Public in their modules, for those who extend the library, but not offered to everybody.
NOT_OFFERED = {
    "AskBefore", "CallScope", "Card", "Connection", "DEFER", "Decide", "DecisionLike", "FinishReason", "Library",
    "Progress", "ToolMode",
    "card", "columns_of", "construct", "constructor", "convert", "cost", "data_frame", "described", "flatten",
    "is_context", "log_usage", "prices", "result_text", "showing", "signed", "split",
    "to_json_schema", "type_of", "value_text",
}  # fmt: skip


def modules():
    return [import_module(f"ellmer_core.{name}") for name in _MODULES]


def test_all_is_sorted_and_every_name_is_there():
    assert sorted(set(ellmer_core.__all__)) == ellmer_core.__all__
    for name in ellmer_core.__all__:
        assert getattr(ellmer_core, name).__module__.startswith("ellmer_core"), name


def test_all_is_complete():
    public = {name for m in modules() for name in m.__all__}

    assert public - set(ellmer_core.__all__) == NOT_OFFERED


def test_no_name_lives_in_two_places():
    names = [(name, getattr(module, name)) for module in modules() for name in module.__all__]

    assert len({name for name, _ in names}) == len({(name, id(value)) for name, value in names})


def test_type_checkers_see_the_same_modules():
    tree = ast.parse(Path(ellmer_core.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    starred = {node.module for node in imports if node.names[0].name == "*"}

    assert starred == {*_MODULES, "providers"}


def test_type_checkers_see_every_provider():
    stub = PACKAGE / "providers" / "__init__.pyi"

    assert stub.read_text(encoding="utf-8") == _stub.stub(), "run `python -m ellmer_core.providers._stub`"
    package = Path(ellmer_core.__file__).read_text(encoding="utf-8")
    assert package == _stub.with_names(package), "run `python -m ellmer_core.providers._stub`"
    assert {f'"{name}"' for name in _stub.public_names()} <= {*package.replace(",", " ").split()}


def test_every_provider_has_its_constructor():
    providers = [path.stem for path in PACKAGE.joinpath("providers").glob("[!_]*.py")]

    assert providers
    for provider in providers:
        name = f"chat_{provider}"
        made = getattr(ellmer_core, name)
        assert made is getattr(import_module(f"ellmer_core.providers.{provider}"), name)
        assert pickle.loads(pickle.dumps(made)) is made
        models = getattr(ellmer_core, f"models_{provider}")
        assert models.__name__ == f"models_{provider}"
        assert name in models.__doc__
        assert {name, models.__name__} <= set(dir(ellmer_core))


@pytest.mark.parametrize(
    "name", ["chat_nobody", "models_nobody", "Chta", "chat_", "providers_", "__path", "split"]
)
def test_a_name_that_is_not_there(name):
    with pytest.raises(AttributeError, match=f"module 'ellmer_core' has no attribute '{name}'"):
        getattr(ellmer_core, name)


def test_a_public_function_hides_behind_no_module_of_its_name():
    files = {path.stem for path in PACKAGE.iterdir()}

    assert not files & set(ellmer_core.__all__)


def loaded_after(code):
    report = f"import sys; {code}; print(*sorted(m for m in sys.modules if m in {HEAVY!r}))"
    return subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import ellmer_core",
        "from ellmer_core import content_image_file, type_object, ContentToolResult, UserTurn",
        "from ellmer_core import tool, type_string; tool(lambda x: x, 'Echo.', name='f', arguments={'x': type_string()})",
        "from ellmer_core import contents_record, contents_markdown, params, interpolate",
    ],
    ids=["package", "values", "tool", "functions"],
)
def test_importing_loads_nothing_heavy(code):
    assert loaded_after(code) == []


def test_a_chat_is_made_without_pydantic():
    code = "from ellmer_core import chat; chat('openai', model='m', api_key='k')"

    assert set(loaded_after(code)) <= {"asyncio"}


@pytest.mark.parametrize("package", ["ellmer_core", "ellmer_core.testing", "ellmer_harness"])
def test_a_star_import_hides_no_name_of_python(package):
    assert not {*import_module(package).__all__} & {*dir(builtins)}


def test_the_name_that_the_builtin_has_too_is_an_attribute():
    assert ellmer_core.TimeoutError is ellmer_core.RequestTimeoutError
