"""Bedrock Converse: what each model family is sent, what its streams add up to, and how requests are signed."""

import json
from binascii import crc32
from datetime import UTC, datetime
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.tool_calls import ContentToolRequest, ContentToolResult, ToolDef
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation import retry
from ellmer_core.errors import BadRequestError, ContentError, ProviderError, RateLimitError, ServerError
from ellmer_core.providers.aws_bedrock import AWSBedrock, chat_aws_bedrock
from ellmer_core.schemas.type_values import TypeObject
from ellmer_core.schemas.types import TypeBasic
from ellmer_core.transport.aws_signature import AwsKeys, signed
from ellmer_core.wire.bedrock.request import Bedrock

CLAUDE = Bedrock(model="us.anthropic.claude-sonnet-4-5-20250929-v1:0")
NOVA = Bedrock(model="us.amazon.nova-2-lite-v1:0")
LLAMA = Bedrock(model="us.meta.llama4-maverick-17b-instruct-v1:0")
MISTRAL = Bedrock(model="mistral.mistral-large-2407-v1:0")
QWEN = Bedrock(model="qwen.qwen3-vl-235b-a22b-instruct-v1:0")
WRITER = Bedrock(model="writer.palmyra-x5-v1:0")

PNG = ContentImageInline("image/png", "iVBORw0=")
PDF = ContentPDF("application/pdf", "JVBERi0=", "Q3 report (final).pdf")
ONE, TWO = ContentToolRequest("call_1", "draw", {"n": 1}), ContentToolRequest("call_2", "look", {})
CALLED = AssistantTurn([ONE, TWO])
BOOK = TypeObject(properties={"title": TypeBasic()})


def result(value=None, request=ONE, error=None):
    return ContentToolResult(value, error=error, request=request)


def sent(wire, *turns):
    return wire.request([UserTurn("Go"), *turns]).json["messages"][1:]


def native(wire):
    return Bedrock(model=wire.model, tool_media="native")


def kinds(message):
    return [next(iter(block)) for block in message["content"]]


# Order ------------------------------------------------------------------------------------------------------

PARALLEL = UserTurn([ContentText("before"), result(PNG), result("sunny", TWO), ContentText("go on")])


@pytest.mark.parametrize("wire", [CLAUDE, NOVA, QWEN], ids=lambda wire: wire.family.name)
def test_all_results_come_first_in_the_one_user_message(wire):
    *_, message = sent(wire, CALLED, PARALLEL)

    assert kinds(message) == ["toolResult", "toolResult", "text", "text", "image", "text", "text"]
    assert message["content"][0]["toolResult"] == {
        "toolUseId": "call_1",
        "content": [{"text": "[see below]"}],
        "status": "success",
    }
    assert [block.get("text") for block in message["content"][2:]] == [
        "before",
        '<content tool-call-id="call_1">',
        None,
        "</content>",
        "go on",
    ]


@pytest.mark.parametrize("wire", [LLAMA, MISTRAL, WRITER], ids=lambda wire: wire.family.name)
def test_where_results_must_be_alone_the_rest_follows_an_assistant_message(wire):
    messages = sent(wire, CALLED, PARALLEL)

    assert [message["role"] for message in messages] == ["assistant", "user", "assistant", "user"]
    assert kinds(messages[1]) == ["toolResult", "toolResult"]
    assert messages[2]["content"] == [{"text": "."}]
    assert "toolResult" not in kinds(messages[3])


def test_neighbours_of_one_role_are_one_message():
    messages = sent(
        CLAUDE, CALLED, UserTurn([result("a"), result("b", TWO)]), UserTurn("and?"), UserTurn("well?")
    )

    assert kinds(messages[1]) == ["toolResult", "toolResult", "text", "text"]
    assert [m["role"] for m in sent(LLAMA, CALLED, UserTurn([result("a")]), UserTurn("and?"))] == [
        "assistant",
        "user",
        "assistant",
        "user",
    ]


def test_a_conversation_starts_with_the_user_where_it_has_to():
    turns = [AssistantTurn("Hello!"), UserTurn("Hi")]

    assert [m["role"] for m in CLAUDE.messages(turns)] == ["assistant", "user"]
    assert [m["role"] for m in NOVA.messages(turns)] == ["user", "assistant", "user"]


def test_blank_texts_and_empty_turns_are_left_out():
    turns = [
        SystemTurn(" "),
        UserTurn([ContentText("Hi"), ContentText("\n")]),
        AssistantTurn(" "),
    ]

    assert CLAUDE.request(turns).json == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


# Results ----------------------------------------------------------------------------------------------------


def test_an_error_is_said_and_flagged():
    [message] = CLAUDE.message(UserTurn([result(error="boom")]))

    assert message["content"][0]["toolResult"]["status"] == "error"
    assert message["content"][0]["toolResult"]["content"] == [{"text": "Tool calling failed with error boom"}]
    assert "status" not in WRITER.message(UserTurn([result("x")]))[0]["content"][0]["toolResult"]


@pytest.mark.parametrize(
    ("value", "json"), [({"t": 3}, {"t": 3}), ("warm", {"result": "warm"}), ([1], {"result": "[1]"})]
)
def test_mistral_gets_results_as_objects(value, json):
    [message] = MISTRAL.message(UserTurn([result(value)]))

    assert message["content"][0]["toolResult"]["content"] == [{"json": json}]


@pytest.mark.parametrize(
    ("wire", "inside"),
    [
        (CLAUDE, ["text", "image", "document"]),
        (LLAMA, ["text", "image", "document"]),
        (NOVA, ["text"]),
        (QWEN, ["text"]),
    ],
    ids=lambda value: getattr(getattr(value, "family", None), "name", ""),
)
def test_native_media_stay_in_a_result_where_the_family_takes_them(wire, inside):
    messages = native(wire).message(UserTurn([result(["A cat:", PNG, PDF]), result("b", TWO)]))

    assert [next(iter(part)) for part in messages[0]["content"][0]["toolResult"]["content"]] == inside
    assert kinds(messages[0])[:2] == ["toolResult", "toolResult"]
    hoisted = [kind for message in messages for kind in kinds(message) if kind in {"image", "document"}]
    assert hoisted == ([] if "image" in inside else ["image", "document"])


def test_nova_takes_images_in_results():
    [message] = native(NOVA).message(UserTurn([result(PNG)]))

    assert message["content"] == [
        {
            "toolResult": {
                "toolUseId": "call_1",
                "content": [{"image": {"format": "png", "source": {"bytes": "iVBORw0="}}}],
                "status": "success",
            }
        }
    ]


@pytest.mark.parametrize("id", ["functions.f:0", "a b", "x" * 65, "日本"])
def test_ids_of_others_are_made_legal_on_both_sides(id):
    call = ContentToolRequest(id, "f")
    asked, answer = CLAUDE.messages([AssistantTurn([call]), UserTurn([result("x", call)])])
    ours = asked["content"][0]["toolUse"]["toolUseId"]

    assert ours == answer["content"][0]["toolResult"]["toolUseId"]
    assert ours.isascii()
    assert ours.isalnum()


# Media ------------------------------------------------------------------------------------------------------


def test_a_document_needs_text_beside_it():
    assert CLAUDE.message(UserTurn([PDF]))[0]["content"] == [
        {"text": "."},
        {"document": {"name": "Q3 report (final)", "format": "pdf", "source": {"bytes": "JVBERi0="}}},
    ]
    assert kinds(CLAUDE.message(UserTurn([ContentText("Read"), PDF]))[0]) == ["text", "document"]


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("a_b.c.pdf", "a-b-c"),
        ("two  spaces.pdf", "two spaces"),
        ("../../etc/passwd", "passwd"),
        ("données [1].pdf", "donn-es [1]"),
        ("", "document"),
        ("x" * 300 + ".pdf", "x" * 190),
    ],
)
def test_names_of_documents_are_legal(filename, name):
    [message] = CLAUDE.message(UserTurn([ContentPDF("application/pdf", "AA", filename)]))

    assert message["content"][1]["document"]["name"] == name


def test_names_of_documents_are_distinct_and_stay_as_the_history_grows():
    turns = [UserTurn([ContentText("a"), PDF, PDF])]
    longer = [*turns, AssistantTurn("b"), UserTurn([ContentText("c"), PDF])]

    assert CLAUDE.messages(longer)[0] == CLAUDE.messages(turns)[0]
    names = [b["document"]["name"] for m in CLAUDE.messages(longer) for b in m["content"] if "document" in b]
    assert names == ["Q3 report (final)", "Q3 report (final) (2)", "Q3 report (final) (3)"]


def test_files_come_from_s3_and_never_from_the_web():
    photo = ContentImageRemote("s3://bucket/photo.jpg")
    sheet = ContentUploaded("s3://bucket/a.csv", "text/csv", "bedrock")
    picture = ContentUploaded("s3://bucket/a", "image/webp", "bedrock")

    assert CLAUDE.content(photo) == {
        "image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://bucket/photo.jpg"}}}
    }
    assert CLAUDE.content(sheet)["document"]["format"] == "csv"
    assert CLAUDE.content(picture)["image"]["format"] == "webp"
    with pytest.raises(ContentError, match=r"fetches no URL.*https://x/y\.png"):
        CLAUDE.content(ContentImageRemote("https://x/y.png"))
    with pytest.raises(ContentError, match="image/tiff is not one of"):
        CLAUDE.content(ContentImageInline("image/tiff", "AA"))
    with pytest.raises(ContentError):
        CLAUDE.content(ContentUploaded("file_1", "application/pdf", "anthropic"))


def test_the_models_own_media_are_named():
    turn = AssistantTurn([PNG, PDF, ContentJson({"a": 1})])

    assert CLAUDE.message(turn)[0]["content"] == [
        {"text": "[inline image]"},
        {"text": "[PDF document]"},
        {"text": '{"a":1}'},
    ]


# Tools, parameters, structured output -----------------------------------------------------------------------

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
    name = NOVA.request([UserTurn("Which?")], type=BOOK).json["toolConfig"]["toolChoice"]["tool"]["name"]
    body = NOVA.request([UserTurn("Which?")], [DRAW], type=BOOK).json
    answer = {"toolUse": {"toolUseId": "t", "name": name, "input": {"title": "It"}}}
    turn = NOVA.turn({"stopReason": "tool_use", "output": {"message": {"content": [answer]}}})

    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == ["draw", name]
    assert body["toolConfig"]["toolChoice"] == {"any": {}}  # the other tools are still there to be called
    assert (turn.text, turn.tool_requests, turn.finish_reason) == ('{"title":"It"}', (), "success")
    thinking = Bedrock(model="anthropic.claude-opus-4-1-20250805-v1:0", params={"reasoning_tokens": 1024})
    assert "toolChoice" not in thinking.request([UserTurn("Which?")], type=BOOK).json["toolConfig"]
    llama = LLAMA.request([UserTurn("Which?")], type=BOOK).json
    assert "toolChoice" not in llama["toolConfig"]
    assert name in llama["system"][0]["text"]


def test_the_url_escapes_the_model():
    arn = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.meta.llama4-v1:0"
    request = Bedrock(model=arn).request([UserTurn("Hi")], stream=True)

    assert request.url.endswith(
        "/model/arn%3Aaws%3Abedrock%3Aus-west-2%3A123456789012%3Ainference-profile%2Fus.meta.llama4-v1%3A0/converse-stream"
    )
    assert request.framing == "aws"
    assert Bedrock(model=arn).family.name == "meta"


# Answers ----------------------------------------------------------------------------------------------------


def answer(*blocks, stop="end_turn", **rest):
    message = {"role": "assistant", "content": list(blocks)}
    return {"output": {"message": message}, "stopReason": stop, **rest}


THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig"}}}
REDACTED = {"reasoningContent": {"redactedContent": "QUJD"}}
CITED = {"citationsContent": {"content": [{"text": '"It"'}], "citations": [{"title": "my-pdf"}]}}
SERVER_CALL = {
    "toolUse": {"toolUseId": "s", "name": "nova_grounding", "input": {"q": 1}, "type": "server_tool_use"}
}
SERVER_RESULT = {"toolResult": {"toolUseId": "s", "content": [{"json": {"a": 1}}], "type": "x_result"}}
CALL = {"toolUse": {"toolUseId": "t", "name": "draw", "input": {"n": 1}}}


def test_blocks_go_back_as_they_came():
    blocks = [THOUGHT, REDACTED, {"text": "It is "}, CITED, SERVER_CALL, SERVER_RESULT, CALL]
    turn = CLAUDE.turn(answer(*blocks, stop="tool_use"))

    assert turn.text == 'It is "It"'
    assert [type(c) for c in turn.contents[:2]] == [ContentThinking, ContentThinking]
    assert [(r.id, r.name, r.arguments) for r in turn.tool_requests] == [("t", "draw", {"n": 1})]
    assert CLAUDE.message(turn) == [{"role": "assistant", "content": blocks}]


def test_reasoning_stays_in_its_family_and_out_of_partial_turns():
    turn = CLAUDE.turn(answer(THOUGHT, {"text": "a"}))

    assert NOVA.message(turn) == [{"role": "assistant", "content": [{"text": "a"}]}]
    assert CLAUDE.message(AssistantPartialTurn(turn.contents)) == NOVA.message(turn)


def test_unknown_blocks_are_kept():
    turn = CLAUDE.turn(answer({"hologram": {"x": 1}}, {"text": "a"}))

    assert turn.contents[0] == ContentUnknown("bedrock", {"hologram": {"x": 1}})
    assert CLAUDE.message(turn)[0]["content"][0] == {"hologram": {"x": 1}}


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "success"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("model_context_window_exceeded", "context_window"),
        ("malformed_model_output", "error"),
        ("something_new", "something_new"),
    ],
)
def test_stop_reasons(stop, reason):
    assert CLAUDE.turn(answer({"text": "a"}, stop=stop)).finish_reason == reason


@pytest.mark.parametrize("stop", ["max_tokens", "malformed_tool_use", "model_context_window_exceeded"])
def test_a_call_that_may_be_cut_is_never_run(stop):
    turn = CLAUDE.turn(answer(CALL, dict(CALL), stop=stop))

    assert [bool(request.problem) for request in turn.tool_requests] == [True, True]
    assert len({request.id for request in turn.tool_requests}) == 2


def test_tokens_count_what_the_cache_read_and_took():
    usage = {"inputTokens": 3, "outputTokens": 4, "cacheReadInputTokens": 10, "cacheWriteInputTokens": 20}
    tokens = CLAUDE.turn(answer({"text": "a"}, usage=usage)).tokens

    assert (tokens.input, tokens.output, tokens.cached, tokens.cache_write) == (33, 4, 10, 20)


def test_a_200_that_is_no_answer_is_an_error():
    with pytest.raises(ProviderError, match="nothing here"):
        CLAUDE.turn({"message": "nothing here"})


# Streams ----------------------------------------------------------------------------------------------------


def folded(*events):
    merger, shown = CLAUDE.merger(), []
    for event in events:
        shown += merger.add(event)
    return merger, shown


def streamed(block, index, cut):
    """The events that stand for a block, its texts in pieces of `cut` characters."""

    def pieces(text):
        return [text[at : at + cut] for at in range(0, len(text), cut)] or [""]

    def delta(value):
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": value, "p": "abc"}}

    match block:
        case {"text": text}:
            yield from (delta({"text": piece}) for piece in pieces(text))
        case {"reasoningContent": {"redactedContent": data}}:
            yield delta({"reasoningContent": {"redactedContent": data}})
        case {"reasoningContent": {"reasoningText": thought}}:
            for name, text in thought.items():
                yield from (delta({"reasoningContent": {name: piece}}) for piece in pieces(text))
        case {"citationsContent": cited}:
            yield from (delta({"text": piece}) for piece in pieces(cited["content"][0]["text"]))
            yield from (delta({"citation": citation}) for citation in cited["citations"])
        case {"toolUse": call}:
            start = {"toolUse": {name: value for name, value in call.items() if name != "input"}}
            yield {"contentBlockStart": {"contentBlockIndex": index, "start": start, "p": "a"}}
            text = json.dumps(call["input"]) if call["input"] else ""
            yield from (delta({"toolUse": {"input": piece}}) for piece in pieces(text))
        case {"toolResult": result}:
            start = {"toolResult": {name: value for name, value in result.items() if name != "content"}}
            yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
            yield from (delta({"toolResult": [part]}) for part in result["content"])
    yield {"contentBlockStop": {"contentBlockIndex": index, "p": ""}}


texts = st.text(min_size=1)
blocks = st.one_of(
    texts.map(lambda text: {"text": text}),
    st.builds(
        lambda text, signature: {
            "reasoningContent": {"reasoningText": {"text": text, "signature": signature}}
        },
        st.text(),
        texts,
    ),
    st.builds(
        lambda id, given: {"toolUse": {"toolUseId": id, "name": "f", "input": given}},
        texts,
        st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.booleans())),
    ),
    st.sampled_from([REDACTED, CITED, SERVER_CALL, SERVER_RESULT]),
)


@given(blocks=st.lists(blocks, max_size=6), cut=st.integers(1, 9), usage=st.booleans())
def test_a_stream_adds_up_to_the_unstreamed_answer(blocks, cut, usage):
    whole = answer(
        *blocks, stop="end_turn", **({"usage": {"inputTokens": 1, "outputTokens": 2}} if usage else {})
    )
    events = [event for index, block in enumerate(blocks) for event in streamed(block, index, cut)]
    last = [{"metadata": {"usage": whole["usage"], "p": "ab"}}] if usage else []
    merger, shown = folded(
        {"messageStart": {"role": "assistant", "p": "abc"}},
        *events,
        {"contentBlockFuture": {"x": 1}},
        {"messageStop": {"stopReason": "end_turn", "p": ""}},
        *last,
    )

    assert merger.complete
    assert merger.done is usage
    assert merger.response() == whole
    turn = CLAUDE.turn(merger.response())
    assert "".join(c.text for c in shown if isinstance(c, ContentText)) == turn.text
    thoughts = [c.thinking for c in turn.contents if isinstance(c, ContentThinking)]
    assert "".join(c.thinking for c in shown if isinstance(c, ContentThinking)) == "".join(thoughts)


@pytest.mark.parametrize(
    ("fragments", "wanted"),
    [
        ([{"text": "a", "later": {"x": 1}}, {"text": "b"}], ContentText("ab")),
        ([{"text": "a"}, {"later": {"x": 1}}, {"text": "b"}, {"later": {"y": 2}}], ContentText("ab")),
        ([{"later": {"x": 1}}, {"later": {"y": 2}}], ContentUnknown("bedrock", {"later": {"x": 1, "y": 2}})),
        ([{"later": "a"}, {"later": "b"}], ContentUnknown("bedrock", {"later": "ab"})),
    ],
)
def test_fragments_of_a_kind_to_come_lose_no_text(fragments, wanted):
    merger = CLAUDE.merger()
    for each in fragments:
        merger.add({"contentBlockDelta": {"contentBlockIndex": 0, "delta": each}})
    merger.add({"messageStop": {"stopReason": "end_turn"}})
    assert CLAUDE.turn(merger.response()).contents == (wanted,)


def test_a_call_cut_in_its_arguments_has_a_problem_and_no_arguments():
    merger, _ = folded(*list(streamed(CALL, 0, 3))[:-2], {"messageStop": {"stopReason": "tool_use"}})
    [request] = CLAUDE.turn(merger.response()).tool_requests

    assert "not JSON" in request.problem
    assert request.arguments == {}


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("throttlingException", RateLimitError, 429),
        ("validationException", BadRequestError, 400),
        ("modelStreamErrorException", ServerError, 424),
        ("internalServerException", ServerError, 500),
        ("serviceUnavailableException", ServerError, 503),
        ("inventedException", ServerError, None),
    ],
)
def test_an_exception_in_a_stream_is_typed(name, kind, status):
    with pytest.raises(ProviderError, match="slow down") as raised:
        folded({":exception": {"type": name, "message": "slow down"}})

    assert (type(raised.value), raised.value.status, raised.value.type) == (kind, status, name)


@pytest.mark.parametrize("body", [b'{"Message":"no"}', b'{"message":"no"}'])
def test_the_type_of_an_error_stands_in_a_header(body):
    headers = {"x-amzn-ErrorType": "AccessDeniedException:http://internal", "x-amzn-RequestId": "r1"}
    error = CLAUDE.error(403, headers, body)

    assert (error.code, error.request_id, error.message) == ("AccessDeniedException", "r1", "no")


# Over the network -------------------------------------------------------------------------------------------

KEYS = AwsKeys("AKIDEXAMPLE", "secret", "token")


def frame(kind, value):
    """One event, written from the specification."""
    pairs = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    head = b"".join(
        bytes([len(k)]) + k.encode() + b"\x07" + pack(">H", len(v)) + v.encode() for k, v in pairs.items()
    )
    payload = json.dumps(value).encode()
    prelude = pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + pack(">I", crc32(prelude)) + head + payload
    return body + pack(">I", crc32(body))


def test_a_signed_stream(server, reply):
    said = [
        frame("messageStart", {"role": "assistant"}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "héllo"}}),
        frame("messageStop", {"stopReason": "end_turn"}),
        frame("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2}}),
    ]
    body = b"".join(said)
    aws = {"content-type": "application/vnd.amazon.eventstream"}
    server.answers(reply([body[:37], body[37:200], body[200:]], headers=aws))
    chat = chat_aws_bedrock(
        model="amazon.nova-micro-v1:0", region="eu-west-1", base_url=server.url, credentials=lambda: KEYS
    )

    assert "".join(chat.stream("Hi")) == "héllo"
    [asked] = server.asked
    assert asked.path == "/model/amazon.nova-micro-v1%3A0/converse-stream"
    assert asked.headers["x-amz-security-token"] == "token"
    at = timestamp(asked.headers["x-amz-date"])
    expected = signed(
        f"{server.url}{asked.path}", asked.body, at, keys=KEYS, region="eu-west-1", service="bedrock"
    )
    assert asked.headers["authorization"] == expected["authorization"]


def timestamp(date):
    return datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()


def test_each_try_is_signed_anew(server, reply, monkeypatch):
    monkeypatch.setattr(retry, "FIRST", 0.001)
    busy = reply([b'{"message":"Too many requests"}'], status=503)
    done = reply([json.dumps(answer({"text": "ok"})).encode()])
    current = [AwsKeys("first", "s")]

    def change(_):
        current[0] = AwsKeys("second", "s")

    server.answers(reply([change, *busy.chunks], status=503), done)
    chat = chat_aws_bedrock(
        model="m", region="us-east-1", base_url=server.url, credentials=lambda: current[0]
    )

    assert chat.chat("Hi", echo="none") == "ok"
    assert ["first" in a.headers["authorization"] for a in server.asked] == [True, False]


def test_an_api_key_goes_along_as_it_is(monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    request = chat_aws_bedrock(model="m").wire.request([UserTurn("Hi")])

    assert request.url == "https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse"
    assert request.headers == {"authorization": "Bearer bedrock-key"}
    assert request.sign is None


def test_keys_from_variables(monkeypatch):
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    request = chat_aws_bedrock(model="m", region="us-east-1").wire.request([UserTurn("Hi")])

    assert "Credential=AKID/" in request.sign(b"{}", 0.0)["authorization"]
    assert "hush" not in repr(request)
    assert not request.headers


def test_a_wire_without_credentials_sends_none():
    request = AWSBedrock(model="m").request([UserTurn("Hi")])

    assert (request.headers, request.sign) == ({}, None)
