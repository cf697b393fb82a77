"""`replay="model"`: the model is played, and the tools run. Where only a result differs, the run goes on.

The agents that use an official SDK run in the session `oracles`, which installs the SDKs.
"""

import json
import struct
import zlib
from pathlib import Path

import pytest

from ellmer_conformance.contract.observed.replayed_model import Model
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server import StrictServer
from ellmer_core import chat_openai, content_image_file, tool
from ellmer_harness import Diverged, Miss, Sent, use_cassette
from ellmer_harness.cassette.partial_replay import DivergenceWarning
from ellmer_harness.recordings import read

CASSETTES = Path(__file__).parents[3] / "cassettes"
CASES = ("one_tool", "two_parallel_tools", "tool_returns_image")
FORMATS = {"openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "mistral", "cohere"}
WITH_TOOLS = [
    path
    for case in CASES
    for provider in ("openai", "anthropic", "google", "bedrock", "ollama", "mistral", "cohere")
    for path in sorted(CASSETTES.glob(f"*/{provider}/{case}*.json"))
]
MODEL = Model()


# --- Where the results are, in every format --------------------------------------------------------------


def test_cassettes_of_all_formats_are_looked_at():
    assert {path.parts[-3] for path in WITH_TOOLS} >= FORMATS


@pytest.mark.parametrize("path", WITH_TOOLS, ids=lambda path: "-".join(path.parts[-3:]))
def test_results_and_answers_are_found(path):
    (first, answer), *later = [
        (Sent(one.method, one.url, dict(one.sent), one.body), one.content) for one in read(path).interactions
    ]
    calls = MODEL.answer(first, answer).splitlines()

    assert MODEL.replays(first)
    assert MODEL.results(first) == []
    assert [each.call for each in MODEL.results(later[0][0]) if not each.added] == calls
    assert MODEL.answer(*later[-1])


@pytest.mark.parametrize(
    ("url", "plays"),
    [
        ("https://api.openai.com/v1/embeddings", True),
        ("https://api.openai.com/v1/models", True),
        ("http://127.0.0.1:8087/v1/chat/completions", True),
        ("https://s3.eu-west-1.amazonaws.com/files/a.txt", False),
        ("https://huggingface.co/docs", False),
        ("https://wttr.in/Paris", False),
        ("stdio://python/?files.py", False),
        ("https://mcp.example.com/mcp", False),
    ],
)
def test_a_request_is_one_to_a_model_or_of_a_tool(url, plays):
    assert MODEL.replays(Sent("POST", url, {}, b"{}")) is plays


# --- Three agents ----------------------------------------------------------------------------------------


PLAN = Script((Answer((Call("read_note", {"name": "shopping"}),)), Answer((Say("You have to buy milk."),))))
NOTE = {"shopping": "Buy milk by 5 pm"}
QUESTION = "What is on my list?"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def read_note(name: str) -> str:
    """Reads a note.

    Args:
        name: Name of the note.
    """
    return NOTE[name]


def with_ellmer_core():
    chat = chat_openai(model="gpt-5.6-terra", echo="none")
    chat.register_tool(tool(read_note))
    return str(chat.chat(QUESTION))


def with_openai():
    openai = pytest.importorskip("openai")
    client, asked = openai.OpenAI(), [{"role": "user", "content": QUESTION}]
    function = {"name": "read_note", "description": "Reads a note.", "parameters": SCHEMA}
    while True:
        said = (
            client.chat.completions.create(
                model="gpt-4.1", messages=asked, tools=[{"type": "function", "function": function}]
            )
            .choices[0]
            .message
        )
        if not said.tool_calls:
            return said.content
        asked.append(said.model_dump(exclude_none=True))
        for call in said.tool_calls:
            note = read_note(**json.loads(call.function.arguments))
            asked.append({"role": "tool", "tool_call_id": call.id, "content": note})


def with_anthropic():
    anthropic = pytest.importorskip("anthropic")
    client, asked = anthropic.Anthropic(), [{"role": "user", "content": QUESTION}]
    tools = [{"name": "read_note", "description": "Reads a note.", "input_schema": SCHEMA}]
    while True:
        with client.messages.stream(
            model="claude-sonnet-5", max_tokens=99, messages=asked, tools=tools
        ) as stream:
            said = stream.get_final_message()
        calls = [block for block in said.content if block.type == "tool_use"]
        if not calls:
            return said.content[0].text
        asked.append(
            {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in said.content]}
        )
        results = [
            {"type": "tool_result", "tool_use_id": each.id, "content": read_note(**each.input)}
            for each in calls
        ]
        asked.append({"role": "user", "content": results})


AGENTS = [with_ellmer_core, with_openai, with_anthropic]


@pytest.fixture(scope="module")
def server():
    with StrictServer({"note": PLAN}) as server:
        yield server


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "any-key")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=AGENTS)
def agent(request, server, tmp_path):
    """An agent, and its recording."""
    base = server.url("note", tmp_path.name)
    routes = {
        "https://api.openai.com/v1": base if base.endswith("/v1") else f"{base}/v1",
        "https://api.anthropic.com": base.removesuffix("/v1"),
    }
    path = tmp_path / "agent.json"
    with use_cassette(path, mode="record", routes=routes, recorded_from="strict-server"):
        assert request.param() == "You have to buy milk."
    return request.param, path


def test_a_run_whose_tools_return_the_same_does_not_diverge(agent):
    run, path = agent
    with use_cassette(path, replay="model", diverged="error") as cassette:
        assert run() == "You have to buy milk."

    assert cassette.divergences == []


def test_a_run_goes_on_where_a_result_differs_and_tells_where(agent, monkeypatch):
    run, path = agent
    monkeypatch.setitem(NOTE, "shopping", "Buy bread by 6 pm")
    with (
        pytest.warns(DivergenceWarning, match="no longer fits: it says milk, which was only in"),
        use_cassette(path, replay="model") as cassette,
    ):
        assert run() == "You have to buy milk."

    (found,) = cassette.divergences
    assert (found.number, found.call, found.fits) == (2, 'read_note(name="shopping")', False)
    assert "Buy [-milk-]{+bread+} by" in found.changes[0]


def test_an_answer_that_says_nothing_of_what_is_gone_still_fits(agent, monkeypatch):
    run, path = agent
    monkeypatch.setitem(NOTE, "shopping", "Buy milk by 6 pm")
    with (
        pytest.warns(DivergenceWarning, match="still fits"),
        use_cassette(path, replay="model", diverged="error"),
    ):
        run()


def test_an_answer_that_no_longer_fits_can_be_an_error(agent, monkeypatch):
    run, path = agent
    monkeypatch.setitem(NOTE, "shopping", "Nothing")
    with pytest.raises(Diverged, match="milk"), use_cassette(path, replay="model", diverged="error"):
        run()


def test_any_other_difference_is_a_miss(agent, monkeypatch):
    run, path = agent
    monkeypatch.setitem(NOTE, "shopping", "Buy bread")
    monkeypatch.setattr(f"{__name__}.QUESTION", "What is on my other list?")
    with pytest.raises(Miss, match="other"), use_cassette(path, replay="model"):
        run()


def test_without_it_a_result_that_differs_is_a_miss(agent, monkeypatch):
    run, path = agent
    monkeypatch.setitem(NOTE, "shopping", "Buy bread")
    with pytest.raises(Miss, match="bread"), use_cassette(path):
        run()


def _image(path, grey):
    rows = zlib.compress(b"".join(b"\0" + bytes([grey] * 8) for _ in range(8)))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b"")]
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in chunks
        )
    )


def test_an_image_of_a_tool_may_differ(tmp_path):
    picture = tmp_path / "a.png"
    plan = Script((Answer((Call("draw", {}),)), Answer((Say("It is a square."),))))

    def draw():
        """Draws."""
        return content_image_file(str(picture))

    def run():
        chat = chat_openai(model="gpt-5.6-terra", echo="none")
        chat.register_tool(draw)
        return str(chat.chat("Draw"))

    _image(picture, 0)
    with (
        StrictServer({"draw": plan}) as server,
        use_cassette(
            tmp_path / "c.json",
            mode="record",
            routes={"https://api.openai.com": server.url("draw", "1")},
            recorded_from="strict-server",
        ),
    ):
        run()
    _image(picture, 255)
    with (
        pytest.warns(DivergenceWarning, match=r"draw\(\)"),
        use_cassette(tmp_path / "c.json", replay="model"),
    ):
        assert run() == "It is a square."
