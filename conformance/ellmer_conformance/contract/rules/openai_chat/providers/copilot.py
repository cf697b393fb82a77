"""GitHub Copilot: some models answer only at the Responses API, arguments are JSON, and an image part has an image."""

from __future__ import annotations

from ....observed.exchange import Request
from ....readers.openai_chat import all_parts
from ....rulebook import UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body, call, result
from ._elsewhere import arguments_are_json, elsewhere

copilot = elsewhere("copilot", without=["REQ-139"])

copilot.rule(
    "PAIR-021",
    MUST,
    REJECT,
    source="https://github.com/microsoft/vscode/issues/292387",
    refusal=refused("Invalid JSON format in tool call arguments", code="invalid_tool_call_format"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(
            ASK,
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": "{"}}]},
        )
    ],
)(arguments_are_json)


def _image_part_without_image(request: Request) -> str | None:
    """Finds a part that is declared as an image and has none."""
    parts = ((at, part) for at, part in all_parts(request.body) if part.get("type") == "image_url")
    return next((at for at, part in parts if not part.get("image_url")), None)


def _other_part(request: Request) -> str | None:
    """Finds a part that is neither text nor an image."""
    return next(
        (at for at, part in all_parts(request.body) if part.get("type") not in {"text", "image_url"}), None
    )


add_feature_rules(
    copilot,
    [
        UnsupportedFeature(
            "REQ-139",
            "The model is one that answers at Chat Completions, and not only at the Responses API.",
            ("gpt-5.[1-9]*-codex*", "gpt-5.4", "gpt-5.4-mini", "gpt-5.6-sol"),
            refused(
                'model "{model}" is not accessible via the /chat/completions endpoint',
                code="unsupported_api_for_model",
            ),
            (
                "https://github.com/egoist/chatwise-releases/issues/1273 (gpt-5.3-codex)",
                "https://github.com/caozhiyuan/copilot-api/issues/113 (gpt-5.4)",
                "https://github.com/proxysoul/Empryo/issues/46 (gpt-5.4-mini)",
                "https://github.com/anomalyco/opencode/issues/36305 (gpt-5.6-sol)",
            ),
            lambda request: "/model" if request.model else None,
            body(ASK, model="gpt-4.1"),
            body(ASK, model="gpt-5.3-codex"),
            fix="send this model's requests to the Responses API.",
        ),
        UnsupportedFeature(
            "REQ-056",
            "A content part is text or an image.",
            (),
            refused("type has to be either 'image_url' or 'text'", code="invalid_request_body"),
            (
                "https://github.com/decolua/9router/issues/219 (claude-sonnet-4.6)",
                "https://github.com/ericc-ch/copilot-api/issues/95",
            ),
            _other_part,
            body({"role": "user", "content": [IMAGE]}),
            body({"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}),
            fix="send the text of a file, and raise an error for other media.",
        ),
        UnsupportedFeature(
            "IMG-041",
            "A part of type `image_url` has an `image_url`.",
            (),
            refused("image_url is required for content type image_url", code="invalid_request_body"),
            "https://github.com/microsoft/vscode/issues/299766",
            _image_part_without_image,
            body({"role": "user", "content": [IMAGE]}),
            body({"role": "user", "content": [{"type": "image_url"}]}),
            fix='write `"image_url": {"url": …}`.',
        ),
    ],
)
