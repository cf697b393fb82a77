"""Bedrock Converse: a request's fields besides its messages: tools, parameters, structured output, the model."""

import json

import pytest
from wires.bedrock_samples import CALLED, CLAUDE, LLAMA, NOVA, TWO, result

from ellmer_core.contents.content import ToolDef
from ellmer_core.contents.turns import UserTurn
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import TypeBasic
from ellmer_core.wire.base import answer_of
from ellmer_core.wire.bedrock.to_wire import Bedrock

BOOK = TypeObject(properties={"title": TypeBasic()})
DRAW = ToolDef(lambda n: n, "draw", "Draws.", TypeObject(properties={"n": TypeBasic(type="integer")}))


def test_a_tool():
    assert CLAUDE.request([UserTurn("Hi")], [DRAW]).json["toolConfig"] == {
        "tools": [
            {
                "toolSpec": {
                    "name": "draw",
                    "description": "Draws.",
                    "inputSchema": {
                        "json": {
                            "type": "object",
                            "properties": {"n": {"type": "integer"}},
                            "required": ["n"],
                            "additionalProperties": False,
                        }
                    },
                }
            }
        ]
    }


def test_the_tools_of_the_history_stay_defined():
    turns = [UserTurn("Go"), CALLED, UserTurn([result("a"), result("b", TWO)]), UserTurn("Thanks")]
    config = CLAUDE.request(turns).json["toolConfig"]

    assert [tool["toolSpec"]["name"] for tool in config["tools"]] == ["draw", "look"]
    assert "toolConfig" not in CLAUDE.request([UserTurn("Hi")]).json


def test_parameters_find_the_place_where_the_family_has_them():
    params = {"temperature": 0.5, "max_tokens": 9, "stop_sequences": ["x"], "top_k": 3}
    claude = Bedrock(model=CLAUDE.model, params={**params, "reasoning_tokens": 1024}).request(
        [UserTurn("Hi")]
    )
    nova = Bedrock(model=NOVA.model, params=params).request([UserTurn("Hi")])

    assert claude.json["inferenceConfig"] == {"temperature": 0.5, "maxTokens": 9, "stopSequences": ["x"]}
    assert claude.json["additionalModelRequestFields"] == {
        "top_k": 3,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    assert nova.json["additionalModelRequestFields"] == {"inferenceConfig": {"topK": 3}}
    with pytest.warns(UserWarning, match="'top_k'"):
        Bedrock(model=LLAMA.model, params=params).request([UserTurn("Hi")])


def test_structured_output_by_a_schema():
    text_format = CLAUDE.request([UserTurn("Which?")], type=BOOK).json["outputConfig"]["textFormat"]

    assert text_format["type"] == "json_schema"
    schema = json.loads(text_format["structure"]["jsonSchema"]["schema"])
    assert schema["required"] == ["title"]
    assert schema["additionalProperties"] is False


def test_structured_output_by_a_tool_that_must_be_called():
    name = NOVA.asking([UserTurn("Which?")], type=BOOK).json["toolConfig"]["toolChoice"]["tool"]["name"]
    body = NOVA.asking([UserTurn("Which?")], [DRAW], type=BOOK).json
    answer = {"toolUse": {"toolUseId": "t", "name": name, "input": {"title": "It"}}}
    turn = answer_of(NOVA.turn({"stopReason": "tool_use", "output": {"message": {"content": [answer]}}}))

    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == ["draw", name]
    assert body["toolConfig"]["toolChoice"] == {"any": {}}  # the other tools are still there to be called
    assert (turn.text, turn.tool_requests, turn.finish_reason) == ('{"title":"It"}', (), "success")
    thinking = Bedrock(model="anthropic.claude-opus-4-1-20250805-v1:0", params={"reasoning_tokens": 1024})
    assert "toolChoice" not in thinking.asking([UserTurn("Which?")], type=BOOK).json["toolConfig"]
    llama = LLAMA.asking([UserTurn("Which?")], type=BOOK).json
    assert "toolChoice" not in llama["toolConfig"]
    assert name in llama["messages"][-1]["content"][-1]["text"]


def test_the_url_escapes_the_model():
    arn = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.meta.llama4-v1:0"
    request = Bedrock(model=arn).request([UserTurn("Hi")], stream=True)

    assert request.url.endswith(
        "/model/arn%3Aaws%3Abedrock%3Aus-west-2%3A123456789012%3Ainference-profile%2Fus.meta.llama4-v1%3A0/converse-stream"
    )
    assert request.framing == "aws_event_stream"
    assert Bedrock(model=arn).family.name == "meta"
