"""Features that some models refuse, as recorded or reported."""

from __future__ import annotations

from ...exchange import Request
from ...readers.json_access import object_of
from ...readers.openai_responses import tools
from ...rulebook import Lack, enter
from .._openai.refusals import refused
from ._rulebook import ASK, body, book

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/pydantic/pydantic-ai/blob/7f802e906e10d3dcc13fe0c019d0ad4d7370aab3/"
    "tests/profiles/cassettes/test_openai_reasoning_ground_truth/"
)


def _searches_in_haste(request: Request) -> str | None:
    """Finds a web search with the lowest effort."""
    searches = any(tool.get("type") == "web_search" for _, tool in tools(request.body))
    hasty = object_of(request.body.get("reasoning")).get("effort") == "minimal"
    return "/tools" if searches and hasty else None


enter(
    book,
    [
        Lack(
            "REQ-061",
            "GPT-5 does not support web search with the effort `minimal`.",
            ("gpt-5", "gpt-5-2025*", "gpt-5-mini*", "gpt-5-nano*"),
            refused(
                "The following tools cannot be used with reasoning.effort 'minimal': web_search.",
                param="tools",
            ),
            ("https://github.com/openai/codex/issues/3559 (gpt-5)",),
            _searches_in_haste,
            body(ASK, model="gpt-5", tools=[{"type": "web_search"}], reasoning={"effort": "low"}),
            body(ASK, model="gpt-5", tools=[{"type": "web_search"}], reasoning={"effort": "minimal"}),
        ),
        Lack(
            "REQ-046",
            "A `reasoning.mode` other than `standard` is sent only to models that support it.",
            ("gpt-5.4*", "!gpt-5.4-pro*"),  # gpt-5.4-pro is recorded as taking it
            refused("`reasoning.mode` is not supported with this model.", param="reasoning.mode"),
            (
                "recorded refusal (gpt-5.4-mini)",
                f"{_TESTS}test_reasoning_flags_match_the_api%5Bgpt-5.4-mini%5D.yaml",
            ),
            lambda request: (
                None
                if object_of(request.body.get("reasoning")).get("mode") in {None, "", "standard"}
                else "/reasoning/mode"
            ),
            body(ASK, model="gpt-5.4-mini", reasoning={"mode": "standard"}),
            body(ASK, model="gpt-5.4-mini", reasoning={"mode": "pro"}),
        ),
    ],
)
