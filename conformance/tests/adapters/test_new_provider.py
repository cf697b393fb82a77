"""A new provider with a known format is added to the library and the suite with one file."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from conformance_command import run_in

from ellmer_conformance.adapters.ellmer_core import providers_by_key
from ellmer_core import providers

pytestmark = pytest.mark.slow

PROVIDER = '''
"""Nimbus, https://example.com: Chat Completions in the clouds."""

from dataclasses import dataclass
from typing import ClassVar

from ellmer_core.providers._construction import construct
from ellmer_core.providers._chat_completions import ChatCompletions
from ellmer_core.wire.interfaces import Supports


@dataclass(frozen=True)
class Nimbus(ChatCompletions):
    provider: ClassVar[str] = "Nimbus"
    default_model: ClassVar[str] = "cirrus-1"
    key_vars: ClassVar[tuple[str, ...]] = ("NIMBUS_API_KEY",)
    supports: ClassVar[Supports] = Supports(images=False, pdfs=False, native_tool_media=False)

    base_url: str = "https://api.nimbus.example/v1"


def chat_nimbus(system_prompt=None, **options):
    return construct(Nimbus, system_prompt, options)
'''
RUN = """
import sys
import ellmer_core.providers
from ellmer_conformance.cli import main

ellmer_core.providers.__path__.append(sys.argv.pop(1))
main()
"""


@pytest.fixture
def conformance(tmp_path, monkeypatch):
    """Runs the command in a project with one more provider: in this process, and in a separate one."""
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "nimbus.py").write_text(PROVIDER)
    (tmp_path / "cassettes").mkdir()

    more = ["--provider", "nimbus", "--cassettes", str(tmp_path / "cassettes")]
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)

    def process(*arguments):
        here = [sys.executable, "-c", RUN, str(tmp_path / "providers")]
        done = subprocess.run([*here, *arguments, *more], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def run(*arguments):
        done = run_in(tmp_path, *arguments, *more)
        return done.exit_code, done.output

    run.process = process
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path / "providers")])
    providers_by_key.cache_clear()
    yield run
    providers_by_key.cache_clear()
    if hasattr(providers, "nimbus"):
        del providers.nimbus


def test_one_file_and_it_is_under_test(conformance, tmp_path):
    code, said = conformance("run")
    assert code != 0
    assert "conformance record --wire openai-chat --provider nimbus --case one_tool" in said

    assert conformance("record")[0] == 0
    code, said = conformance.process("run", "--report", str(tmp_path / "report"))

    assert code == 0, said
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    verdicts = {(row["case"], row["verdict"]) for row in report["results"] if row["rule"] == "TRM-010"}
    assert {
        ("image_from_user", "refused-as-declared"),
        ("tool_returns_image", "refused-as-declared"),
    } <= verdicts
    cassette = json.loads((tmp_path / "cassettes/openai-chat/nimbus/plain_text.json").read_text("utf-8"))
    assert cassette["interactions"][0]["request"]["uri"] == "https://api.nimbus.example/v1/chat/completions"
    assert cassette["metadata"]["ellmer_harness"]["recorded_from"] == "strict-server"


def test_a_provider_of_another_package_is_under_test_by_its_entry_point(monkeypatch):
    from ellmer_conformance.adapters import ellmer_core as bridge
    from ellmer_core.providers import openrouter

    point = EntryPoint("acme", "ellmer_core.providers:unused", bridge.__name__)
    monkeypatch.setattr(EntryPoint, "load", lambda _: openrouter.chat_openrouter)
    monkeypatch.setattr(
        bridge, "entry_points", lambda group: [point] if group == "ellmer_core.providers" else []
    )

    assert [provider.wire for provider in bridge.providers() if provider.name == "acme"] == [
        openrouter.OpenRouter
    ]


def test_the_listed_providers_have_the_keys_of_their_modules():
    from ellmer_conformance.adapters.ellmer_core import LISTED, providers

    keys = {}
    for provider in providers():
        keys.setdefault(provider.construct.__module__.rpartition(".")[2], []).append(provider.key)

    assert {name: [*found] for name, found in LISTED.items()} == {name: keys.get(name, []) for name in LISTED}


def test_a_provider_is_imported_when_it_is_asked_for():
    """A process that plays one wire format at its own provider imports that provider's module only."""
    program = (
        "import sys\n"
        "from ellmer_conformance.runner.selection import select\n"
        "select([], {'wire': ['openai-chat'], 'case': ['plain_text']})\n"
        "print(*(name for name in sys.modules if name.startswith('ellmer_core.providers.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert {name for name in loaded if not name.startswith("_")} == {"openai_completions"}, (
        "a provider that is not in LISTED of adapters/ellmer_core.py is imported in every run"
    )
