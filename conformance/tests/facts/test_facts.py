"""The facts: they have evidence, their sources agree, and other tables are compared with them."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from ellmer_conformance import facts
from ellmer_conformance.cli.facts import command
from ellmer_conformance.contract.exchange import Request
from ellmer_conformance.facts import comparison, feed
from ellmer_conformance.facts.comparison import Claim
from ellmer_conformance.facts.features import FEATURES, example, found
from ellmer_conformance.facts.feed import Entry

#: Places at which a recording was accepted and a rule or a profile says no. Why is not known yet; the recording counts, and
#: the cell's note names the other source.
DISPUTED = {
    "anthropic bedrock claude-v2 temperature",
    "ollama ollama gemma3:1b image_in_user",
    "openai-chat deepseek deepseek-chat seed",
    "openai-chat deepseek deepseek-v4-flash seed",
    "openai-chat groq qwen/qwen3-32b effort",
    "openai-chat openai gpt-5.4 logprobs",
    "openai-responses openai gpt-5.4 logprobs",
    "openai-chat openai o3-mini stop",
    "openai-chat together openai/gpt-oss-120b image_in_user",
}


def test_every_answer_has_evidence_that_can_be_opened():
    known = [cell for cell in facts.cells() if cell.answer != "unknown"]

    assert len(known) >= 1500
    assert [cell.place for cell in known if not cell.evidence] == []
    assert [e.link for cell in known for e in cell.evidence if not e.link.startswith("https://")] == []


def test_rules_profiles_and_recordings_agree():
    assert {line.partition(": ")[0] for line in facts.disagreements()} == DISPUTED


def test_a_refusal_has_the_words_of_the_api():
    refused = [e for cell in facts.cells() for e in cell.evidence if e.kind == "refused"]

    assert refused
    assert all(each.words for each in refused)


def test_unknown_is_shown():
    (cell,) = facts.chosen(model="gpt-5-mini", feature="video_in_user", provider="openai", wire="openai-chat")

    assert (cell.answer, cell.evidence) == ("unknown", ())


def test_the_data_fits_its_schema():
    jsonschema = pytest.importorskip("jsonschema")

    jsonschema.validate(json.loads(json.dumps(facts.as_data(facts.cells()[::40]))), facts.schema())


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"])
def test_the_example_of_a_feature_uses_it(wire):
    for feature in FEATURES:
        body = example(feature, wire, "m")
        if body:
            assert feature.id in found(Request(wire, wire, body, model="m")), feature.id


def test_defaults_prove_nothing():
    body = {"messages": [], "temperature": 1, "n": 1, "logprobs": False, "frequency_penalty": 0}

    assert found(Request("openai-chat", "openai", body)) == {}


def test_dated_facts_are_a_feed():
    entries = feed.entries(facts.chosen(feature="available", provider="openai"))
    day = next(each for each in entries if each.title.startswith("gpt-3.5-turbo,"))

    assert day.day == "2026-10-23"
    assert day in feed.recent(entries, date(2026, 11, 1))
    assert day.id in feed.atom(entries)
    assert feed.json_feed([Entry("2026-01-01", "A & b.", "https://x")])["items"][0]["title"] == "A & b."


def test_a_table_is_compared_with_the_evidence():
    claims = [
        Claim("openai", "gpt-5-mini", "temperature", "yes", "temperature: true"),
        Claim("openai", "gpt-5-mini", "tools", "yes", "tools: true"),
        Claim("openai", "gpt-5-mini", "video_in_user", "no", "video: false"),
    ]

    wrong, question = comparison.contradictions(claims)

    assert (wrong.kind, wrong.claim.feature) == ("contradicted", "temperature")
    assert (question.kind, question.claim.feature) == ("question", "video_in_user")


TABLES = {
    "litellm.json": '{"gpt-5-mini": {"mode": "chat", "litellm_provider": "openai", "supports_vision": true}}',
    "models.json": '{"openai": {"models": {"gpt-5-mini": {"tool_call": true, "modalities": {"input": ["text"]}}}}}',
    "langchain_openai/data/_profiles.py": '_PROFILES = {"gpt-5-mini": {"image_inputs": True}}',
}


@pytest.mark.parametrize("name", TABLES)
def test_the_forms_of_tables_are_recognised(tmp_path: Path, name: str):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TABLES[name])

    assert {(each.provider, each.model) for each in comparison.claims(file)} == {("openai", "gpt-5-mini")}


def test_another_file_is_no_table(tmp_path: Path):
    (tmp_path / "x.json").write_text("[]")

    result = CliRunner().invoke(command, ["--check", str(tmp_path / "x.json")])

    assert result.exit_code == 2
    assert "cannot be compared: it is not a JSON object" in result.output


def test_the_command_prints_the_chosen_cells():
    options = [
        "--model",
        "gpt-5-mini",
        "--provider",
        "openai",
        "--feature",
        "temperature",
        "--format",
        "json",
    ]
    result = CliRunner().invoke(command, options)

    cells = json.loads(result.output)["cells"]
    assert {(cell["wire"], cell["answer"]) for cell in cells} == {
        ("openai-chat", "no"),
        ("openai-responses", "no"),
    }
    assert CliRunner().invoke(command, ["--model", "gpt-5-mini"]).output.count("gpt-5-mini") >= len(FEATURES)


def test_azures_name_of_an_old_model_is_no_new_generation():
    (cell,) = facts.chosen(model="gpt-35-turbo", feature="tools", provider="azure")

    assert cell.answer != "no"


def test_contradictions_are_printed_as_json(tmp_path):
    path = tmp_path / "model_prices_and_context_window.json"
    path.write_text(
        json.dumps({"gpt-4o": {"litellm_provider": "openai", "mode": "chat", "supports_vision": False}})
    )
    told = CliRunner().invoke(command, ["--check", str(path), "--format", "json"])
    assert told.exit_code == 1
    assert json.loads(told.output)[0]["kind"] == "contradicted"


def test_a_format_without_a_field_refuses_that_of_other_formats():
    [cell] = facts.chosen(model="claude-sonnet-4-5", feature="seed", wire="anthropic", provider="anthropic")
    [other] = facts.chosen(
        model="claude-sonnet-4-5", feature="parallel_switch", wire="anthropic", provider="anthropic"
    )

    assert (cell.answer, cell.evidence[0].words) == ("no", "seed: Extra inputs are not permitted")
    assert cell.evidence[0].link.startswith("https://github.com/")
    assert other.note != cell.note  # it has a name of its own there
