"""Marks for prompt caches: their places, the constant JSON of a turn, and the formats that accept them."""

import pytest

from ellmer_core import chat_anthropic, chat_aws_bedrock
from ellmer_core.contents.content import (
    ContentFile,
    ContentPDF,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import UsageError
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock

CLAUDE = "us.anthropic.claude-sonnet-5"
CALL = ContentToolRequest("c1", "draw")
NOTES = ContentFile("text/markdown", "IyBOb3Rlcw==", "notes.md")
TURNS = [SystemTurn("Be brief."), UserTurn("Draw."), AssistantTurn([CALL])]
ANSWERED = [*TURNS, UserTurn([ContentToolResult("ok", request=CALL), "And now?"])]


def count(value, name):
    """Returns the number of occurrences of a key at any depth."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (name in value if isinstance(value, dict) else 0) + sum(count(each, name) for each in inner)


@pytest.mark.parametrize("ttl", ["5m", "1h"])
def test_anthropic_marks_the_system_prompt_and_the_last_block(ttl):
    body = AnthropicMessages(model="m", cache=ttl).request(ANSWERED).json
    mark = {"type": "ephemeral", "ttl": ttl}

    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert body["messages"][-1]["content"][-1] == {"type": "text", "text": "And now?", "cache_control": mark}
    assert count(body, "cache_control") == 2


def test_without_a_system_prompt_and_behind_a_thought():
    thought = AnthropicMessages(model="m").own(
        block={"type": "thinking", "thinking": "Hm.", "signature": "s"}
    )
    turns = [UserTurn("Hi"), AssistantTurn([ContentThinking("Hm.", extra=thought)])]

    marked = AnthropicMessages(model="m", cache="5m").request(turns).json["messages"]
    assert marked == AnthropicMessages(model="m", cache="5m").request(turns[:1]).json["messages"]
    assert count(marked, "cache_control") == 1


@pytest.mark.parametrize(
    ("ttl", "point"), [("5m", {"type": "default"}), ("1h", {"type": "default", "ttl": "1h"})]
)
def test_bedrock_has_points_of_their_own(ttl, point):
    body = Bedrock(model=CLAUDE, cache=ttl).request(ANSWERED).json

    assert body["system"] == [{"text": "Be brief."}, {"cachePoint": point}]
    assert body["messages"][-1]["content"][-1] == {"cachePoint": point}
    assert count(body, "cachePoint") == 2


@pytest.mark.parametrize(
    ("contents", "kinds"),
    [
        (["Sum up.", NOTES], ["text", "cachePoint", "document"]),
        (["Sum up.", NOTES, NOTES], ["text", "cachePoint", "document", "document"]),
        (
            ["Sum up.", ContentPDF("application/pdf", "JVBERi0xLjQ=", "a.pdf")],
            ["text", "document", "cachePoint"],
        ),
        ([NOTES, "Sum up."], ["document", "text", "cachePoint"]),
    ],
)
def test_the_point_of_bedrock_is_not_behind_a_document_that_is_no_pdf(contents, kinds):
    """Claude is not given the point there, and refuses the request: `messages.0.content.2.type: Field required`."""
    body = Bedrock(model=CLAUDE, cache="5m").request([UserTurn(contents)]).json

    assert [key for block in body["messages"][0]["content"] for key in block] == kinds


@pytest.mark.parametrize("wire", [AnthropicMessages(model="m"), Bedrock(model=CLAUDE)], ids=lambda w: w.name)
def test_nobody_is_marked_unasked(wire):
    assert (
        count(wire.request(ANSWERED).json, "cache_control") + count(wire.request(ANSWERED).json, "cachePoint")
        == 0
    )


def test_the_marks_move_on_and_leave_what_was_there_as_it_was():
    said = {}
    wire = AnthropicMessages(
        model="m",
        cache="5m",
        keep=lambda turns, message: [m for t in turns for m in said.setdefault(id(t), message(t))],
    )
    wire.request(ANSWERED[:2])

    assert count(wire.request(ANSWERED).json["messages"][:-1], "cache_control") == 0
    assert count(list(said.values()), "cache_control") == 0


def test_constructors_take_it_and_models_without_it_refuse():
    assert chat_anthropic(cache="1h", api_key="k", echo="none").wire.cache == "1h"
    assert chat_aws_bedrock(cache="5m", api_key="k", region="us-east-1", echo="none").wire.cache == "5m"
    with pytest.raises(UsageError, match="does not support cache breakpoints"):
        chat_aws_bedrock(cache="5m", api_key="k", region="us-east-1", model="meta.llama4", echo="none")
