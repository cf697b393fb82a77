"""Sixty schemas at every provider: the strict server accepts the requests of ellmer_core, and the value is returned."""

import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.adapters.endpoints import address_of, endpoint
from ellmer_conformance.scenarios.script import Script, StructuredAnswer
from ellmer_conformance.server import StrictServer
from ellmer_core import UsageError
from ellmer_core._chat.structured_output import Structured
from ellmer_core.schemas.type_functions import convert

sys.path.append(str(Path(__file__).parents[3] / "tests" / "support"))

from sixty_schemas import SCHEMAS

ADAPTER = EllmerCore()
PLACES = [(wire, provider) for wire, providers in ADAPTER.wires.items() for provider in providers]
FIRST = {wire: providers[0] for wire, providers in ADAPTER.wires.items()}
EVERYWHERE = [
    pytest.param(place, id="/".join(place), marks=() if place in FIRST.items() else pytest.mark.slow)
    for place in PLACES
]
NUMBERS = count(1)


@pytest.fixture(scope="module")
def server():
    scripts = {name: Script([StructuredAnswer(sent(type, value))]) for name, type, value in SCHEMAS}
    with StrictServer(scripts) as started:
        yield started


def sent(type, value):
    """Returns the value in the form of a model, which returns only objects."""
    return {"wrapper": value} if Structured(type).wrapped else value


@pytest.fixture
def ask(server, place):
    """Asks a provider for a type, in a separate conversation over one connection."""
    there = address_of(ADAPTER, *place)
    first = server.url("first", "0")
    chat = ADAPTER.session(replace(endpoint(there, *place), base_url=first + there.path)).chat
    wire = chat.wire

    def asked(name, type, **how):
        url = server.url(name, f"{next(NUMBERS)}@{place[1]}")
        chat.wire = replace(wire, base_url=wire.base_url.replace(first, url))
        chat.set_turns([])
        return chat.chat_structured("What is it?", type=type, max_retries=0, **how)

    with chat:
        yield asked


@pytest.mark.parametrize("place", EVERYWHERE)
def test_every_schema_gives_its_value(ask):
    for name, type, value in SCHEMAS:
        assert ask(name, type) == convert(value, type), name


@pytest.mark.parametrize("mode", ["native", "tool", "prompt"])
@pytest.mark.parametrize(
    "place",
    [place for place in PLACES if place[1] in {"openai", "anthropic", "google", "cohere"}],
    ids="/".join,
)
def test_a_mode_works_or_is_refused_before_anything_is_sent(ask, mode):
    asked = []
    for name, type, value in SCHEMAS[::3]:
        try:
            assert ask(name, type, mode=mode) == convert(value, type), name
            asked.append(name)
        except UsageError as error:
            if f'mode="{mode}"' not in str(error):
                raise
    assert len(asked) > (5 if mode == "native" else 15)


def test_there_are_sixty():
    assert len(SCHEMAS) == len({name for name, _, _ in SCHEMAS}) == 60
