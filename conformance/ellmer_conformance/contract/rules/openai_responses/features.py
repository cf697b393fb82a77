"""Features that some models refuse, as recorded or reported."""

from __future__ import annotations

from ...observed.exchange import Request
from ...readers.json_access import object_of
from ...readers.openai_responses import tools
from ...rulebook import UnsupportedFeature, add_feature_rules
from .._openai.refusals import TRUTH, refused
from ._refusals_and_examples import ASK, body, book


def _searches_in_haste(request: Request) -> str | None:
    """Finds a web search with the lowest effort."""
    searches = any(tool.get("type") == "web_search" for _, tool in tools(request.body))
    hasty = object_of(request.body.get("reasoning")).get("effort") == "minimal"
    return "/tools" if searches and hasty else None


add_feature_rules(
    book,
    [
        UnsupportedFeature(
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
            fix="raise the effort to `low`, or leave the search out.",
        ),
        UnsupportedFeature(
            "REQ-046",
            "A `reasoning.mode` other than `standard` is sent only to models that support it.",
            ("gpt-5.4*", "gpt-5.5*", "!*-pro*"),
            refused("`reasoning.mode` is not supported with this model.", param="reasoning.mode"),
            (
                "recorded refusal (gpt-5.4-mini)",
                f"{TRUTH}gpt-5.4-mini%5D.yaml",
                f"{TRUTH}gpt-5.5%5D.yaml",
            ),
            lambda request: (
                None
                if object_of(request.body.get("reasoning")).get("mode") in {None, "", "standard"}
                else "/reasoning/mode"
            ),
            body(ASK, model="gpt-5.4-mini", reasoning={"mode": "standard"}),
            body(ASK, model="gpt-5.4-mini", reasoning={"mode": "pro"}),
            fix="leave `reasoning.mode` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-047",
            "A Pro model has only the `reasoning.mode` `pro`.",
            ("gpt-5.4-pro*", "gpt-5.5-pro*"),
            refused("`reasoning.mode` is not supported with this model.", param="reasoning.mode"),
            ("recorded refusals (gpt-5.4-pro, gpt-5.5-pro)", f"{TRUTH}gpt-5.5-pro%5D.yaml"),
            lambda request: (
                None
                if object_of(request.body.get("reasoning")).get("mode") in {None, "", "pro"}
                else "/reasoning/mode"
            ),
            body(ASK, model="gpt-5.5-pro", reasoning={"mode": "pro"}),
            body(ASK, model="gpt-5.5-pro", reasoning={"mode": "standard"}),
            fix="leave `reasoning.mode` out for these models.",
        ),
    ],
)
