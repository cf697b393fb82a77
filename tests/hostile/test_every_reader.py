"""Each command and each function that reads a file meets each bomb: it ends with words, in bounded memory, and prints little. A new reader
is in the list, or a test fails.
"""

import argparse
import contextlib
import gzip
import importlib
import inspect
import io
import json
import os
import resource
import sys
import warnings
from multiprocessing import get_context
from pathlib import Path

import click
import httpx
import pytest
from code_blocks import ROOT

import ellmer_core as ec
import ellmer_harness
from ellmer_conformance import cli as suite
from ellmer_harness import cli as harness

pytestmark = pytest.mark.invariants

MEMORY = 1_000_000_000  # bytes that a reader may need in addition to its imports
SAID = 200_000  # characters that a command prints at most
GOOD = str(ROOT / "cassettes" / "openai-chat" / "groq" / "one_tool.stream.json")
#: The commands and their words; FILE is what they read.
COMMANDS = {
    "conformance baseline check file": "baseline check --baseline FILE",
    "conformance baseline check path": "baseline check --report FILE",
    "conformance baseline update file": "baseline update --baseline FILE",
    "conformance baseline update path": "baseline update --report FILE",
    "conformance calibrate paths": "calibrate FILE",
    "conformance calibrate resume": f"calibrate {GOOD} --resume FILE",
    "conformance corpus cite folders": "corpus cite FILE",
    "conformance coverage paths": "coverage FILE",
    "conformance coverage resume": f"coverage {GOOD} --resume FILE",
    "conformance diff new": "diff FILE FILE",
    "conformance diff old": "diff FILE FILE",
    "conformance facts checked": "facts --check FILE",
    "conformance lint baseline": f"lint {GOOD} --baseline FILE",
    "conformance lint paths": "lint FILE",
    "conformance lint resume": f"lint {GOOD} --resume FILE",
    "conformance merge reports": "merge FILE -o OUT",
    "conformance probe baseline": "probe http://127.0.0.1:9/v1 --baseline FILE",
    "conformance report upstream path": "report upstream --report FILE",
    "conformance repro path": "repro a/openai-chat/openai/plain_text[sync]/ORD-003 --report FILE",
    "conformance run baseline": "run --wire ollama --case no_such_case --baseline FILE",
    "ellmer-harness diff old": "diff FILE FILE",
    "ellmer-harness diff new": "diff FILE FILE",
    "ellmer-harness export paths": "export FILE --out OUT",
    "ellmer-harness import paths": "import FILE --out OUT",
    "ellmer-harness ls paths": "ls FILE",
    "ellmer-harness migrate paths": "migrate FILE --dry-run",
    "ellmer-harness prune paths": "prune FILE --dry-run",
    "ellmer-harness prune report": "prune OUT --dry-run --report FILE",
    "ellmer-harness scan paths": "scan FILE",
    "ellmer-harness scan resume": f"scan {GOOD} --resume FILE",
    "ellmer-harness show path": "show FILE",
}
#: What is only written, folders of our own cassettes, and what listens on a port: `test_a_script_that_is_anything_is_an_error` and
#: `test_untrusted_cassettes.py` have these.
NO_READERS = {
    "conformance hostile target",
    "conformance lint write_baseline",
    "conformance live cassettes",
    "conformance live report",
    "conformance merge output",
    "conformance probe report",
    "conformance record cassettes",
    "conformance report upstream out",
    "conformance run cassettes",
    "conformance run report",
    "conformance serve report",
    "conformance serve script",
    "ellmer-harness export out",
    "ellmer-harness import blobs",
    "ellmer-harness import out",
    "ellmer-harness migrate blobs",
    "ellmer-harness serve path",
}


def restored(path):
    with contextlib.suppress(RecursionError):  # of this program, which reads the file
        return chat().restore(json.loads(path.read_bytes()))


def app(path):
    from ellmer_core import chat_app

    return chat_app(chat(), store=path)


def many(path):
    return ec.parallel_chat_text(chat(), ["one"], path=path)


def batch(path):
    return ec.batch_chat_completed(chat(), ["one"], path=path)


def played(path):
    with ellmer_harness.use_cassette(path, mode="replay"):
        httpx.get("http://127.0.0.1:9/")


def chat():
    client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200, json={})))
    return ec.chat_openai(
        model="m", api_key="k", base_url="http://127.0.0.1:9/v1", max_tries=1, client=client
    )


#: The functions of the library and the harness; a path is given to each.
FUNCTIONS = {
    "Chat.restore": restored,
    "Chat.upload": lambda path: chat().upload(path),
    "batch_chat_completed": batch,
    "chat_app": app,
    "content_file": ec.content_file,
    "content_image_file": ec.content_image_file,
    "content_pdf_file": ec.content_pdf_file,
    "interpolate_file": ec.interpolate_file,
    "parallel_chat_text": many,
    "refresh_prices": ec.refresh_prices,
    "type_from_schema": lambda path: ec.type_from_schema(path=path),
    "use_cassette": played,
}
#: Those that read with another function of the list, only write, or need a person. A `Serializer` has a folder and no file.
LIKE_OTHERS = {
    "Cassette", "Chat.upload_async", "Serializer", "batch_chat", "batch_chat_structured", "batch_chat_text", "export", "live_browser",
    "live_console", "parallel_chat", "parallel_chat_as_completed", "parallel_chat_as_completed_async", "parallel_chat_async",
    "parallel_chat_structured", "parallel_chat_structured_as_completed", "parallel_chat_structured_as_completed_async",
    "parallel_chat_structured_async", "parallel_chat_text_async",
}  # fmt: skip


def path_functions():
    """Yields the functions of the public modules that take a path, or a record."""
    for name in (
        "ellmer_core",
        "ellmer_core.web",
        "ellmer_core.testing",
        "ellmer_core.mcp",
        "ellmer_harness",
    ):
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            members = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else []
            for full, each in [(public, value), *((f"{public}.{member}", each) for member, each in members)]:
                if callable(each) and not full.rpartition(".")[2].startswith("_") and takes_a_path(each):
                    yield full


def takes_a_path(function):
    with contextlib.suppress(TypeError, ValueError):
        told = inspect.signature(function).parameters.values()
        return any("Path" in str(each.annotation) or each.name == "record" for each in told)
    return False


def test_every_public_function_that_takes_a_path_is_in_the_list():
    assert {*path_functions()} - {*FUNCTIONS} - LIKE_OTHERS == set()


def path_parameters():
    """Yields each parameter of each command that may be a path."""
    group = next(each for each in vars(suite).values() if isinstance(each, click.Group))
    for words, command in commands_of(group):
        for each in command.params:
            named = isinstance(each, click.Argument) and each.name in {"paths", "folders", "files"}
            if isinstance(each.type, click.Path | click.File) or named:
                yield " ".join(["conformance", *words, each.name])
    [choice] = [each for each in harness._parser()._actions if isinstance(each, argparse._SubParsersAction)]
    for name, parser in choice.choices.items():
        for action in parser._actions:
            if getattr(action.type, "__name__", "") == "Path" or action.dest in {"path", "paths"}:
                yield f"ellmer-harness {name} {action.dest}"


def commands_of(group, words=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands_of(command, (*words, name))
        else:
            yield (*words, name), command


def test_every_parameter_of_a_command_that_is_a_path_is_in_the_list():
    assert {*path_parameters()} == {*COMMANDS} | NO_READERS


# --- The bombs ---------------------------------------------------------------------------------------------


RECORDED = {"version": 1, "interactions": []}
BOMBS = {
    "deep.json": lambda: b"[" * 200_000 + b"]" * 200_000,
    "deep_objects.json": lambda: b'{"results":' * 100_000 + b"1" + b"}" * 100_000,
    "a_bomb.json.gz": lambda: gzip.compress(bytes(300_000_000), 1),
    "a_bomb_in_a_bomb.json.gz": lambda: gzip.compress(gzip.compress(b" " * 300_000_000, 1), 1),
    "many_values.json": lambda: b'{"interactions": [' + b"{}," * 400_000 + b"{}]}",
    "many_results.json": lambda: b'{"schema_version": 1, "results": [' + b"{}," * 200_000 + b"{}]}",
    "a_long_number.json": lambda: b'{"version": ' + b"9" * 100_000 + b', "interactions": []}',
    "a_large_exponent.json": lambda: b'{"version": 1e999999999, "interactions": [1e999999999]}',
    "half_letters.json": lambda: json.dumps({**RECORDED, "\ud800" * 1000: "\udfff" * 1000}).encode(),
    "no_text.json": lambda: bytes(3_000_000),
    "many_lines.jsonl": lambda: b'{"\x1b[2J": 1}\n' * 30_000,
    "a_long_line.jsonl": lambda: b'{"a": "' + b"x" * 20_000_000 + b'"}',
    "aliases.yaml": lambda: (
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(12)
        )
    ),
    "deep.yaml": lambda: b"[" * 50_000,
    "contains_itself.yaml": lambda: b"interactions: &a [*a]\nversion: 1\n",
    "faulty_entries.toml": lambda: b'[[expect]]\nrule = "X\\u001b[2J"\n' * 20_000,
    "other_letters.json": lambda: "[1, 2]".encode("utf-16"),
    "a_name_\x1b[2J.json": lambda: b"{",
}


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    """Returns the files: the bombs, a pipe, a device, a link to itself, a folder with a link to itself."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, data in BOMBS.items():
        (folder / name).write_bytes(data())
    os.mkfifo(folder / "a_pipe.json")
    (folder / "a_device.json").symlink_to("/dev/zero")
    (folder / "a_link.json").symlink_to("a_link.json")
    (folder / "a_folder").mkdir()
    (folder / "a_folder" / "itself").symlink_to(folder / "a_folder")
    return sorted(folder.iterdir())


def in_a_process(use, bombs, folder):
    """Returns what is wrong with each bomb's outcome, in a forked process with bounded memory."""
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)

    def tried():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        os.environ["CONFORMANCE_CORPUS"] = str(folder / "corpus")  # the user's own may be large
        before = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (before + MEMORY, before + MEMORY))
        for bomb in bombs:
            there.send((bomb.name, outcome(use, bomb)))
        there.send(None)

    process = context.Process(target=tried)
    process.start()
    there.close()
    wrong, last = {}, "the beginning"
    with contextlib.suppress(EOFError):
        while told := here.recv():
            last, fault = told
            wrong |= {last: fault} if fault else {}
        last = None
    process.join()
    return wrong | ({"died after": last} if last else {})


def outcome(use, bomb):
    """Returns what is wrong with how a reader ends, or nothing."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            use(bomb)
    except SystemExit as ended:
        return "" if ended.code in {0, 1, 2, None} else f"ends with {ended.code}"
    except (ec.EllmerError, ellmer_harness.HarnessError, ellmer_harness.Miss, OSError, ValueError) as error:
        said.write(str(error))
    except BaseException as error:  # noqa: BLE001 - it is told
        return f"{type(error).__name__}: {error}"[:300]
    text = said.getvalue()
    return "an escape code" if "\x1b[2J" in text else f"{len(text):,} letters" if len(text) > SAID else ""


def commanded(name):
    program = name.partition(" ")[0]

    def use(bomb):
        sys.argv = [
            program,
            *(word.replace("FILE", str(bomb)).replace("OUT", "out") for word in COMMANDS[name].split(" ")),
        ]
        raise SystemExit(suite.main() if program == "conformance" else harness.main())

    return use


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_bomb_breaks_a_command(bombs, tmp_path, name, record_property):
    record_property("cases", len(bombs))
    assert in_a_process(commanded(name), bombs, tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_bomb_breaks_a_function(bombs, tmp_path, name, record_property):
    used = [each for each in bombs if "\x1b" not in each.name]  # a program names its own files
    used = [each for each in used if each.name in BOMBS] if name == "Chat.restore" else used
    record_property("cases", len(used))
    assert in_a_process(FUNCTIONS[name], used, tmp_path) == {}
