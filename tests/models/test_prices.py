"""The price table: dated, complete for what is announced, and made from its source by one command."""

import json
import re
from datetime import date

import pytest

from ellmer_core.contents.turns import Tokens
from ellmer_core.models.prices import price_lookup, table_update
from ellmer_core.models.prices.price_lookup import TABLE, cost
from ellmer_core.providers.anthropic import Anthropic
from ellmer_core.providers.deepseek import DeepSeek
from ellmer_core.providers.google_gemini import GoogleGemini
from ellmer_core.providers.openai import OpenAI
from ellmer_core.providers.openai_compatible import OpenAICompatible
from ellmer_core.providers.openai_completions import OpenAICompletions

MILLION = Tokens(1_000_000, 0)


def test_the_table_says_when_and_from_where_it_is():
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    assert date.fromisoformat(table["date"]) > date(2026, 1, 1)
    assert table["source"].startswith("genai-prices ")


@pytest.mark.parametrize("wire", [OpenAI, OpenAICompletions, Anthropic, GoogleGemini, DeepSeek])
def test_every_default_model_has_a_price(wire):
    assert cost(wire(model=wire.default_model), Tokens(1000, 1000)) > 0


def test_cached_and_written_tokens_have_their_own_price():
    wire = Anthropic(model="claude-sonnet-4-6")
    assert cost(wire, MILLION) == 3.0
    assert cost(wire, Tokens(1_000_000, 0, cached=1_000_000)) == pytest.approx(0.3)
    assert cost(wire, Tokens(1_000_000, 0, cache_write=1_000_000)) == pytest.approx(3.75)
    assert cost(wire, Tokens(0, 1_000_000, reasoning=500_000)) == 15.0
    no_cache_price = OpenAI(model="gpt-4-turbo")
    assert cost(no_cache_price, Tokens(1000, 0, cached=1000)) == cost(no_cache_price, Tokens(1000, 0))


def test_a_long_input_costs_more_all_of_it():
    wire = GoogleGemini(model="gemini-2.5-pro")
    short, long = (cost(wire, Tokens(n, 0)) / n for n in (200_000, 200_001))
    assert long == pytest.approx(2 * short)


def test_dated_names_are_their_model_and_other_models_are_not():
    def priced(wire, model):
        return cost(wire(model=model), MILLION)

    assert priced(OpenAI, "gpt-4.1-2025-04-14") == priced(OpenAI, "gpt-4.1")
    assert priced(OpenAI, "gpt-4.1-mini") != priced(OpenAI, "gpt-4.1")
    assert priced(Anthropic, "claude-sonnet-5-20260301") == priced(Anthropic, "claude-sonnet-5")
    assert priced(OpenAI, "gpt-4.1-imagined") is None
    assert priced(OpenAICompatible, "gpt-4.1") is None


def test_unknown_tokens_have_no_price():
    assert cost(OpenAI(model="gpt-4.1"), Tokens(None, 1)) is None
    assert cost(OpenAI(model="gpt-4.1"), Tokens(1, None)) is None


def test_the_command_writes_the_same_table(tmp_path, monkeypatch):
    data = pytest.importorskip(
        "genai_prices.data", reason="genai-prices, the source of the table, is missing"
    )
    before = json.loads(TABLE.read_text(encoding="utf-8"))
    monkeypatch.setattr(table_update, "TABLE", tmp_path / "prices.json")
    table_update.update()
    after = json.loads(table_update.TABLE.read_text(encoding="utf-8"))
    assert before.keys() == after.keys()
    assert before["vendors"].keys() == after["vendors"].keys()
    for vendor, rows in after["vendors"].items():
        provider = next(p for p in data.providers if p.id == table_update.VENDORS[vendor])
        matches = {model.id: model.match for model in provider.models}
        for row in rows:
            for name in (row["model"], f"{row['model']}-2026-01-01", f"{row['model']}x"):
                assert bool(re.search(row["match"], name)) is matches[row["model"]].is_match(name)


@pytest.mark.parametrize("vendor", table_update.VENDORS)
def test_a_pattern_that_is_not_compiled_means_the_same(vendor):
    rows = json.loads(TABLE.read_text(encoding="utf-8"))["vendors"][vendor]
    names = [row["model"].lower() for row in rows] + ["", "gpt-4.1-mini", "claude-opus-4-1@20250805"]
    patterns = [row["match"] for row in rows] + [
        "",
        "|",
        "^$",
        "^",
        "mini$",
        "a.b",
        r"4\.1",
        "(mini)",
        "^^gpt",
        "x|gpt",
    ]

    for pattern in patterns:
        found = [name for name in names if price_lookup._matches(pattern, name)]
        assert found == [name for name in names if re.search(pattern, name)], pattern
