"""llama.cpp's server: known content parts, media that match their declared type, and what it asks of the assistant's messages."""

from __future__ import annotations

from ....observed.exchange import Request
from ....readers.json_access import decoded, object_of, parsed, text_of
from ....readers.openai_chat import all_parts, calls_of, messages
from ....rule import Refusal
from ....rulebook import UnsupportedFeature, add_feature_rules
from ..._openai.refusals import numbered_error_body, refused
from .._refusals_and_examples import ASK, IMAGE, body, result
from ..features import a_part
from ._chat_templates import add_template_rules
from ._elsewhere import elsewhere

#: Recorded by others, in public.
_ERRORS = (
    "https://github.com/0xPlaygrounds/rig/blob/b75850e899498647563af2d644ee72d28ac7a69e/"
    "tests/cassettes/llamacpp/error_matrix/"
)
_TESTS = (
    "https://github.com/0xPlaygrounds/rig/blob/b75850e899498647563af2d644ee72d28ac7a69e/tests/"
    "cassettes/llamacpp/multimodal_matrix/"
)


llamacpp = elsewhere("llamacpp", error_body=numbered_error_body)


def _unread(request: Request) -> str | None:
    """Finds an image whose data URL has no base64."""
    for pointer, part in all_parts(request.body):
        url = text_of(object_of(part.get("image_url")).get("url"))
        if url.startswith("data:") and decoded(url.partition(",")[2]) is None:
            return pointer
    return None


def _webp(request: Request) -> str | None:
    """Finds an image that is a WebP by its type or its address."""
    for pointer, part in all_parts(request.body):
        url = text_of(object_of(part.get("image_url")).get("url"))
        if url.startswith("data:image/webp") or url.endswith(".webp"):
            return pointer
    return None


def _unparsed(request: Request) -> str | None:
    """Finds arguments of an earlier call that are not JSON."""
    for pointer, message in messages(request.body):
        for index, tool_call in enumerate(calls_of(message)):
            arguments = object_of(tool_call.get("function")).get("arguments")
            if isinstance(parsed(arguments), str):
                return f"{pointer}/tool_calls/{index}/function/arguments"
    return None


def _wordless(request: Request) -> str | None:
    """Finds a message of the assistant that has neither the field `content` nor `tool_calls`."""
    for pointer, message in messages(request.body):
        if message.get("role") == "assistant" and not {"content", "tool_calls"} & message.keys():
            return pointer
    return None


def _twice_at_the_end(request: Request) -> str | None:
    """Finds the last of two messages of the assistant at the end."""
    last = [*messages(request.body)][-2:]
    twice = [message.get("role") for _, message in last] == ["assistant", "assistant"]
    return last[-1][0] if twice else None


def _said(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def _called(arguments: str) -> dict[str, object]:
    function = {"name": "add", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]}


def _part(type: str, url: str) -> dict[str, object]:
    return {"role": "user", "content": [{"type": type, type: {"url": url}}]}


add_feature_rules(
    llamacpp,
    [
        UnsupportedFeature(
            "REQ-056",
            "A content part is text, an image or audio.",
            (),
            refused("unsupported content[].type"),
            ("recorded refusal of `video_url` (Qwen3-VL-2B)", f"{_TESTS}video_part_is_refused.yaml"),
            a_part("video_url", "file"),
            body({"role": "user", "content": [IMAGE]}),
            body(_part("video_url", "https://example.com/a.mp4")),
            fix="send the text of a file, and raise an error for other media.",
        ),
        UnsupportedFeature(
            "IMG-006",
            "An image is not a WebP, which the server's decoder does not read.",
            (),
            refused("Failed to load image or audio file"),
            (
                "recorded refusals (Qwen3.5-2B, gemma-3-4b)",
                (
                    "https://github.com/maruel/genai/blob/f679767997e1342dc7cf516b1e1c938b9a76d082/providers/llamacpp/testdata/"
                    "TestClient/Scoreboard/unsloth/Qwen3.5-2B-GGUF/Qwen3.5-2B-Q4_K_M.gguf/GenSyncMultiModal-Image-webp-URL.yaml"
                ),
            ),
            _webp,
            body({"role": "user", "content": [IMAGE]}),
            body(_part("image_url", "https://example.com/a.webp")),
            fix="convert the image to PNG or JPEG.",
        ),
        UnsupportedFeature(
            "REQ-057",
            "The temperature is a number.",
            (),
            refused(
                "Field 'temperature': [json.exception.type_error.302] type must be number, but is string"
            ),
            ("recorded refusal (Qwen3-1.7B)", f"{_ERRORS}malformed_request_field.yaml"),
            lambda request: "/temperature" if isinstance(request.body.get("temperature"), str) else None,
            body(ASK, temperature=0),
            body(ASK, temperature="hot"),
            fix="leave `temperature` out if it is not set.",
        ),
        UnsupportedFeature(
            "EMP-002",
            "A message of the assistant has the field `content` or `tool_calls`. The content may be null.",
            (),
            refused("Assistant message must contain either 'content' or 'tool_calls'!"),
            "https://github.com/charmbracelet/crush/issues/3689",
            _wordless,
            body(ASK, {"role": "assistant", "content": None}, ASK),
            body(ASK, {"role": "assistant", "reasoning_content": "5"}, ASK),
            fix="send an empty text, or leave the message out.",
        ),
        UnsupportedFeature(
            "ORD-015",
            "At most one message of the assistant is at the end, which the model continues.",
            (),
            refused("Cannot have 2 or more assistant messages at the end of the list."),
            (
                "https://github.com/co-l/openfox/issues/367",
                "https://github.com/HKUDS/nanobot/issues/2376",
            ),
            _twice_at_the_end,
            body(ASK, _said("The sum is")),
            body(ASK, _said("The sum"), _said("is")),
            fix="join the assistant messages at the end.",
        ),
        UnsupportedFeature(
            "PAIR-021",
            "The arguments of a call are JSON, because the server parses them for its templates.",
            (),
            Refusal(
                "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error",
                500,
                "server_error",
            ),
            (
                "https://github.com/ggml-org/llama.cpp/issues/25510",
                "https://github.com/OpenHands/OpenHands/issues/13949",
            ),
            _unparsed,
            body(ASK, _called('{"x": 2}'), result("a")),
            body(ASK, _called("{"), result("a")),
            fix="send `{}` for a call without arguments, and repair or drop a call that was cut off.",
        ),
        UnsupportedFeature(
            "IMG-019",
            "The data of an image is base64.",
            (),
            refused("Failed to load image or audio file"),
            ("recorded refusal (Qwen3-VL-2B)", f"{_TESTS}malformed_data_uri.yaml"),
            _unread,
            body(ASK, {"role": "user", "content": [IMAGE]}),
            body(_part("image_url", "data:image/png;base64,!!!!not-base64!!!!")),
            fix="encode the bytes in the standard alphabet, with padding.",
        ),
    ],
)
add_template_rules(llamacpp, lambda said: Refusal(f"Jinja Exception: {said}", 500, "server_error"))
