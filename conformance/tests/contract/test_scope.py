"""Scopes: families and generations of models, API versions, betas and days."""

from dataclasses import replace
from datetime import date

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.changes.api_versions import VERSIONS, versions
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rules.anthropic import _refusals_and_examples as an
from ellmer_conformance.contract.rules.anthropic.versions_and_betas import BETAS
from ellmer_conformance.contract.scope import Scope, api_version, generation, matches

CLAUDE = Request("anthropic", "anthropic", {}, model="claude-sonnet-4-6")


@pytest.mark.parametrize(
    ("model", "family", "expected"),
    [
        ("claude-3-5-sonnet-20241022", "claude", (3, 5)),
        ("claude-opus-4-20250514", "claude", (4, 0)),
        ("claude-haiku-5-5", "claude", (5, 5)),
        ("us.anthropic.claude-opus-4-7-v1:0", "claude-opus", (4, 7)),
        ("claude-sonnet-5-5", "claude-opus", None),
        ("claude-mythos-preview", "claude", None),
        ("gpt-6-astra", "gpt", (6, 0)),
        ("gpt-6.2-sol", "gpt", (6, 2)),
        ("gpt-5-2025-08-07", "gpt", (5, 0)),
        ("gpt-4-32k", "gpt", (4, 0)),
        ("gpt-4o", "gpt", (4, 0)),
        ("gpt-35-turbo", "gpt", (3, 5)),
        ("openai.gpt-oss-120b", "gpt", None),
        ("my-chatgpt-6", "gpt", None),
    ],
)
def test_the_generation_of_a_model_is_in_its_name(model, family, expected):
    assert generation(model, family) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("gpt>=5.6", True), ("gpt<6.2", False), ("gpt-6*", True), ("claude>=3", False), ("gpt>=6.3", False)],
)
def test_a_pattern_names_a_family_from_a_generation_on(pattern, expected):
    assert matches("gpt-6.2-sol", pattern) is expected


def with_headers(**named):
    return replace(CLAUDE, headers={name.replace("_", "-"): value for name, value in named.items()})


def test_a_version_is_in_a_header_a_body_or_a_url():
    assert api_version(with_headers(anthropic_version="2023-06-01")) == "2023-06-01"
    assert (
        api_version(replace(CLAUDE, body={"anthropic_version": "vertex-2023-10-16"})) == "vertex-2023-10-16"
    )
    path = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent"
    assert api_version(Request("gemini", "google", {}, path)) == "v1beta"
    azure = "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
    assert api_version(Request("openai-chat", "azure", {}, azure)) == "2024-10-21"


@pytest.mark.parametrize(
    ("scope", "request_", "holds"),
    [
        (Scope(versions=("2026-*",)), with_headers(anthropic_version="2026-10-21"), True),
        (Scope(versions=("2026-*",)), with_headers(anthropic_version="2023-06-01"), False),
        (Scope(versions=("2026-*",)), CLAUDE, False),
        (Scope(versions=("!2026-*",)), CLAUDE, True),
        (Scope(betas=("compact-*",)), with_headers(anthropic_beta="a-1, compact-2026-09-04"), True),
        (Scope(betas=("compact-*",)), CLAUDE, False),
        (Scope(betas=("!a-1",)), with_headers(anthropic_beta="b-1, a-1"), False),
        (Scope(betas=("!a-1",)), CLAUDE, True),
        (Scope(providers=("vertex",)), CLAUDE, False),
        (Scope(until=date(2026, 1, 1)), CLAUDE, False),
        (Scope(until=date(2026, 1, 1)), replace(CLAUDE, when=date(2025, 12, 31)), True),
    ],
)
def test_a_scope_holds_for_what_it_names(scope, request_, holds):
    assert scope.holds(request_) is holds


# --- Anthropic's versions and betas ----------------------------------------------------------------------


def refusals(body, day=None, provider="anthropic", **headers):
    """Returns the sentences with which a request is refused."""
    book = rules.book("anthropic", provider)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = replace(book.request(body), headers=named, when=day, provider=provider)
    found = [violation for verdict in book.judge(request) for violation in verdict.violations]
    return [violation.refusal.message for violation in found if violation.rule.refuses]


ASKED = an.body(an.ASK, temperature=1.0)


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-opus-5-5", "claude-haiku-5-5"])
def test_the_newest_version_has_no_temperature_and_the_older_one_has(model):
    newest, older = ({"anthropic_version": name} for name in ("2026-10-21", "2023-06-01"))
    assert "temperature: Extra inputs are not permitted" in refusals(ASKED | {"model": model}, **newest)
    assert not refusals(ASKED | {"model": model}, **older)


def test_a_version_exists_from_its_first_day_on():
    words = 'anthropic-version: "2026-10-21" is not a valid version'
    named = {"anthropic_version": "2026-10-21"}
    assert refusals(an.body(an.ASK), date(2026, 10, 20), **named) == [words]
    assert not refusals(an.body(an.ASK), date(2026, 10, 21), **named)
    assert "2026-10-21" not in versions("anthropic", date(2026, 10, 20))
    assert not refusals(an.body(an.ASK), anthropic_version="REDACTED"), "a recorder hid it"


@pytest.mark.parametrize(
    ("provider", "model", "version", "fine"),
    [
        ("bedrock", "anthropic.claude-opus-4-7-v1:0", "2026-10-21", True),
        ("bedrock", "anthropic.claude-sonnet-4-6-v1:0", "2026-10-21", False),
        ("bedrock", "anthropic.claude-sonnet-4-6-v1:0", "bedrock-2023-05-31", True),
        ("bedrock", "anthropic.claude-sonnet-4-6-v1:0", "claude-3-sonnet-20240229-v1:0", False),
        ("vertex", "claude-sonnet-4-6", "vertex-2023-10-16", True),
        ("vertex", "claude-sonnet-4-6", "bedrock-2023-05-31", False),
    ],
)
def test_the_body_names_the_version_behind_a_cloud(provider, model, version, fine):
    told = refusals(an.body(an.ASK, model=model, anthropic_version=version), provider=provider)
    words = f"Invalid API version: {version}" if provider == "bedrock" else "is not a valid version"
    assert not told if fine else words in told[0]


def test_the_body_of_anthropics_own_api_has_no_version():
    body = an.body(an.ASK, anthropic_version="2023-06-01")
    assert refusals(body, anthropic_version="2023-06-01") == [
        "anthropic_version: Extra inputs are not permitted"
    ]


def test_an_unknown_beta_is_refused_and_every_known_one_is_not():
    (told,) = refusals(an.body(an.ASK), anthropic_version="2023-06-01", anthropic_beta="x-2026-01-01")
    assert told.startswith("Unexpected value(s) `x-2026-01-01` for the `anthropic-beta` header.")
    named = {"anthropic_version": "2026-10-21", "anthropic_beta": ",".join(BETAS)}
    assert not refusals(an.body(an.ASK), **named)
    assert refusals(an.body(an.ASK), date(2026, 8, 1), anthropic_beta="compact-2026-09-04")


def test_every_beta_says_what_it_is_for():
    assert len(BETAS) >= 58
    for beta in BETAS.values():
        assert beta.unlocks or beta.model or beta.endpoint, beta
        assert beta.since, beta
    assert [each.since for each in VERSIONS]


def test_fields_of_a_beta_need_its_name_where_a_refusal_is_on_record():
    asked, old = an.body(an.ASK, context_management={"edits": []}), {"anthropic_version": "2023-06-01"}
    assert refusals(asked, **old) == ["context_management: Extra inputs are not permitted"]
    assert not refusals(asked, **old, anthropic_beta="context-management-2025-06-27")
    assert not refusals(asked, anthropic_version="2026-10-21")


def test_a_computer_tool_without_its_beta_is_not_refused():
    computer = {
        "type": "computer_20251124",
        "name": "computer",
        "display_width_px": 9,
        "display_height_px": 9,
    }
    asked = an.body(an.ASK, model="claude-opus-4-5", tools=[computer])
    assert not refusals(asked, anthropic_version="2023-06-01"), "recordings without it were accepted"
    assert not refusals(asked, anthropic_version="2023-06-01", anthropic_beta="computer-use-2025-11-24")
    assert not refusals(asked), "a recorder may have lost the headers"
    toolset = an.body(an.ASK, model="claude-opus-5-5", tools=[{"type": "computer_toolset_20260801"}])
    assert not refusals(toolset, anthropic_version="2023-06-01")
