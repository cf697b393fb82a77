"""The class for packages with langchain-tests. `nox -s "peers(langchain)"` runs all of it, because it has LangChain."""

from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from ellmer_conformance.adapters import Endpoint
from ellmer_conformance.adapters.langchain_model import words_of
from ellmer_conformance.pytest.langchain import LangChainConformance
from ellmer_conformance.runner.against_server import play_alone
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases

TO = Endpoint("openai-chat", "openai", "http://127.0.0.1:9/v1", "any-key", "gpt-4.1")


class Without(BaseModel):
    """A model class that has no parameter for an address."""

    model: str


class Standard:
    chat_model_class = Without


class Conformance(LangChainConformance):
    standard, wire = Standard, "openai-chat"


def test_a_class_without_an_address_is_refused_with_the_names_of_the_parameters():
    with pytest.raises(TypeError, match="Without has none of the parameters base_url, api_base, "):
        Conformance.adapter().session(TO)


@pytest.mark.parametrize(
    ("content", "beside"),
    [("", {"refusal": "I cannot."}), ([{"type": "refusal", "refusal": "I cannot.", "index": 0}], {})],
)
def test_the_words_of_a_refusal_are_handed_over(content, beside):
    assert words_of(SimpleNamespace(content=content, text="", additional_kwargs=beside)) == "I cannot."


@pytest.mark.parametrize("mode", ["sync", "async", "stream", "async-stream"])
@pytest.mark.parametrize(
    "case", ["plain_text", "one_tool", "tool_error", "image_from_user", "result_then_text"]
)
def test_a_chat_model_is_played_by_its_test_class(case, mode):
    models = pytest.importorskip("langchain_openai")
    standard = type(
        "Standard",
        (),
        {"chat_model_class": models.ChatOpenAI, "chat_model_params": {"model": "m", "stream_usage": True}},
    )
    tested = type("Conformance", (LangChainConformance,), {"standard": standard, "wire": "openai-chat"})

    run = play_alone(tested.adapter(), "openai-chat", "openai", all_cases()[case], mode)

    assert run.exchanges
    assert {v.rule.id: v.violations for v in judge(run) if v.outcome == "fail"} == {}
