"""The page of providers agrees with a run of the suite, and lists every provider."""

import importlib.util
from pathlib import Path

import pytest

import ellmer_core

ROOT = Path(__file__).parents[2]
PROVIDERS = sorted(path.stem for path in Path(ellmer_core.__file__).parent.glob("providers/[!_]*.py"))


@pytest.fixture
def providers(monkeypatch):
    spec = importlib.util.spec_from_file_location("_providers", ROOT / "docs" / "_site" / "_providers.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "_providers", module)
    spec.loader.exec_module(module)
    return module


def row(case, verdict="pass", rule="ORD-001", provider="groq", mode="sync"):
    place = {
        "adapter": "ellmer-core",
        "wire": "openai-chat",
        "provider": provider,
        "case": case,
        "mode": mode,
    }
    return {**place, "rule": rule, "level": "MUST", "verdict": verdict}


def cells(providers, monkeypatch, *rows, name="groq"):
    plays = [{**row("one_tool"), "recorded_from": "strict-server"}]
    monkeypatch.setattr(providers, "report", lambda: {"results": rows, "plays": plays})
    lines = providers.page().splitlines()
    heads = next(line for line in lines if line.startswith("| provider | wire format")).split("|")
    found = next(line for line in lines if line.startswith(f"| `chat_{name}()`")).split("|")
    return {head.strip(): cell.strip() for head, cell in zip(heads, found, strict=True)}


def test_every_provider_is_there(providers, monkeypatch):
    monkeypatch.setattr(providers, "report", lambda: {"results": [], "plays": []})
    listed = providers.page()

    assert [name for name in PROVIDERS if f"`chat_{name}()`" not in listed] == ["github"]  # it is retired


@pytest.mark.parametrize(
    ("rows", "title", "cell"),
    [
        ([row("one_tool")], "tools", "✓"),
        ([row("one_tool"), row("two_parallel_tools", "fail")], "tools", "✗"),
        ([], "tools", "?"),
        ([row("one_tool", "not-applicable")], "tools", "?"),
        ([row("pdf_from_user", "refused-as-declared")], "PDFs", "–"),
        ([], "PDFs", "–?"),
        ([row("pdf_from_user", "not-testable")], "PDFs", "✗"),
        ([row("tool_returns_pdf", "refused-as-declared")], "tools", "?"),  # it shows PDFs alone
        ([row("plain_text", rule="USG-001", mode="stream")], "usage in streams", "✓"),
        ([row("plain_text", rule="USG-001")], "usage in streams", "?"),
        ([row("one_tool"), row("plain_text", rule="TXT-001")], "rules kept", "2/2"),
        ([row("one_tool")], "recorded", "strict server"),
    ],
)
def test_what_is_declared_stands_beside_what_was_seen(providers, monkeypatch, rows, title, cell):
    assert cells(providers, monkeypatch, *rows)[title] == cell


def test_how_it_is_taken(providers, monkeypatch):
    found = cells(providers, monkeypatch, row("tool_returns_image", provider="openrouter"), name="openrouter")
    assert found["images of tools"] == "✓ or inside"
    found = cells(providers, monkeypatch, row("structured_answer", provider="zai"), name="zai")
    assert found["structured output"] == "✓ in words"


def test_a_build_without_a_report_says_what_it_does(providers, monkeypatch, tmp_path, caplog):
    report = tmp_path / "report.json"
    monkeypatch.setattr(providers, "REPORT", report)
    monkeypatch.setattr(providers.subprocess, "run", lambda *_, **__: report.write_text("{}"))
    with caplog.at_level("INFO"):
        providers.report()
        providers.report()
    assert caplog.messages == [providers.NO_REPORT]
