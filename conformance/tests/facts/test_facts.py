"""The facts: they have evidence, their sources agree, and other tables are compared with them."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from ellmer_conformance import facts
from ellmer_conformance.cli.rules.facts import command
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.facts import comparison, feed, pages
from ellmer_conformance.facts.comparison import Claim
from ellmer_conformance.facts.examples import example, foreign
from ellmer_conformance.facts.features import FEATURES, found
from ellmer_conformance.facts.feed import Entry


def test_unknown_is_shown():
    (cell,) = facts.chosen(
        model="gpt-5-mini", feature="tools_129", provider="openai", wire="openai-responses"
    )

    assert (cell.answer, cell.evidence) == ("unknown", ())


@pytest.mark.parametrize(
    "wire", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral"]
)
def test_the_example_of_a_feature_uses_it(wire):
    for feature in FEATURES:
        body = example(feature, wire, "m")
        if body:
            assert feature.id in found(Request(wire, wire, body, model="m")), feature.id


def test_the_request_of_another_format_is_none_of_this_one():
    video = next(each for each in FEATURES if each.id == "video_in_user")

    assert foreign(video, "gemini", "m") is None
    assert example(video, "anthropic", "m") is None
    assert "video_url" in json.dumps(foreign(video, "anthropic", "m"))


def test_documents_are_about_known_features_and_models():
    known = {feature.id for feature in FEATURES}
    documents = facts.documents()

    unknown = {d.link: names for d in documents if (names := {*d.yes, *d.no, *d.ignored} - known)}
    assert unknown == {}, "facts/features.py has no such features"
    assert [d.link for d in documents if not (d.yes or d.no or d.ignored)] == []
    assert [d.link for d in documents if not d.places] == []


def test_a_document_has_a_link_its_words_and_the_day_on_which_they_were_read():
    documents = facts.documents()

    assert [d.link for d in documents if not d.link.startswith("https://")] == []
    assert [d.link for d in documents if not d.words] == []
    assert [d.link for d in documents if not re.fullmatch(r"20\d\d-\d\d-\d\d", d.day)] == []


def test_what_an_api_ignores_is_not_yes_because_it_was_accepted():
    [cell] = facts.chosen(model="gpt-4.1", feature="image_in_result", provider="openai", wire="openai-chat")

    assert cell.answer == "ignored"


def test_a_dated_name_is_the_same_model():
    [cell] = facts.chosen(
        model="claude-haiku-4-5", feature="image_in_result", wire="anthropic", provider="anthropic"
    )

    assert cell.answer == "yes"


def test_anthropic_has_a_switch_for_parallel_calls():
    feature = next(each for each in FEATURES if each.id == "parallel_switch")
    body = example(feature, "anthropic", "m")

    assert body
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    [cell] = facts.chosen(
        model="claude-sonnet-4-5", feature="parallel_switch", wire="anthropic", provider="anthropic"
    )
    assert cell.answer == "yes"


def test_the_result_of_a_search_of_tools_has_its_call():
    asked = {"role": "user", "content": "Hi"}
    searched = {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {}}
    result = {"type": "function_call_output", "call_id": "c", "output": "d"}

    used = found(Request("openai-responses", "openai", {"input": [asked, searched, result, asked]}))
    stray = found(Request("openai-responses", "openai", {"input": [asked, result, asked]}))

    assert "result_without_call" not in used
    assert "result_without_call" in stray


@pytest.mark.parametrize(
    ("feature", "model", "provider", "wire", "note"),
    [
        ("effort", "gpt-5.1-chat-latest", "openai", "openai-responses", "Supported values are: 'medium'"),
        ("prefill", "mistral-small-latest", "mistral", "mistral", "Assistant with prefix"),
    ],
)
def test_a_feature_that_is_refused_in_one_form_is_there(feature, model, provider, wire, note):
    [cell] = facts.chosen(model=model, feature=feature, provider=provider, wire=wire)

    assert cell.answer == "yes"
    assert note in cell.note


@pytest.mark.parametrize(
    ("calls", "results", "unusual"),
    [(2, 2, set()), (2, 1, {"call_without_result"}), (1, 2, {"result_without_call"})],
)
def test_googles_calls_and_results_are_counted(calls, results, unusual):
    call, result = ({"functionCall": {"name": "f"}}, {"functionResponse": {"name": "f", "response": {}}})
    contents = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{**call, "thoughtSignature": "a"}] * calls},
        *[{"role": "user", "parts": [result]}] * results,
    ]
    pairs = {"call_without_result", "result_without_call"}

    assert pairs & found(Request("gemini", "google", {"contents": contents})).keys() == unusual


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
        Claim("mistral", "mistral-large-latest", "two_user_turns", "no", "two user turns: false"),
    ]

    wrong, question = comparison.contradictions(claims)

    assert (wrong.kind, wrong.claim.feature) == ("contradicted", "temperature")
    assert (question.kind, question.claim.feature) == ("question", "two_user_turns")


def test_what_can_be_sent_is_a_recording_or_a_document_that_no_other_source_disputes():
    claims = [
        Claim("openai", "gpt-3.5-turbo", "tools", "no", "tool_calling: false"),
        Claim("openrouter", "openai/gpt-5", "temperature", "no", "temperature: false"),  # it is left out
        Claim(
            "together", "openai/gpt-oss-120b", "image_in_user", "no", "image: false"
        ),  # a profile says so, too
        Claim("google", "gemma-4-31b-it", "tools", "yes", "tools: true"),  # only a profile says no
    ]
    found = comparison.contradictions(claims)

    assert len(found) == 4
    assert [each.claim for each in comparison.proved(found)] == claims[:1]


def test_a_cache_without_marks_is_a_cache():
    assert (
        comparison.contradictions([Claim("openai", "gpt-5-mini", "cache_marks", "yes", "caching: true")])
        == []
    )


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


def test_a_page_about_some_models_says_which():
    known = pages.pages().values()
    assert not [page.link for page in known if bool(page.models) is (page.named == "another model")]


def test_what_names_the_feature_comes_before_what_names_another_one():
    (seed,) = facts.chosen(model="gpt-5", feature="seed", provider="openai", wire="openai-responses")
    first, second = seed.evidence

    assert (first.kind, "`seed`" in first.words) == ("document", True)
    assert (second.kind, "input[3].status" in second.quote) == ("rule", True)


def test_the_page_that_names_the_field_is_chosen():
    links = [page.link for page in pages.pages().values()]
    _, page = pages.best(links, "openai-chat openai REQ-035", "Invalid 'stop': array too long.")

    assert page is not None
    assert "'stop'" in page.words


def test_a_list_of_possible_values_does_not_name_the_refused_one():
    page = pages.Page(
        "https://example.com", "Invalid value: 'pdf'. Supported values are: 'file'.", "2026-11-28"
    )

    assert page.shows("Invalid value: 'pdf'.")
    assert not page.shows("Invalid value: 'file'.")


def test_what_a_later_page_contradicts_is_unknown_there_and_a_note_elsewhere():
    found = {
        model: facts.chosen(model=model, feature="call_id_65", provider="openai", wire="openai-chat")[0]
        for model in ("gpt-4o-mini", "gpt-5")
    }

    assert {model: cell.answer for model, cell in found.items()} == {"gpt-4o-mini": "unknown", "gpt-5": "no"}
    assert "51 characters" in found["gpt-5"].note


def test_an_inherited_rule_says_where_it_is_on_record():
    (cell,) = facts.chosen(
        model="gpt-5-mini", feature="call_without_result", provider="azure", wire="openai-chat"
    )

    assert cell.note == "It is on record at openai; azure has the same rule."


def test_what_a_rule_says_of_some_models_is_inferred_for_those_that_no_page_names():
    (named,) = facts.chosen(
        model="claude-opus-5", feature="thinking_budget", wire="anthropic", provider="anthropic"
    )
    (other,) = facts.chosen(
        model="claude-opus-5-5", feature="thinking_budget", wire="anthropic", provider="anthropic"
    )
    (inherited,) = facts.chosen(
        model="gpt-5-mini", feature="call_without_result", provider="azure", wire="openai-chat"
    )

    assert (named.answer, named.inferred) == ("no", False)
    assert other.answer in {"no", "unknown"}
    assert (inherited.answer, inherited.inferred) == ("no", True)


@pytest.mark.parametrize(
    ("page", "refusal", "shown"),
    [
        (
            "Invalid value: 'a'. Supported values are: 'b' and 'c'.",
            "Invalid value: 'd'. Supported values are: 'b'.",
            True,
        ),
        (
            "Invalid value: 'a'. Supported values are: 'b', 'd'.",
            "Invalid value: 'd'. Supported values are: 'b'.",
            False,
        ),
        (
            "Invalid 'stop': array too long.",
            "Unsupported parameter: 'stop' is not supported with this model.",
            False,
        ),
        ("Unexpected role 'tool' after role 'user'", "Unexpected role 'system' after role 'user'", False),
        ("messages.1.thinking.signature: Field required", "tools.0.type: Field required", False),
        ("JSON mode is not enabled for models/m", "Function calling is not enabled for models/m", False),
        (
            "in schema for function 'get_temperature'",
            "Unsupported parameter: 'temperature' is not supported.",
            False,
        ),
    ],
)
def test_a_page_shows_the_refusal_of_the_same_thing_only(page, refusal, shown):
    assert pages.Page("https://example.com", page, "2026-11-28").shows(refusal) is shown


def test_a_format_without_a_field_refuses_that_of_other_formats():
    [cell] = facts.chosen(model="claude-sonnet-4-5", feature="seed", wire="anthropic", provider="anthropic")
    [other] = facts.chosen(
        model="claude-sonnet-4-5", feature="parallel_switch", wire="anthropic", provider="anthropic"
    )

    assert (cell.answer, cell.evidence[0].words) == ("no", "seed: Extra inputs are not permitted")
    assert cell.evidence[0].link.startswith("https://github.com/")
    assert other.note != cell.note  # it has a name of its own there
