"""Xiaomi's MiMo: error bodies with the status as a text, and media that its models do not accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....observed.exchange import Request
from ....readers.json_access import object_of, text_of
from ....readers.openai_chat import messages, parts
from ....rule import Refusal
from ....rulebook import UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, IMAGE, body
from ..features import a_part
from ._elsewhere import compact, elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "xiaomi/testdata/TestClient/Scoreboard/"
)
_PRO, _OMNI = "mimo-v2.5-pro", "mimo-v2.5"
_VIDEOS, _SOUNDS = "mp4/wmv/mov/avi", "mp3/flac/m4a/wav/ogg"
_WEBM = {"type": "video_url", "video_url": {"url": "data:video/webm;base64,GkXf"}}
_AAC = {"type": "input_audio", "input_audio": {"data": "//FgQA=="}}


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    fields = {
        "code": str(refusal.status),
        "message": refusal.message,
        "param": refusal.param or "",
        "type": "",
    }
    return compact({"error": fields})


def _format(kind: str, key: str, *wrong: str) -> Callable[[Request], str | None]:
    """Finds media whose data begin, or whose address ends, like a format that is not accepted."""

    def found(request: Request) -> str | None:
        for pointer, message in messages(request.body):
            for place, part in parts(message, pointer):
                value = text_of(object_of(part.get(kind)).get(key))
                if part.get("type") == kind and (value.startswith(wrong) or value.endswith(wrong)):
                    return place
        return None

    return found


xiaomi = elsewhere("xiaomi", error_body=_numbered)

add_feature_rules(
    xiaomi,
    [
        UnsupportedFeature(
            "REQ-050",
            "Images, audio and video are sent only to models that accept them.",
            ("mimo-v2.5-pro",),
            Refusal("No endpoints found that support image input", 404),
            (
                "recorded refusals (mimo-v2.5-pro)",
                f"{_TESTS}mimo-v2.5-pro/GenStreamMultiModal-Image-jpg-URL.yaml",
            ),
            a_part("image_url", "input_audio", "video_url"),
            body(ASK, model=_PRO),
            body({"role": "user", "content": [IMAGE]}, model=_PRO),
            fix="raise an error that names the model, or take one that accepts these media.",
        ),
        UnsupportedFeature(
            "REQ-051",
            "A video is an MP4, WMV, MOV or AVI.",
            ("mimo-v2.5",),
            Refusal("Param Incorrect", param=f"invalid video format, only {_VIDEOS} are supported"),
            (
                "recorded refusals (mimo-v2.5)",
                f"{_TESTS}mimo-v2.5/GenStreamMultiModal-Video-webm-Inline.yaml",
            ),
            _format("video_url", "url", "data:video/webm", ".webm"),
            body(ASK, model=_OMNI),
            body({"role": "user", "content": [_WEBM]}, model=_OMNI),
            fix="convert the video to MP4.",
        ),
        UnsupportedFeature(
            "REQ-052",
            "A sound is an MP3, FLAC, M4A, WAV or Ogg.",
            ("mimo-v2.5",),
            Refusal("Param Incorrect", param=f"invalid audio format, only {_SOUNDS} are supported"),
            ("recorded refusals (mimo-v2.5)", f"{_TESTS}mimo-v2.5/GenStreamMultiModal-Audio-aac-Inline.yaml"),
            _format("input_audio", "data", "data:audio/aac", "//F", "//k"),
            body(ASK, model=_OMNI),
            body({"role": "user", "content": [_AAC]}, model=_OMNI),
            fix="convert the sound to MP3 or WAV.",
        ),
    ],
)
