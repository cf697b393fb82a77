"""Features that some models refuse, as recorded."""

from __future__ import annotations

from ...readers.json_access import object_of
from .._lacks import Lack, enter
from .._openai.refusals import refused
from ._rulebook import ASK, body, book

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/pydantic/pydantic-ai/blob/7f802e906e10d3dcc13fe0c019d0ad4d7370aab3/"
    "tests/profiles/cassettes/test_openai_reasoning_ground_truth/"
)

enter(
    book,
    [
        Lack(
            "REQ-046",
            "A mode of reasoning is given to a model that has one.",
            ("gpt-5.4*",),
            refused("`reasoning.mode` is not supported with this model.", param="reasoning.mode"),
            (
                "recorded refusal (gpt-5.4-mini)",
                f"{_TESTS}test_reasoning_flags_match_the_api%5Bgpt-5.4-mini%5D.yaml",
            ),
            lambda request: (
                "/reasoning/mode" if object_of(request.body.get("reasoning")).get("mode") else None
            ),
            body(ASK, model="gpt-5.4-mini", reasoning={"effort": "low"}),
            body(ASK, model="gpt-5.4-mini", reasoning={"mode": "pro"}),
        )
    ],
)
