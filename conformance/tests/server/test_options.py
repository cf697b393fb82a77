"""Optional features of the strict server: media inside tool results if an API accepts them, and cache marks."""

import pytest

from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

CASES = all_cases()
MEDIA = [name for name, case in CASES.items() if "image_in_tool_result" in case.needs and not case.variations]


class With(EllmerCore):
    """Our adapter with options."""

    def __init__(self, **options):
        self._options = options

    def options(self):
        return self._options


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


def failures(adapter, place, case, mode, server):
    run = play_direct(adapter, *place, CASES[case], mode, server=server)
    assert run.exchanges
    return run, {v.rule.id: v.violations[0].message for v in judge(run) if v.outcome == "fail"}


NATIVE = [
    (wire, provider.key[1])
    for (wire, _), provider in EllmerCore().providers.items()
    if provider.wire.supports.native_tool_media and provider.key in PROVIDER_ADDRESSES
]


def test_most_formats_carry_media_in_results():
    assert {wire for wire, _ in NATIVE} == {
        "openai-responses",
        "anthropic",
        "gemini",
        "bedrock",
        "ollama",
        "mistral",
    }


@pytest.mark.parametrize("mode", ["sync", pytest.param("stream", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", MEDIA)
@pytest.mark.parametrize(("wire", "provider"), NATIVE)
def test_media_inside_results_arrive_whole_and_in_order(wire, provider, case, mode, server):
    if EllmerCore().capabilities(wire, provider).refused(CASES[case].needs):
        pytest.skip("it does not take them at all")
    run, broken = failures(With(tool_media="native"), (wire, provider), case, mode, server)

    assert broken == {}
    assert [reply.text for reply in run.replies] == [step.text for step in CASES[case].steps]


@pytest.mark.parametrize("case", ["plain_text", "system_prompt", "two_parallel_tools", "thinking_with_tools"])
@pytest.mark.parametrize(("wire", "provider"), [("anthropic", "anthropic"), ("bedrock", "bedrock")])
def test_marks_for_caches_break_nothing(wire, provider, case, server):
    run, broken = failures(With(cache="5m"), (wire, provider), case, "sync", server)

    assert broken == {}
    assert any(mark in str(run.exchanges[-1].request.body) for mark in ("cache_control", "cachePoint"))
