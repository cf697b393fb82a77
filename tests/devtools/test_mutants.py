"""The mutation tool: what it changes, what it leaves alone, and its verdicts on a small project."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    return import_module("devtools.mutation.mutations")


def mutants(tool, source):
    return {one.applied(source) for one in tool.mutations("x.py", source)}


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", {"x = (a <= b)", "x = None"}),
        ("x = a and b", {"x = (a or b)", "x = None"}),
        ("x = not a", {"x = (a)", "x = None"}),
        ("x = a is None", {"x = (a is not None)", "x = None"}),
        ("def f(a=True): return a", {"def f(a=False): return a", "def f(a=True): return None"}),
        ("f(1, key=k)", {"f(2, key=k)", "f(1)", "pass"}),
        ("x += 'é' + y", {"x += ('é' - y)", "x += 'éX' + y", "pass"}),
        ("if f(x):\n    break", {"if (not f(x)):\n    break", "if f(x):\n    continue"}),
        ("raise E('some words')", {"pass"}),
        ("x: Literal['a'] = 'b'", {"x: Literal['a'] = 'bX'"}),
        ("x = f(examples=[1 + 1])", {"x = None", "x = f()"}),
    ],
)
def test_a_change(tool, source, changed):
    assert mutants(tool, source) == changed


@pytest.mark.parametrize(
    "source",
    [
        '"""The docstring."""',
        "import a",
        "assert a == b",
        "__all__ = ['a']",
        "def f(a: Literal['b']) -> Literal['c']: ...",
        "if TYPE_CHECKING:\n    x = 1",
        "f'{a == b}'",
        "@overload\ndef f(a=1): return a",
    ],
)
def test_what_is_left_alone(tool, source):
    assert not mutants(tool, source)


def test_a_mutation_names_its_function(tool):
    source = "class A:\n    def f(self):\n        return 1\n"
    assert {(one.where, one.line) for one in tool.mutations("x.py", source)} == {("A.f", 3)}


posix = pytest.mark.skipif(sys.platform == "win32", reason="it ends processes as POSIX does")


@posix
def test_a_small_project(project):
    done = project.run("mutation.mutants", "--sample", "99", "--workers", "1")

    assert done.returncode == 1, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "/__init__.py:" in line]
    killed = [line for line in lines if "killed by" in line]
    assert any("test_sign[-1]" in line for line in killed)
    assert any("killed by tests/test_toy.py::test_printed" in line for line in killed)
    assert any("SURVIVES 0 tests (0 reach it)" in line for line in lines)
    assert 'where = "never"' in done.stdout
    assert 'reason = ""' in done.stdout
    assert (project.folder / "ellmer_core" / "__init__.py").read_text("utf-8").startswith('"""A module."""')
    project.git("diff", "--exit-code")


@pytest.fixture(scope="module")
def program(tool):
    return import_module("devtools.mutation.mutants")


def test_the_sample_is_the_same_for_the_same_seed(program):
    def sample(seed):
        arguments = ["--sample", "9", "--seed", seed, "--only", "cli"]
        return list(program.sampled(program.parser().parse_args(arguments)))

    assert sample("1") == sample("1")
    assert len(sample("1")) == 9
    assert sample("1") != sample("2")


def test_the_tests_beside_a_module_are_found(program):
    tests = [
        "tests/a/test_x.py::t",
        "conformance/tests/contract/rules/test_y.py::t",
        "conformance/tests/test_z.py::t",
    ]
    path = "conformance/ellmer_conformance/contract/rules/cohere/order.py"
    assert program.mirrored(path, tests) == {"conformance/tests/contract/rules/test_y.py::t"}


def verdict(program, tool, killer="", name="a"):
    mutation = tool.Mutation("ellmer_core/x.py", 1, 0, 1, "b", name)
    return program.Verdict(mutation, "a", killer, 1, 1)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("", (1, "[[survivor]]")),
        ("cosmetic", (1, "9 of 11 killed: 82%")),
        ("equivalent", (0, "9 of 9 killed: 100%; 2 more are equivalent")),
    ],
)
def test_listed_survivors(program, tool, capsys, kind, outcome):
    verdicts = [verdict(program, tool, "tests/x.py::test")] * 9 + [verdict(program, tool, name="s")] * 2
    known = {("s", "a", "b"): {"kind": kind}} if kind else {}
    assert program.report(verdicts, known, 0.9) == outcome[0]
    assert outcome[1] in capsys.readouterr().out


@pytest.mark.parametrize("line", ['kind = "cosmetic"\nreason = ""', 'kind = "?"\nreason = "a"'])
def test_a_survivor_needs_a_kind_and_a_reason(program, tmp_path, line):
    file = tmp_path / "survivors.toml"
    file.write_text(f'[[survivor]]\nwhere = "a"\nwas = "b"\nbecomes = "c"\n{line}\n', "utf-8")
    with pytest.raises(SystemExit, match="needs a kind"):
        program.listed(file)


def test_each_survivor_of_this_repository_has_a_reason(program):
    program.listed(program.SURVIVORS)
