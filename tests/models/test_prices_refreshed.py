"""Prices that a user loads."""

import json

import pytest

from ellmer_core import chat, chat_anthropic, chat_claude, chat_openai, chat_openai_responses, refresh_prices
from ellmer_core.contents.turns import Tokens
from ellmer_core.errors import UsageError
from ellmer_core.models.prices.price_lookup import TABLE, cost
from ellmer_core.providers.openai import OpenAI
from ellmer_core.providers.openai_compatible import OpenAICompatible

ROW = {"model": "mine", "match": "^mine", "prices": [[0, 2.0, 4.0, None, None]]}
MILLION = Tokens(1_000_000, 1_000_000)


@pytest.fixture(autouse=True)
def packaged():
    yield
    refresh_prices(None)


def table(tmp_path, **providers):
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"providers": providers}))
    return path


def test_prices_come_from_a_file_and_win(tmp_path):
    mine, known = OpenAICompatible(model="mine-1"), OpenAI(model="gpt-4.1")
    before = cost(known, MILLION)
    assert cost(mine, MILLION) is None
    dearer = {"model": "gpt-4.1", "match": "^gpt-4", "prices": [[0, 100, 200, None, None]]}
    assert refresh_prices(table(tmp_path, **{"OpenAI-compatible": [ROW], "OpenAI": [dearer]})) == 2
    assert cost(mine, MILLION) == 6
    assert cost(known, MILLION) == 300
    assert refresh_prices(None) == 0
    assert cost(mine, MILLION) is None
    assert cost(known, MILLION) == before


def test_prices_come_from_a_url(server, reply):
    body = json.dumps({"providers": {"OpenAI-compatible": [ROW]}}).encode()
    server.answers(reply([body]), reply([b"no"], status=404))
    assert refresh_prices(f"{server.url}/prices.json") == 1
    assert cost(OpenAICompatible(model="mine"), MILLION) == 6
    with pytest.raises(UsageError, match="not a table of prices"):
        refresh_prices(f"{server.url}/prices.json")


def test_the_package_s_own_table_has_the_form():
    assert refresh_prices(TABLE) > 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"prices": [[0, 1]]},
        {"prices": []},
        {"prices": [[0, None, 1, None, None]]},
        {"prices": [[0, -1, 1, None, None]]},
        {"prices": [[0, "1", 1, None, None]]},
        {"prices": [[0, 10**400, 1, None, None]]},
        {"prices": [[0, float("inf"), 1, None, None]]},
        {"match": "("},
        {"model": 3, "match": None},
    ],
)
def test_what_is_no_table_is_refused_and_nothing_changed(tmp_path, wrong):
    refresh_prices(table(tmp_path, **{"OpenAI-compatible": [ROW]}))
    with pytest.raises(UsageError, match="not a table of prices"):
        refresh_prices(table(tmp_path, **{"OpenAI-compatible": [{**ROW, **wrong}]}))
    assert cost(OpenAICompatible(model="mine"), MILLION) == 6
    with pytest.raises(UsageError, match="not a table of prices"):
        refresh_prices(tmp_path / "nothing.json")


@pytest.mark.parametrize("path", ["/dev/zero", "http://[::1"])
def test_what_never_ends_or_is_no_address_is_refused(path):
    with pytest.raises(UsageError, match="not a table of prices"):
        refresh_prices(path)


def test_a_download_without_an_end_is_left(server, reply):
    server.answers(reply([b" " * 600] * 5))
    with pytest.raises(UsageError, match="larger than 1,000 bytes"):
        refresh_prices(f"{server.url}/prices.json", max_bytes=1000)


def test_a_table_without_a_bottom_is_refused(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UsageError, match="not a table of prices"):
        refresh_prices(path)


def test_two_constructors_have_second_names():
    assert chat_claude is chat_anthropic
    assert chat_openai_responses is chat_openai
    assert chat("claude/claude-sonnet-5", api_key="k", echo="none").get_model() == "claude-sonnet-5"
