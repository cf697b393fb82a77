"""The table of what models accept at hosts: each cell has a recording, and the rules of the hosts agree with it."""

import re
from dataclasses import replace
from datetime import date

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rules.openai_chat import _refusals_and_examples as oc
from ellmer_conformance.contract.rules.openai_chat.providers._capabilities import cells
from ellmer_core.models import profiles

RECORDED = date(2026, 8, 22)  # no recording of the table is later
PARTS = {
    "images": oc.IMAGE,
    "audio": {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
    "video": {"type": "video_url", "video_url": {"url": "https://x.test/a.mp4"}},
    "documents": {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0xLjQ="}},
}
SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "number"}},
    "required": ["x"],
    "additionalProperties": False,
}
OPTIONS = {
    "tools": {"tools": [oc.TOOL]},
    "logprobs": {"logprobs": True},
    "json_object": {"response_format": {"type": "json_object"}},
    "json_schema": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    },
}


def request_with(cell):
    """A request that uses the feature of a cell, and no other."""
    if cell.feature in PARTS:
        return oc.body({"role": "user", "content": [PARTS[cell.feature]]}, model=cell.model)
    return oc.body({"role": "user", "content": "Answer in JSON."}, model=cell.model, **OPTIONS[cell.feature])


def about(cell):
    """The rules of the host that refuse a cell's feature for its model."""
    book = rules.book("openai-chat", cell.host)
    verdicts = book.judge(replace(book.request(request_with(cell)), when=RECORDED))
    return [each for each in verdicts if each.violations and each.rule.refuses and each.rule.models]


def test_every_cell_has_a_recording_that_can_be_opened():
    assert len(cells()) > 300
    for cell in cells():
        assert cell.accepted or cell.refused, cell
        assert cell.feature in PARTS | OPTIONS
        assert bool(cell.refused) == bool(cell.status) == bool(cell.words), cell
        for link in filter(None, (cell.accepted, cell.refused)):
            assert re.match(
                r"https://(github\.com/[\w.-]+/[\w.-]+/blob/\w{40}/|inspector\.pypi\.io/)", link
            ), link


def test_a_model_has_one_cell_for_a_feature():
    named = [(cell.host, cell.model, cell.feature) for cell in cells()]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("host", sorted({cell.host for cell in cells()}))
def test_no_rule_of_a_host_refuses_what_is_recorded_as_accepted(host):
    wrong = [
        f"{cell.model} {cell.feature}: {verdict.rule.id}"
        for cell in cells()
        if cell.host == host and cell.accepted and not cell.refused
        for verdict in about(cell)
    ]
    assert not wrong


#: Refusals whose cause is more than the feature: the form of the schema, the number of log probabilities, a stream.
MORE = (
    "cannot be empty",
    "logprobs > 1",
    "stream=true",
    "OpenAIJsonSchemaFormat",
    "Invalid ",
    "structured outputs",
)


@pytest.mark.parametrize("host", sorted({cell.host for cell in cells() if cell.refused}))
def test_what_a_host_is_recorded_to_refuse_is_refused(host):
    found = [
        (cell, bool(about(cell)))
        for cell in cells()
        if cell.host == host and cell.refused and not cell.accepted and not any(w in cell.words for w in MORE)
    ]
    assert not [f"{cell.model} {cell.feature}: {cell.words}" for cell, refused in found if not refused]


#: The names of the hosts in the client's profiles. The other hosts have no rows of their own there.
PROVIDERS = {
    "cerebras": "Cerebras",
    "cloudflare": "Cloudflare",
    "deepseek": "DeepSeek",
    "groq": "Groq",
    "huggingface": "Hugging Face",
    "openrouter": "OpenRouter",
    "perplexity": "Perplexity",
    "qwen": "Alibaba/Qwen",
    "together": "Together AI",
    "xai": "xAI",
    "zai": "Z.ai",
}


#: Models without eyes whose host answers 200 to an image that they never see.
UNSEEN = {("together", "openai/gpt-oss-20b"), ("together", "openai/gpt-oss-120b")}


def claim(cell):
    """What the client's profile says of a cell's feature: true, false, or `None` if it says nothing."""
    profile = profiles._profile(PROVIDERS[cell.host], "openai-chat", cell.model, version="", day=RECORDED)
    if cell.feature == "images":
        blind = profile.images is None or (cell.host, cell.model) in UNSEEN
        return None if blind else bool(profile.images)
    if cell.feature == "documents":
        return profile.pdfs
    if cell.feature == "tools":
        return False if not profile.tools else None
    if cell.feature == "json_schema":
        return False if profile.structured == "words" else None
    return None


def test_the_hosts_are_providers_of_the_client():
    assert set(PROVIDERS.values()) <= {name for row in profiles.rows() for name in row["provider"]}


@pytest.mark.parametrize("host", sorted(PROVIDERS))
def test_the_clients_profiles_say_what_is_recorded(host):
    told = [(cell, claim(cell)) for cell in cells() if cell.host == host]
    wrong = [
        f"{cell.model} {cell.feature}: the profile says {said}, recorded: {cell.accepted or cell.words}"
        for cell, said in told
        if said is not None and bool(cell.accepted) != bool(cell.refused) and said != bool(cell.accepted)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("model", "day", "refused"),
    [
        ("deepseek-v4-flash", date(2026, 9, 9), ["IMG-013"]),
        ("deepseek-v4-flash", date(2026, 9, 10), []),  # V4.1 Flash answers to the earlier name
        ("deepseek-flash", None, []),
        ("deepseek-chat", None, ["IMG-013"]),  # its name is gone, and the model never saw
    ],
)
def test_deepseek_takes_images_since_v4_1(model, day, refused):
    book = rules.book("openai-chat", "deepseek")
    asked = replace(book.request(oc.body({"role": "user", "content": [oc.IMAGE]}, model=model)), when=day)
    assert [each.rule.id for each in book.judge(asked) if each.outcome == "fail"] == refused
