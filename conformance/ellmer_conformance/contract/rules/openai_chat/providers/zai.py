"""Z.ai: an error has a sentence and a number, and text models accept only text."""

from __future__ import annotations

from collections.abc import Mapping

from ....rule import Refusal
from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, IMAGE, body
from ..features import a_part
from ._elsewhere import compact, elsewhere


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns Z.ai's error body, where the number is a string."""
    return compact({"error": {"code": refusal.code, "message": refusal.message}})


def _refused(message: str) -> Refusal:
    return Refusal(message, code="1210")


zai = elsewhere("zai", error_body=_numbered)

_GLM = "glm-4.7"

add_feature_rules(
    zai,
    [
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("glm-4.5", "glm-4.5-air*", "glm-4.5-flash", "glm-4.6", "glm-4.7", "glm-4.7-flash*", "glm-5"),
            _refused("Invalid API parameter, please check the documentation."),
            (
                "https://github.com/anomalyco/opencode/issues/2944 (glm-4.6)",
                "https://github.com/dyad-sh/dyad/issues/1353 (glm-4.5)",
                "https://github.com/DayuanJiang/next-ai-draw-io/issues/656 (glm-4.7, at the Chinese host)",
                "https://github.com/TriDefender/zcode-api/pull/26 (glm-5)",
            ),
            a_part("image_url"),
            body(ASK, model=_GLM),
            body({"role": "user", "content": [IMAGE]}, model=_GLM),
            (_refused("messages.content.type 参数非法，取值范围 ['text']"),),
            fix=NO_IMAGES,
        )
    ],
)
