"""Streams of Gemini are merged."""

from traffic.folded_streams import GEMINI, folded

from ellmer_core.contents.content import ContentText, ContentThinking


def parts(*parts, finish=None, **rest):
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}],
        **rest,
    }


def test_gemini_joins_plain_text_and_keeps_signed_parts_apart():
    turn, _, shown = folded(
        GEMINI,
        parts({"text": "h", "thought": True}, modelVersion="g-3"),
        parts({"text": "m", "thought": True}, usageMetadata={"promptTokenCount": 5, "thoughtsTokenCount": 2}),
        parts({"text": "a"}),
        parts({"text": "b"}),
        parts({"text": "", "thoughtSignature": "S=="}),
        parts({"text": ""}, finish="STOP", usageMetadata={"candidatesTokenCount": 3}),
    )
    assert [type(c) for c in turn.contents] == [ContentThinking, ContentText, ContentThinking]
    assert (turn.contents[0].thinking, turn.text, turn.contents[2].thinking) == ("hm", "ab", "")
    assert (turn.tokens.input, turn.tokens.output, turn.tokens.reasoning) == (5, 5, 2)
    assert len(shown) == 4
    assert turn.json["modelVersion"] == "g-3"
    assert GEMINI.message(turn)[0]["parts"] == [{"text": "ab"}, {"text": "", "thoughtSignature": "S=="}]


def test_gemini_calls_keep_their_ids_and_signatures():
    first = {"functionCall": {"id": "abc", "name": "f", "args": {"x": 1}}, "thoughtSignature": "S=="}
    second = {"functionCall": {"name": "f", "args": {"x": 1}}}
    turn, *_ = folded(GEMINI, parts(first), parts(second), parts(second, finish="STOP"))
    assert turn.tool_requests[0].id == "abc"
    assert len({r.id for r in turn.tool_requests}) == 3
    assert turn.finish_reason == "tool_use"
    assert GEMINI.message(turn)[0]["parts"] == [first, second, second]


def test_gemini_calls_with_streamed_arguments_never_count_as_whole():
    turn, *_ = folded(
        GEMINI, parts({"functionCall": {"name": "f", "partialArgs": [], "willContinue": True}}, finish="STOP")
    )
    assert turn.tool_requests[0].problem


def test_gemini_keeps_what_it_does_not_know():
    odd = [
        {"executableCode": {"code": "1", "language": "PYTHON"}},
        {"codeExecutionResult": {"outcome": "OK"}, "thoughtSignature": "S"},
    ]
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBO"}, "thoughtSignature": "T"}
    turn, *_ = folded(GEMINI, parts(*odd), parts(picture, finish="STOP", groundingMetadata={}))
    assert GEMINI.message(turn)[0]["parts"] == [*odd, picture]
